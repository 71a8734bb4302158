/* Requests and responses of Put Block, Put Block List and Get Block List. */
#include "base/encode.h"
#include "blob/rest/request.h"
#include "service/xml_body.h"
#include "source/open_source.h"

#include <stdlib.h>

/* ---- Put Block and Put Block From URL. rest: Put-Block, Put-Block-From-URL ---- */

#define PUT_BLOCK_MAX (UINT64_C(4000) << 20)

/* Maximum block sizes by version; the operation table has the first. semantics 10.1 */
static const struct size_limit limits[] = {
    { "2019-12-12", PUT_BLOCK_MAX },
    { "2016-05-31", UINT64_C(100) << 20 },
    { "", UINT64_C(4) << 20 },
};

/* Returns the length of a decoded block id, which must be 1..BLOCK_ID_MAX; 0 if the text is not
 * base64. rest: Put-Block "blockid" */
static size_t block_id_length(struct arena *arena, struct bytes id)
{
    struct arena_mark mark = arena_mark(arena);
    struct bytes decoded = base64_decode(arena, id);

    arena_rewind(arena, mark);
    return decoded.ptr ? decoded.len : 0;
}

static enum error parse_id(struct call *call, struct put_block_parameters *p)
{
    struct bytes id = call_query(call, "blockid");
    size_t length;

    if (id.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "blockid", id, NULL);
    length = block_id_length(call->arena, id);
    if (length == 0)
        return call_fail_query(call, E_InvalidQueryParameterValue, "blockid", id,
                               "Not a valid base64 string.");
    if (length > BLOCK_ID_MAX)
        return call_fail_query(call, E_OutOfRangeInput, "blockid", id,
                               "At most 64 bytes before base64.");
    p->id = id;
    p->id_length = (uint32_t)length;
    return OK;
}

enum error put_block_check(struct call *call, struct put_block_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_BLOCK, KEY_WRITES);

    if (e)
        return e;
    e = parse_id(call, p);
    if (e)
        return e;
    e = body_check_size(call, limits, call->content_length);
    if (e)
        return e;
    e = body_read_sums(call, SUMS_OF_PART, &p->sums);
    if (e)
        return e;
    if (call->inline_max > BLOCK_INLINE_MAX)
        call->inline_max = BLOCK_INLINE_MAX;
    return OK;
}

enum error put_block_parse(struct call *call, struct put_block_parameters *p)
{
    (void)p;
    return body_check_block(call, limits);
}

void put_block_answer(struct answer *a, const struct put_block_parameters *p,
                      const struct put_block_result *r)
{
    (void)r;
    blob_answer_written(a, &p->sums);
}

/* ---- Put Block From URL ---- */

enum error put_block_from_url_check(struct call *call, struct put_block_parameters *p)
{
    const struct blob_key *source_key;
    enum error e = blob_read_source_key(call, REQUEST_COPY, &source_key);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    if (!e)
        e = parse_id(call, p);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    if (e)
        return e;
    p->source->key = source_key;
    p->sums = source_sums(call, p->source, SOURCE_SUM_SENT);
    if (call->inline_max > BLOCK_INLINE_MAX)
        call->inline_max = BLOCK_INLINE_MAX;
    return OK;
}

enum error put_block_from_url_gather(struct gathering *g, struct put_block_parameters *p)
{
    return source_gather_block(g, p->source, limits, PUT_BLOCK_MAX);
}

/* ---- Put Block List ---- */

static enum error parse_entry(struct call *call, const struct xml_node *node,
                              struct block_choice *ret_choice)
{
    static const char *const names[BLOCK_SOURCES] = { "Committed", "Uncommitted", "Latest" };
    struct bytes id = bytes_trim(node->text);
    size_t length;

    for (enum block_source source = 0; source < BLOCK_SOURCES; source++) {
        if (!bytes_is(node->name, names[source]))
            continue;
        if (node->first_child)
            return xml_fail(call, node, "A block's element must contain only its id.");
        length = block_id_length(call->arena, id);
        if (length == 0 || length > BLOCK_ID_MAX)
            return E_InvalidBlockId;
        *ret_choice = (struct block_choice){ .source = source, .id = id };
        return OK;
    }
    return xml_fail(call, node,
                    "A block list must contain only Committed, Uncommitted and Latest.");
}

static int compare_choices(const void *left, const void *right)
{
    const struct block_choice *a = left, *b = right;

    return bytes_compare(a->id, b->id);
}

/* Checks that an id that is listed several times always has the same source. rest: Put-Block-List
 * "Remarks" */
static enum error check_sources(struct call *call, const struct block_choice *choices, size_t count)
{
    struct block_choice *sorted = arena_array(call->arena, count, sizeof *sorted);

    if (count > 0)
        memcpy(sorted, choices, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_choices);
    for (size_t i = 1; i < count; i++) {
        if (bytes_equal(sorted[i].id, sorted[i - 1].id) && sorted[i].source != sorted[i - 1].source)
            return E_InvalidBlockList;
    }
    return OK;
}

/* Content-Type and the like describe the list, not the blob. rest: Put-Block-List */
enum error put_block_list_check(struct call *call, struct put_block_list_parameters *p)
{
    return create_blob_check(call, STANDARD_IGNORED, SUMS_OF_LIST, &p->create);
}

/* Returns OK, E_InvalidXmlDocument, E_InvalidBlockId, E_InvalidBlockList, E_BlockListTooLong. */
enum error put_block_list_parse(struct call *call, struct put_block_list_parameters *p)
{
    const struct xml_node *root;
    struct block_choice *choices;
    size_t count = 0;
    enum error e = xml_body(call, "BlockList", &root);

    if (e)
        return e;
    for (const struct xml_node *node = root->first_child; node; node = node->next)
        count++;
    if (count > CONTENT_BLOCKS_MAX)
        return E_BlockListTooLong;
    choices = arena_array(call->arena, count, sizeof *choices);
    count = 0;
    for (const struct xml_node *node = root->first_child; node; node = node->next) {
        e = parse_entry(call, node, &choices[count++]);
        if (e)
            return e;
    }
    p->choices = choices;
    p->choice_count = count;
    return check_sources(call, choices, count);
}

void put_block_list_answer(struct answer *a, const struct put_block_list_parameters *p,
                           const struct put_block_list_result *r)
{
    blob_answer_version(a, r->version);
    blob_answer_written(a, &p->create.sums);
}

/* ---- Get Block List ---- */

/* rest: Get-Block-List */
enum error get_block_list_check(struct call *call, struct get_block_list_parameters *p)
{
    struct bytes type = call_query(call, "blocklisttype");
    bool all = bytes_is_nocase(type, "all");
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    if (e)
        return e;
    p->committed = all || type.len == 0 || bytes_is_nocase(type, "committed");
    p->uncommitted = all || bytes_is_nocase(type, "uncommitted");
    if (!p->committed && !p->uncommitted)
        return call_fail_query(call, E_InvalidQueryParameterValue, "blocklisttype", type,
                               "Must be committed, uncommitted or all.");
    /* Public access does not include uncommitted blocks. rest: Configure anonymous read access */
    call->input.demands.not_public = p->uncommitted;
    return OK;
}

static void blocks_xml(struct text *out, const char *name, const struct block_run *run)
{
    if (run->count == 0) {
        text_printf(out, "<%s />", name);
        return;
    }
    xml_open(out, name);
    for (size_t i = 0; i < run->count; i++) {
        xml_open(out, "Block");
        xml_element(out, "Name", run->blocks[i].block_id);
        xml_element_u64(out, "Size", run->blocks[i].length);
        xml_close(out, "Block");
    }
    xml_close(out, name);
}

void get_block_list_answer(struct answer *a, const struct get_block_list_parameters *p,
                           const struct get_block_list_result *r)
{
    struct text out;

    text_init(&out, a->arena, 1024);
    xml_begin(&out);
    xml_open(&out, "BlockList");
    if (p->committed)
        blocks_xml(&out, "CommittedBlocks", &r->committed);
    if (p->uncommitted)
        blocks_xml(&out, "UncommittedBlocks", &r->uncommitted);
    xml_close(&out, "BlockList");
    answer_xml(a, &out);
    if (r->is_committed) {
        answer_u64(a, "x-ms-blob-content-length", r->length);
    }
}
