/* Requests and responses of Get Blob Tags and Set Blob Tags. */
#include "blob/rest/request.h"
#include "blob/rest/tags_xml.h"
#include "service/operation.h"
#include "service/xml_body.h"
#include "blob/tag_operations.h"

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
