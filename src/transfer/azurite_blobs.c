/* Lists containers and blobs of an Azurite data directory as items: see azurite.h. */
#include "transfer/azurite.h"

#include "base/dates.h"
#include "base/encode.h"
#include "base/xml.h"
#include "transfer/listing.h"

/* ---- a blob ---- */

/* Reads {"0": 12, ..}, JSON's form of a Uint8Array, or {"type": "Buffer", "data": [12, ..]} of
 * earlier versions. */
static void read_md5(struct azurite *a, const struct json_member *md5, struct item *item)
{
    static const char *const data = "data";
    struct json_reader reader;
    struct json_member member;
    size_t count = 0;

    if (md5->kind != JSON_OBJECT || !json_object_pick(a->arena, md5->text, 2, &data, 1, &member))
        return;
    if (member.kind == JSON_LIST)
        json_list_init(&reader, a->arena, member.text, 0);
    else
        json_object_init(&reader, a->arena, md5->text, 0);
    while (json_next(&reader, &member) && count < ITEM_MD5_SIZE)
        item->md5[count++] = (uint8_t)azurite_number(&member);
    item->has_md5 = count == ITEM_MD5_SIZE && !reader.bad;
    if (item->has_md5)
        item_header_string(a->arena, item, "x-ms-blob-content-md5",
                           base64_encode(a->arena, bytes_of(item->md5, ITEM_MD5_SIZE)));
}

static bool add_properties(struct azurite *a, struct item *item, struct bytes properties)
{
    enum { MD5, LENGTH, ETAG, TIER, INFERRED, SEALED, SEQUENCE, TYPE, TEXTS };
    static const char *const names[] = {
        "contentMD5",         "contentLength",      "etag",
        "accessTier",         "accessTierInferred", "isSealed",
        "blobSequenceNumber", "blobType",           "contentType",
        "contentEncoding",    "contentLanguage",    "cacheControl",
        "contentDisposition",
    };
    static const char *const headers[] = {
        "x-ms-blob-content-type",  "x-ms-blob-content-encoding",    "x-ms-blob-content-language",
        "x-ms-blob-cache-control", "x-ms-blob-content-disposition",
    };
    struct json_member of[sizeof names / sizeof names[0]];

    if (!azurite_pick(a, properties, names, sizeof names / sizeof names[0], of))
        return false;
    item_header_string(a->arena, item, "x-ms-blob-type", azurite_text(&of[TYPE]));
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (of[TEXTS + i].kind == JSON_STRING && of[TEXTS + i].text.len > 0)
            item_header_string(a->arena, item, headers[i], of[TEXTS + i].text);
    }
    if (bytes_is(of[TYPE].text, "BlockBlob") && of[INFERRED].kind != JSON_TRUE)
        item_header_string(a->arena, item, "x-ms-access-tier", azurite_text(&of[TIER]));
    if (bytes_is(of[TYPE].text, "PageBlob") && of[SEQUENCE].kind == JSON_NUMBER)
        item_header_string(a->arena, item, "x-ms-blob-sequence-number", of[SEQUENCE].text);
    read_md5(a, &of[MD5], item);
    item->size = azurite_number(&of[LENGTH]);
    item->version = azurite_text(&of[ETAG]);
    item->is_sealed = of[SEALED].kind == JSON_TRUE;
    return true;
}

static void add_tags(struct azurite *a, struct item *item, const struct json_member *tags)
{
    static const char *const set = "blobTagSet", *const names[] = { "key", "value" };
    struct json_reader reader;
    struct json_member list, member, of[2];
    struct text text;

    if (tags->kind != JSON_OBJECT || !azurite_pick(a, tags->text, &set, 1, &list) ||
        list.kind != JSON_LIST)
        return;
    text_init(&text, a->arena, 64);
    json_list_init(&reader, a->arena, list.text, 2);
    while (json_next(&reader, &member)) {
        if (member.kind != JSON_OBJECT || !azurite_pick(a, member.text, names, 2, of))
            continue;
        if (text.len > 0)
            text_add_char(&text, '&');
        text_add(&text, percent_encode(a->arena, azurite_text(&of[0]), ""));
        text_add_char(&text, '=');
        text_add(&text, percent_encode(a->arena, azurite_text(&of[1]), ""));
    }
    if (text.len > 0)
        item_header_string(a->arena, item, "x-ms-tags", text_bytes(&text));
}

/* ---- location of data ---- */

static bool add_pages(struct azurite *a, struct bytes list, struct text *parts)
{
    static const char *const names[] = { "start", "end", "persistency" };
    struct json_reader reader;
    struct json_member member, of[3];
    uint64_t count;

    json_list_init(&reader, a->arena, list, AZURITE_DEPTH);
    while (json_next(&reader, &member)) {
        if (member.kind != JSON_OBJECT || !azurite_pick(a, member.text, names, 3, of) ||
            !azurite_add_part(a, parts, azurite_number(&of[0]), &of[2], &count) ||
            count != azurite_number(&of[1]) - azurite_number(&of[0]) + 1)
            return false;
    }
    return !reader.bad;
}

static bool add_blocks(struct azurite *a, struct bytes list, struct text *parts, uint64_t *ret_size)
{
    static const char *const name = "persistency";
    struct json_reader reader;
    struct json_member member, of;
    uint64_t count;

    json_list_init(&reader, a->arena, list, AZURITE_DEPTH);
    while (json_next(&reader, &member)) {
        if (member.kind != JSON_OBJECT || !azurite_pick(a, member.text, &name, 1, &of) ||
            !azurite_add_part(a, parts, *ret_size, &of, &count))
            return false;
        *ret_size += count;
    }
    return !reader.bad;
}

static bool add_parts(struct azurite *a, struct item *item, const struct json_member *one,
                      const struct json_member *blocks, const struct json_member *pages)
{
    uint64_t size = 0;
    struct text parts;
    bool good = true;

    text_init(&parts, a->arena, sizeof(struct azurite_part));
    if (bytes_is(item_find_header(item, "x-ms-blob-type"), "PageBlob")) {
        good = pages->kind != JSON_LIST || add_pages(a, pages->text, &parts);
        size = item->size;
    } else if (blocks->kind == JSON_LIST) {
        good = add_blocks(a, blocks->text, &parts, &size);
    }
    if (good && size == 0 && one->kind == JSON_OBJECT)
        good = azurite_add_part(a, &parts, 0, one, &size);
    item->place = text_bytes(&parts);
    return (good && size == item->size) ||
           worker_problem(a->worker, "%.*s/%.*s: the location of its data is corrupt",
                          BYTES_ARG(item->parent), BYTES_ARG(item->name));
}

/* Returns NULL for a blob to be skipped (uncommitted or deleted), or after reporting a corrupt
 * one. */
static struct item *make_blob(struct azurite *a, const struct azurite_document *document)
{
    enum { PROPERTIES, METADATA, COMMITTED, DELETED, ONE, BLOCKS, PAGES, TAGS, MEMBERS };
    static const char *const names[MEMBERS] = {
        "properties",        "metadata",    "isCommitted",
        "deleted",           "persistency", "committedBlocksInOrder",
        "pageRangesInOrder", "blobTags",
    };
    struct json_member of[MEMBERS];
    struct item *item = arena_alloc(a->arena, sizeof *item);

    item->kind = ITEM_BLOB;
    item->parent = document->parent;
    item->name = document->name;
    if (document->state.len > 0) {
        item->state = document->state;
        (void)instant_parse_iso(document->state, &item->moment);
    }
    if (!azurite_pick(a, document->text, names, MEMBERS, of) || of[COMMITTED].kind == JSON_FALSE ||
        of[DELETED].kind == JSON_TRUE)
        return NULL;
    if (of[PROPERTIES].kind != JSON_OBJECT) {
        worker_problem(a->worker, "%.*s/%.*s: it has no properties", BYTES_ARG(item->parent),
                       BYTES_ARG(item->name));
        return NULL;
    }
    if (!add_properties(a, item, of[PROPERTIES].text))
        return NULL;
    azurite_add_metadata(a, item, &of[METADATA]);
    add_tags(a, item, &of[TAGS]);
    return add_parts(a, item, &of[ONE], &of[BLOCKS], &of[PAGES]) ? item : NULL;
}

/* Puts the documents of one name, from `i` on: they are sorted, the blob itself last. */
static bool put_group(struct azurite *a, const struct azurite_documents *blobs, size_t *i)
{
    const struct azurite_document *begin = &blobs->of[*i];
    struct arena_mark mark = arena_mark(a->arena);
    struct blob_states states = { .count = 0 };
    struct run *run = a->worker->run;
    struct item *first;
    bool goes_on = true;

    for (; *i < blobs->count && bytes_equal(blobs->of[*i].parent, begin->parent) &&
           bytes_equal(blobs->of[*i].name, begin->name);
         ++*i) {
        struct item *item = make_blob(a, &blobs->of[*i]);

        if (item && run_is_comparing(run))
            goes_on &= run_put(run, item) != PUT_STOPPED;
        else if (item)
            blob_states_add(&states, item);
    }
    first = blob_states_order(&states, a->arena);
    if (first)
        goes_on = run_put(run, first) != PUT_STOPPED;
    else
        run_leave_out(run, LEFT_OUT_DELETED, states.count);
    arena_rewind(a->arena, mark);
    return goes_on;
}

/* ---- containers ---- */

static bool put_container(struct azurite *a, const struct azurite_document *document)
{
    static const char *const names[] = { "metadata", "properties", "containerAcl" };
    static const char *const access = "publicAccess";
    struct item item = { .kind = ITEM_CONTAINER, .parent = document->name };
    struct json_member of[3], member;

    if (!azurite_pick(a, document->text, names, 3, of))
        return false;
    azurite_add_metadata(a, &item, &of[0]);
    if (of[1].kind == JSON_OBJECT && azurite_pick(a, of[1].text, &access, 1, &member) &&
        member.kind == JSON_STRING && member.text.len > 0)
        item_header_string(a->arena, &item, "x-ms-blob-public-access", member.text);
    item.body = azurite_policies(a, &of[2]);
    return run_put(a->worker->run, &item) != PUT_STOPPED;
}

bool azurite_list_blobs(struct azurite *a)
{
    static const char *const container[3] = { NULL, "name", NULL };
    static const char *const blob[3] = { "containerName", "name", "snapshot" };
    struct azurite_documents containers, blobs;
    bool listed = azurite_collect(a, "$CONTAINERS_COLLECTION$", container, &containers) &&
                  azurite_collect(a, "$BLOBS_COLLECTION$", blob, &blobs);

    for (size_t i = 0; listed && i < containers.count; i++)
        listed = put_container(a, &containers.of[i]);
    for (size_t i = 0; listed && i < blobs.count;)
        listed = put_group(a, &blobs, &i);
    return listed;
}
