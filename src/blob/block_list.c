/* Put Block List: creates a block blob from staged or committed blocks in one atomic step.
 * Get Block List: lists staged and committed blocks. */
#include "blob/access_control.h"
#include "blob/blob_operations.h"
#include "blob/contents.h"
#include "blob/create_blob.h"
#include "blob/encryption.h"
#include "blob/uncommitted.h"
#include "blob/keep_blob.h"
#include "blob/snapshot_changes.h"
#include "blob/snapshot_marks.h"
#include "blob/tier.h"

#include <stdlib.h>

/* Longer lists are handled by a pool thread, because a worker serves other requests too. */
#define LONG_LIST  1000u

/* The maximum total number of pieces of the listed blocks, if the blob was copied: the pieces of a
 * block are written to the map each time the list names it. */
#define PIECES_MAX (64u << 10)

static bool is_too_long_for_worker(const struct decision *d, size_t blocks)
{
    return !d->access.may_block && blocks > LONG_LIST;
}

/* ---- existing blocks, by id ---- */

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

/* Reads the staged blocks; expired ones do not count. */
static enum store_result read_staged(struct decision *d, struct content_block **ret_blocks,
                                     size_t *ret_count)
{
    const struct blob_state *state = blob_state(d);
    enum store_result result;
    struct uncommitted total;

    *ret_blocks = NULL;
    *ret_count = 0;
    if (!state->found || state->blob.nothing_staged || !blob_ref_is_base(blob_asked(d)->ref))
        return STORE_OK;
    result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0 || blocks_expired(total.last_put, d->now))
        return result;
    if (is_too_long_for_worker(d, total.count))
        return STORE_WAIT;
    return uncommitted_list(d->before, d->arena, &total, ret_blocks, ret_count);
}

/* Returns true for data that the Data Lake endpoint appended, which a block list cannot contain.
 * The first byte of a position is zero, that of a base64 id is not. */
static bool are_at_positions(const struct content_block *blocks, size_t count)
{
    return count > 0 && blocks[0].block_id.ptr[0] == '\0';
}

static enum store_result read_committed(struct decision *d, struct content_block **ret_blocks,
                                        size_t *ret_count)
{
    const struct blob_state *state = blob_state(d);

    *ret_blocks = NULL;
    *ret_count = 0;
    if (!state->found || state->blob.uncommitted || state->blob.content.block_count == 0)
        return STORE_OK;
    if (is_too_long_for_worker(d, state->blob.content.block_count))
        return STORE_WAIT;
    return content_blocks(d->before, d->arena, &state->blob.content, ret_blocks, ret_count);
}

/* ---- Put Block List ---- */

/* Indexes the staged and committed blocks by id; the committed ones also separately, in order. */
static enum store_result index_both(struct decision *d, struct content_block **ret_blocks,
                                    struct block_index *ret_committed,
                                    struct block_index *ret_by_id, struct named_blocks *ret_staged)
{
    struct content_block *blocks;
    size_t count;
    enum store_result result;

    result = read_committed(d, ret_blocks, &count);
    if (result)
        return result;
    *ret_committed = index_blocks(d, *ret_blocks, count);
    result = read_staged(d, &blocks, &count);
    if (result)
        return result;
    *ret_by_id = index_blocks(d, blocks, count);
    *ret_staged = (struct named_blocks){ .staged = blocks, .staged_count = count };
    return STORE_OK;
}

/* Returns the block that an entry of the list names, or NULL. rest: Put-Block-List "Request
 * Body" */
static const struct content_block *choose(const struct block_choice *choice,
                                          const struct block_index *committed,
                                          const struct block_index *staged)
{
    const struct content_block *block = NULL;

    if (choice->source != BLOCK_COMMITTED)
        block = find_block(staged, choice->id);
    if (!block && choice->source != BLOCK_UNCOMMITTED)
        block = find_block(committed, choice->id);
    return block;
}

/* Reads the pieces of the chosen committed blocks; only blobs that were copied have pieces. */
static enum store_result read_pieces(struct decision *d, const struct content_block *const *chosen,
                                     size_t count, struct content_block *committed)
{
    const struct content *content = &blob_state(d)->blob.content;
    bool *wanted = arena_array(d->arena, content->block_count, sizeof *wanted);

    for (size_t i = 0; i < count; i++)
        if (chosen[i]->piece_count > 0)
            wanted[chosen[i] - committed] = true;
    return content_block_pieces(d->before, d->arena, content, committed, wanted);
}

/* Requires that all blocks have the key of the request, with which the blob will be read. A
 * committed block has that of the blob. */
static enum error check_keys(struct decision *d, const struct block_index *committed,
                             const struct content_block *const *chosen, size_t count)
{
    enum error e = OK;

    for (size_t i = 0; i < count && !e; i++)
        e = find_block(committed, chosen[i]->block_id) == chosen[i]
                ? encryption_check(d, &blob_state(d)->blob.encryption)
                : encryption_check_block(d, chosen[i]);
    return e;
}

/* Returns the blocks that the list names, in its order. */
static enum error choose_blocks(struct decision *d, const struct put_block_list_parameters *p,
                                struct named_blocks *ret_blocks)
{
    const struct content_block **chosen = arena_array(d->arena, p->choice_count, sizeof *chosen);
    struct content_block *named, *blocks = NULL;
    struct block_index committed, staged;
    enum store_result result = STORE_WAIT;
    size_t pieces = 0;
    enum error e;

    if (!is_too_long_for_worker(d, p->choice_count))
        result = index_both(d, &blocks, &committed, &staged, ret_blocks);
    if (result)
        return decision_fail_content(d, result);
    for (size_t i = 0; i < p->choice_count; i++) {
        chosen[i] = choose(&p->choices[i], &committed, &staged);
        if (!chosen[i])
            return E_InvalidBlockList;
        pieces += chosen[i]->piece_count;
        if (pieces > PIECES_MAX)
            return decision_fail(d, E_InvalidBlockList,
                                 "Blocks that were copied with a blob are named too often; upload "
                                 "them again.");
    }
    e = check_keys(d, &committed, chosen, p->choice_count);
    if (e)
        return e;
    if (pieces > 0)
        result = read_pieces(d, chosen, p->choice_count, blocks);
    if (result)
        return decision_fail_content(d, result);
    named = arena_array(d->arena, p->choice_count, sizeof *named);
    for (size_t i = 0; i < p->choice_count; i++)
        named[i] = *chosen[i];
    ret_blocks->named = named;
    ret_blocks->named_count = p->choice_count;
    return OK;
}

/* Replaces content, properties and metadata, and drops all staged blocks, listed or not.
 *
 * Returns InvalidBlobType, InvalidBlockList, BlobArchived.
 * rest: Put-Block-List; semantics 5 */
enum error put_block_list_decide(struct decision *d, const struct put_block_list_parameters *p,
                                 struct put_block_list_result *r)
{
    struct named_blocks blocks;
    struct blob blob;
    enum error e;

    if (d->subject.exists && blob_state(d)->blob.type != BLOB_BLOCK)
        return E_InvalidBlobType;
    e = choose_blocks(d, p, &blocks);
    if (e)
        return e;
    if (are_at_positions(blocks.staged, blocks.staged_count))
        return E_BlobOperationNotSupported;
    e = create_blob_begin(d, BLOB_BLOCK, &p->create, &blob);
    if (e)
        return e;
    blob.content = content_from_blocks(d->changes, blob.etag.v, blocks.named, blocks.named_count);
    e = create_blob_commit(d, &blob, &blocks, d->input->account);
    r->version = blob_version_id(&blob);
    return e;
}

/* ---- Get Block List ---- */

/* ETag, Last-Modified and length are those of the committed blob, if there is one.
 * rest: Get-Block-List */
enum error get_block_list_decide(struct decision *d, const struct get_block_list_parameters *p,
                                 struct get_block_list_result *r)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct content_block *blocks;
    enum store_result result;

    if (blob->type != BLOB_BLOCK)
        return E_InvalidBlobType;
    if (p->committed) {
        result = read_committed(d, &blocks, &r->committed.count);
        if (result)
            return decision_fail_content(d, result);
        r->committed.blocks = blocks;
    }
    if (p->uncommitted) {
        result = read_staged(d, &blocks, &r->uncommitted.count);
        if (result)
            return decision_fail_content(d, result);
        r->uncommitted.blocks = blocks;
        if (are_at_positions(blocks, r->uncommitted.count))
            r->uncommitted.count = 0;
    }
    d->renders_long = r->committed.count + r->uncommitted.count > LONG_LIST;
    r->is_committed = !blob->uncommitted;
    r->length = blob->content.length;
    return OK;
}

/* ---- Put Block: stages a block, invisible until Put Block List names it ---- */

/* Checks the limit of the number of blocks, which replacing a block does not increase. */
static enum error check_count(struct decision *d, const struct uncommitted *total, struct bytes id)
{
    struct content_block block;
    enum store_result result;

    if (total->count < UNCOMMITTED_BLOCKS_MAX)
        return OK;
    result = uncommitted_find(d->before, d->arena, total, id, &block);
    if (result == STORE_NOT_FOUND)
        return E_UncommittedBlockCountExceedsLimit;
    return result ? decision_fail_store(d, result) : OK;
}

enum error uncommitted_stage(struct decision *d, struct uncommitted *total, struct bytes id,
                             uint32_t id_length)
{
    struct encryption encryption;
    enum store_result result;
    enum error e = check_count(d, total, id);

    if (e)
        return e;
    total->id_length = id_length;
    if (total->count == 0) {
        total->set = total->last_put = d->now;
        expire_blocks_defer(d->changes, total);
    }
    encryption = encryption_of_request(d);
    result = uncommitted_put(d->before, d->changes, d->arena, total, d->now, id, &d->input->body,
                             encryption_name(d->arena, &encryption));
    return result ? decision_fail_content(d, result) : OK;
}

/* Creates the record of a new blob, which only listings with uncommitted blobs show, or records in
 * an existing one that it has staged blocks. A soft-deleted blob becomes a snapshot. rest: "Soft
 * delete for blobs", table of operations */
static enum error write_blob(struct decision *d, bool has_versions)
{
    const struct blob_state *state = blob_state(d);
    struct blob blob = {
        .type = BLOB_BLOCK, .uncommitted = true, .without_snapshots = true, .created = d->now
    };
    enum error e = OK;

    if (d->subject.exists && !state->blob.nothing_staged)
        return OK;
    if (state->is_kept) {
        blob = base_anchor(&state->blob, d->now, has_versions);
        e = keep_undeleted(d, &blob, true, d->input->account);
    }
    if (!e && !state->found)
        e = access_control_give(d, NULL, &blob);
    if (e)
        return e;
    if (state->found)
        blob = state->blob;
    if (!d->subject.exists)
        blob.modified = d->now;
    blob.nothing_staged = false;
    blob_change(d, stored_blob(d), &blob);
    return OK;
}

/* Determines whether there are previous versions but no current one. Also checks a soft-deleted
 * blob. */
static enum store_result find_versions(struct decision *d, bool *ret_found)
{
    const struct blob_state *state = blob_state(d);

    *ret_found = state->found && blob_has_versions_only(&state->blob);
    return state->is_kept && state->blob.newest_version > 0 ? versions_find(d, 0, ret_found)
                                                            : STORE_OK;
}

/* Requires that all ids of a blob's staged blocks have the same length.
 *
 * Returns InvalidBlobType, InvalidBlobOrBlock (another length), BlockCountExceedsLimit,
 * BlobArchived.
 * rest: Put-Block; semantics 5 */
enum error put_block_decide(struct decision *d, const struct put_block_parameters *p,
                            struct put_block_result *r)
{
    struct uncommitted total;
    bool has_versions;
    enum store_result result = find_versions(d, &has_versions);
    enum error e;

    (void)r;
    if (result)
        return decision_fail_content(d, result);
    if ((d->subject.exists || has_versions) && blob_state(d)->blob.type != BLOB_BLOCK)
        return E_InvalidBlobType;
    e = d->subject.exists ? blob_refuse_archived(&blob_state(d)->blob) : OK;
    if (e)
        return e;
    result = contents_read_staged(d, &total);
    if (result)
        return decision_fail_content(d, result);
    if (total.count > 0 && total.id_length == UNCOMMITTED_AT_POSITIONS)
        return E_BlobOperationNotSupported; /* rest: Blob-Service-Error-Codes */
    if (total.count > 0 && total.id_length != p->id_length)
        return E_InvalidBlobOrBlock;
    e = uncommitted_stage(d, &total, p->id, p->id_length);
    return e ? e : write_blob(d, has_versions);
}
