/* Put Block: stages one block of a block blob to be. Nobody sees it before a Put Block List names
 * it. */
#include "blob/blob_operations.h"
#include "blob/expire_blocks.h"
#include "blob/keep_blob.h"
#include "blob/snapshot_changes.h"
#include "blob/snapshot_scan.h"
#include "blob/tier.h"

/* What is staged so far. Blocks that expired count as none, and are deleted with this change. */
static enum store_result read_staged(struct decision *d, struct uncommitted *ret_total)
{
    const struct blob_state *state = blob_state(d);
    enum store_result result;

    if (!state->found || state->blob.nothing_staged) {
        *ret_total = (struct uncommitted){ .count = 0 };
        return STORE_OK;
    }
    result = uncommitted_read(d->before, d->arena, ret_total);
    if (result || ret_total->count == 0 || !blocks_expired(ret_total->last_put, d->now))
        return result;
    result = uncommitted_drop(d->before, d->changes, d->arena, ret_total, NULL, &d->leaves_more);
    *ret_total = (struct uncommitted){ .count = 0 };
    return result;
}

/* One more block is one too many, unless it replaces one. */
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

/* A blob that is not there yet gets a record that only a listing with its uncommitted blobs shows;
 * one that is there remembers that blocks are staged now. One that was soft-deleted is a snapshot from now on.
 * rest: "Soft delete for blobs", table of operations */
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
    if (e)
        return e;
    if (state->found)
        blob = state->blob;
    if (!d->subject.exists)
        blob.modified = d->now;
    blob.nothing_staged = false;
    blob_write(d->changes, d->arena, &blob);
    return OK;
}

/* Are there previous versions and no current one? Also below a blob that is soft-deleted. */
static enum store_result find_versions(struct decision *d, bool *ret_found)
{
    const struct blob_state *state = blob_state(d);

    *ret_found = state->found && blob_has_versions_only(&state->blob);
    return state->is_kept && state->blob.newest_version > 0 ? versions_find(d, 0, ret_found)
                                                            : STORE_OK;
}

/* All ids of the staged blocks of a blob have one length.
 *
 * returns  InvalidBlobType, InvalidBlobOrBlock (a length that differs), BlockCountExceedsLimit,
 *          BlobArchived
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
    result = read_staged(d, &total);
    if (result)
        return decision_fail_content(d, result);
    if (total.count > 0 && total.id_length != p->id_length)
        return E_InvalidBlobOrBlock;
    e = check_count(d, &total, p->id);
    if (e)
        return e;
    total.id_length = p->id_length;
    if (total.count == 0) {
        total.set = total.last_put = d->now;
        expire_blocks_defer(d->changes, &total);
    }
    result =
        uncommitted_put(d->before, d->changes, d->arena, &total, d->now, p->id, &d->input->body);
    if (result)
        return decision_fail_content(d, result);
    return write_blob(d, has_versions);
}
