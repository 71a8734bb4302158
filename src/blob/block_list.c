/* Put Block List: makes a block blob of blocks that are staged or committed, in one atomic step.
 * Get Block List: what is staged and what is committed. */
#include <stdlib.h>

#include "blob/create_blob.h"
#include "blob/xml_body.h"

/* ---- the list in the request's body ---- */

enum block_source { BLOCK_COMMITTED, BLOCK_UNCOMMITTED, BLOCK_LATEST, BLOCK_SOURCES };

struct entry {
    enum block_source source;
    struct bytes id; /* base64 */
};

struct block_list {
    struct entry *entries;
    size_t count;
};

static enum error parse_entry(struct decision *d, const struct xml_node *node,
                              struct entry *ret_entry)
{
    static const char *const names[BLOCK_SOURCES] = { "Committed", "Uncommitted", "Latest" };
    struct bytes id = bytes_trim(node->text);
    size_t length;

    for (enum block_source source = 0; source < BLOCK_SOURCES; source++) {
        if (!bytes_is(node->name, names[source]))
            continue;
        if (node->first_child)
            return fail_xml(d, "A block's element holds its id alone.");
        length = block_id_length(d->arena, id);
        if (length == 0 || length > BLOCK_ID_MAX)
            return E_InvalidBlockId;
        *ret_entry = (struct entry){ .source = source, .id = id };
        return OK;
    }
    return fail_xml(d, "A block list holds Committed, Uncommitted and Latest.");
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return bytes_compare(a->id, b->id);
}

/* An id may be named several times, but always from one source. rest: Put-Block-List "Remarks" */
static enum error check_sources(struct decision *d, const struct block_list *list)
{
    struct entry *sorted = arena_array(d->arena, list->count, sizeof *sorted);

    if (list->count > 0)
        memcpy(sorted, list->entries, list->count * sizeof *sorted);
    qsort(sorted, list->count, sizeof *sorted, compare_entries);
    for (size_t i = 1; i < list->count; i++) {
        if (bytes_equal(sorted[i].id, sorted[i - 1].id) && sorted[i].source != sorted[i - 1].source)
            return E_InvalidBlockList;
    }
    return OK;
}

static enum error parse_list(struct decision *d, struct block_list *ret_list)
{
    const struct xml_node *root;
    struct block_list list = { .count = 0 };
    enum error e;

    e = xml_body(d, "BlockList", &root);
    if (e)
        return e;
    for (const struct xml_node *node = root->first_child; node; node = node->next)
        list.count++;
    if (list.count > CONTENT_BLOCKS_MAX)
        return E_BlockListTooLong;
    list.entries = arena_array(d->arena, list.count, sizeof *list.entries);
    list.count = 0;
    for (const struct xml_node *node = root->first_child; node; node = node->next) {
        e = parse_entry(d, node, &list.entries[list.count++]);
        if (e)
            return e;
    }
    e = check_sources(d, &list);
    if (e)
        return e;
    *ret_list = list;
    return OK;
}

/* ---- the blocks there are, by their ids ---- */

struct block_index {
    const struct content_block **blocks; /* sorted by id */
    size_t count;
};

static int compare_blocks(const void *left, const void *right)
{
    const struct content_block *a = *(const struct content_block *const *)left;
    const struct content_block *b = *(const struct content_block *const *)right;

    return bytes_compare(a->block_id, b->block_id);
}

static int compare_to_id(const void *id, const void *element)
{
    const struct content_block *block = *(const struct content_block *const *)element;

    return bytes_compare(*(const struct bytes *)id, block->block_id);
}

static struct block_index index_blocks(struct decision *d, const struct content_block *blocks,
                                       size_t count)
{
    struct block_index index = { .count = count };

    index.blocks = arena_array(d->arena, count, sizeof(const struct content_block *));
    for (size_t i = 0; i < count; i++)
        index.blocks[i] = &blocks[i];
    qsort(index.blocks, count, sizeof(const struct content_block *), compare_blocks);
    return index;
}

static const struct content_block *find_block(const struct block_index *index, struct bytes id)
{
    const struct content_block **found;

    if (index->count == 0)
        return NULL;
    found = bsearch(&id, index->blocks, index->count, sizeof(const struct content_block *),
                    compare_to_id);
    return found ? *found : NULL;
}

/* Staged blocks; those that are over count as none. */
static enum store_result read_staged(struct decision *d, struct content_block **ret_blocks,
                                     size_t *ret_count)
{
    const struct blob_state *state = blob_state(d);
    struct uncommitted total;
    enum store_result result;

    *ret_blocks = NULL;
    *ret_count = 0;
    if (!state->found || state->blob.nothing_staged || d->call->snapshot != 0)
        return STORE_OK;
    result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0 || blocks_are_over(total.last_put, d->now))
        return result;
    return uncommitted_list(d->before, d->arena, ret_blocks, ret_count);
}

static enum store_result read_committed(struct decision *d, struct content_block **ret_blocks,
                                        size_t *ret_count)
{
    const struct blob_state *state = blob_state(d);

    *ret_blocks = NULL;
    *ret_count = 0;
    if (!state->found || state->blob.uncommitted || state->blob.content.block_count == 0)
        return STORE_OK;
    return content_blocks(d->before, d->arena, &state->blob.content, ret_blocks, ret_count);
}

/* ---- Put Block List ---- */

/* Both kinds of blocks of the blob, by id. */
static enum store_result index_both(struct decision *d, struct block_index *ret_committed,
                                    struct block_index *ret_staged)
{
    struct content_block *blocks;
    size_t count;
    enum store_result result;

    result = read_committed(d, &blocks, &count);
    if (result)
        return result;
    *ret_committed = index_blocks(d, blocks, count);
    result = read_staged(d, &blocks, &count);
    if (result)
        return result;
    *ret_staged = index_blocks(d, blocks, count);
    return STORE_OK;
}

/* The blocks that the list names, in its order. rest: Put-Block-List "Request Body" */
static enum error choose_blocks(struct decision *d, const struct block_list *list,
                                struct content_block **ret_blocks)
{
    struct content_block *chosen = arena_array(d->arena, list->count, sizeof *chosen);
    struct block_index committed, staged;
    enum store_result result;

    result = index_both(d, &committed, &staged);
    if (result)
        return blob_fail_content(d, result);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *entry = &list->entries[i];
        const struct content_block *block = NULL;

        if (entry->source != BLOCK_COMMITTED)
            block = find_block(&staged, entry->id);
        if (!block && entry->source != BLOCK_UNCOMMITTED)
            block = find_block(&committed, entry->id);
        if (!block)
            return E_InvalidBlockList;
        chosen[i] = *block;
    }
    *ret_blocks = chosen;
    return OK;
}

/* rest: Put-Block-List. Content-Type and the like are of the list, not of the blob. */
enum error check_put_block_list(struct decision *d)
{
    struct create_blob *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = create_blob_check(d, STANDARD_IGNORED, SUMS_OF_PART, given);
    if (e)
        return e;
    d->call->parameters = given;
    return OK;
}

/* Replaces content, properties and metadata; drops every staged block, named or not.
 *
 * returns  InvalidXmlDocument, InvalidBlockId, InvalidBlockList, BlockListTooLong, BlobArchived
 * rest: Put-Block-List; semantics 5 */
enum error put_block_list(struct decision *d)
{
    const struct create_blob *given = d->call->parameters;
    struct content_block *blocks = NULL;
    struct block_list list;
    struct blob blob;
    enum error e;

    e = parse_list(d, &list);
    if (e)
        return e;
    e = choose_blocks(d, &list, &blocks);
    if (e)
        return e;
    e = create_blob_begin(d, given, &blob);
    if (e)
        return e;
    blob.content = content_from_blocks(d->changes, blob.etag.v, blocks, list.count);
    return create_blob_commit(d, given, &blob);
}

/* ---- Get Block List ---- */

enum { LIST_COMMITTED = 1, LIST_UNCOMMITTED = 2 };

/* rest: Get-Block-List */
enum error check_get_block_list(struct decision *d)
{
    static const struct {
        const char *name;
        unsigned lists;
    } types[] = {
        { "committed", LIST_COMMITTED },
        { "uncommitted", LIST_UNCOMMITTED },
        { "all", LIST_COMMITTED | LIST_UNCOMMITTED },
    };
    struct bytes type = call_query(d->call, "blocklisttype");
    unsigned *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_READ);
    if (e)
        return e;
    *given = type.len == 0 ? LIST_COMMITTED : 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (bytes_is_nocase(type, types[i].name))
            *given = types[i].lists;
    }
    if (*given == 0)
        return fail_query(d, E_InvalidQueryParameterValue, "blocklisttype", type,
                          "Must be committed, uncommitted or all.");
    d->call->parameters = given;
    return OK;
}

static void blocks_xml(struct text *out, const char *name, const struct content_block *blocks,
                       size_t count)
{
    if (count == 0) {
        text_printf(out, "<%s />", name);
        return;
    }
    xml_open(out, name);
    for (size_t i = 0; i < count; i++) {
        xml_open(out, "Block");
        xml_element(out, "Name", blocks[i].block_id);
        xml_element_u64(out, "Size", blocks[i].length);
        xml_close(out, "Block");
    }
    xml_close(out, name);
}

static enum store_result block_list_xml(struct decision *d, unsigned lists, struct text *out)
{
    struct content_block *blocks;
    size_t count;
    enum store_result result;

    xml_begin(out);
    xml_open(out, "BlockList");
    if (lists & LIST_COMMITTED) {
        result = read_committed(d, &blocks, &count);
        if (result)
            return result;
        blocks_xml(out, "CommittedBlocks", blocks, count);
    }
    if (lists & LIST_UNCOMMITTED) {
        result = read_staged(d, &blocks, &count);
        if (result)
            return result;
        blocks_xml(out, "UncommittedBlocks", blocks, count);
    }
    xml_close(out, "BlockList");
    return STORE_OK;
}

/* ETag, Last-Modified and length are of the committed blob, if there is one.
 * rest: Get-Block-List */
enum error get_block_list(struct decision *d)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct text out;
    enum store_result result;

    text_init(&out, d->arena, 1024);
    result = block_list_xml(d, *(const unsigned *)d->call->parameters, &out);
    if (result)
        return blob_fail_content(d, result);

    answer_xml(d, 200, &out);
    if (!blob->uncommitted) {
        answer_etag(d, blob->etag, blob->modified);
        answer_u64(d, "x-ms-blob-content-length", blob->content.length);
    }
    return OK;
}
