/* Put Block: stages a block of a block blob. It is invisible until Put Block List names it. */
#include "blob/blob_operations.h"
#include "blob/expire_blocks.h"
#include "blob/keep_blob.h"
#include "blob/snapshot_changes.h"
#include "blob/snapshot_scan.h"
#include "blob/tier.h"

/* Reads the totals of the staged blocks. Expired blocks do not count, and are deleted with this
 * change. */
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

/* Creates the record of a new blob, which only listings with uncommitted blobs show, or notes in an
 * existing one that it has staged blocks. A soft-deleted blob becomes a snapshot. rest: "Soft
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

/* Finds out whether there are previous versions but no current one. Also looks at a soft-deleted
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
