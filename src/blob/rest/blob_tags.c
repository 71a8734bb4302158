/* See blob_tags.h. */
#include "blob/rest/blob_tags.h"

#include "blob/rest/request.h"
#include "blob/tag_operations.h"
#include "service/operation.h"
#include "service/xml_body.h"

/* ---- writing ---- */

static bool names(const struct tag_expression *where, struct bytes name)
{
    for (size_t i = 0; i < where->count; i++) {
        if (!where->comparisons[i].of_container && bytes_equal(where->comparisons[i].name, name))
            return true;
    }
    return false;
}

/* where: NULL for all tags */
static void add_tags(struct text *out, struct bytes encoded, const struct tag_expression *where)
{
    struct tags tags = { .count = 0 };

    tags_decode(encoded, &tags);
    if (tags.count == 0) {
        text_add_string(out, "<Tags><TagSet/></Tags>"); /* recorded */
        return;
    }
    tags_sort(&tags);
    text_add_string(out, "<Tags><TagSet>");
    for (size_t i = 0; i < tags.count; i++) {
        if (where && !names(where, tags.items[i].name))
            continue;
        xml_open(out, "Tag");
        xml_element(out, "Key", tags.items[i].name);
        xml_element(out, "Value", tags.items[i].value);
        xml_close(out, "Tag");
    }
    text_add_string(out, "</TagSet></Tags>");
}

void tags_xml(struct text *out, struct bytes tags)
{
    add_tags(out, tags, NULL);
}

void tags_xml_named(struct text *out, struct bytes tags, const struct tag_expression *where)
{
    add_tags(out, tags, where);
}

/* ---- parsing ---- */

static enum error read_tag(struct call *call, const struct xml_node *node, struct tags *tags)
{
    static const char *const parts[] = { "Key", "Value", NULL };
    const struct xml_node *name = xml_child(node, "Key"), *value = xml_child(node, "Value");
    enum error e;

    if (!bytes_is(node->name, "Tag"))
        return xml_fail(call, node, "A TagSet must contain only Tag elements.");
    e = xml_expect_children(call, node, parts);
    if (e)
        return e;
    if (!name || !value)
        return xml_fail(call, node, "A Tag must have a Key and a Value.");
    return tags_add(tags, name->text, value->text);
}

enum error tags_read(struct call *call, const struct xml_node *root, struct bytes *ret_tags)
{
    static const char *const parts[] = { "TagSet", NULL };
    const struct xml_node *set = xml_child(root, "TagSet");
    struct tags tags = { .count = 0 };
    enum error e = xml_expect_children(call, root, parts);

    if (!e && !set)
        e = xml_fail(call, root, "TagSet is missing.");
    if (e)
        return e;
    for (const struct xml_node *node = set->first_child; node && !e; node = node->next)
        e = read_tag(call, node, &tags);
    if (e)
        return e;
    *ret_tags = tags_encode(call->arena, &tags);
    return OK;
}

void tags_demand(struct call *call, enum action action)
{
    call->input.demands.letters = "t";
    call->input.demands.actions |= (unsigned)action;
    call->input.demands.not_public = true;
}

enum error tags_from_header(struct call *call, struct bytes *ret_tags)
{
    struct bytes text = call_header(call, "x-ms-tags");
    struct tags tags;
    enum error e = tags_from_query(call->arena, text, &tags);

    if (text.ptr)
        tags_demand(call, ACTION_BLOB_TAGS_WRITE);
    if (!e)
        *ret_tags = tags_encode(call->arena, &tags);
    return e;
}

/* rest: Put-Blob-From-URL "x-ms-copy-source-tag-option" */
enum error tags_of_copy(struct call *call, struct bytes *ret_tags, bool *ret_copies)
{
    static const char name[] = "x-ms-copy-source-tag-option";
    struct bytes option = call_header(call, name);

    *ret_copies = bytes_is_nocase(option, "COPY");
    if (option.ptr && !*ret_copies && !bytes_is_nocase(option, "REPLACE"))
        return call_fail_header(call, E_InvalidHeaderValue, name, option);
    if (*ret_copies && call_header(call, "x-ms-tags").ptr)
        return E_BothUserTagsAndSourceTagsCopyPresentException;
    if (*ret_copies)
        tags_demand(call, ACTION_BLOB_TAGS_WRITE);
    return tags_from_header(call, ret_tags);
}

/* ---- Get Blob Tags and Set Blob Tags ---- */

/* Reads the conditions on the blob itself, which have their own header names here: the plain ones
 * would apply to the tags. rest: Set-Blob-Tags "x-ms-blob-if-match" */
static enum error read_conditions(struct call *call)
{
    static const char *const names[] = { "x-ms-blob-if-match", "x-ms-blob-if-none-match",
                                         "x-ms-blob-if-modified-since",
                                         "x-ms-blob-if-unmodified-since" };
    struct conditions *given = &call->input.conditions;
    struct condition_headers headers = { .if_tags = call_header(call, "x-ms-if-tags") };
    struct bytes *const fields[] = { &headers.if_match, &headers.if_none_match,
                                     &headers.if_modified_since, &headers.if_unmodified_since };

    if (given->given & IF_HTTP4)
        return E_ConditionHeadersNotSupported;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        enum error e;

        *fields[i] = call_header(call, names[i]);
        e = conditions_parse(call->arena, &headers, given);
        if (!e && given->unreadable && call->operation->rights.effect == WRITES)
            e = E_InvalidHeaderValue;
        if (e)
            return call_fail_header(call, e, names[i], *fields[i]);
    }
    return OK;
}

/* ---- Get Blob Tags ---- */

enum error get_blob_tags_check(struct call *call, struct get_blob_tags_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    (void)p;
    return e ? e : read_conditions(call);
}

/* A line feed follows the XML declaration, as in the real service. rest: Get-Blob-Tags */
void get_blob_tags_answer(struct answer *a, const struct get_blob_tags_parameters *p,
                          const struct get_blob_tags_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 512);
    xml_begin(&out);
    text_add_char(&out, '\n');
    tags_xml(&out, r->tags);
    answer_xml(a, &out);
}

/* ---- Set Blob Tags ---- */

enum error set_blob_tags_check(struct call *call, struct set_blob_tags_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_TAGS);

    (void)p;
    return e ? e : read_conditions(call);
}

enum error set_blob_tags_parse(struct call *call, struct set_blob_tags_parameters *p)
{
    const struct xml_node *root;
    enum error e = xml_body(call, "Tags", &root);

    return e ? e : tags_read(call, root, &p->tags);
}

OPERATION_ANSWERS_NOTHING(set_blob_tags)
