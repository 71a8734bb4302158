/* Delete Blob: the base blob, its snapshots, or one snapshot.
 *
 * All snapshots go in one commit, so that nobody sees some of them gone, and that commit is of bounded size:
 * of many it writes a tombstone over those that it does not delete, and a task deletes them from the oldest on,
 * some in a commit (snapshot_tombstone.h). Until the task comes to it, a snapshot under the tombstone holds its
 * content, or its generation of a page blob, as any other does. decision: 249 */
#include "blob/delete_blob.h"

#include "blob/blob_operations.h"
#include "blob/contents.h"
#include "blob/snapshot_tombstone.h"
#include "blob/tag_index.h"
#include "blob/uncommitted.h"

/* Snapshots that one commit deletes: the delete itself, and each step of the task. */
#define SNAPSHOTS_AT_ONCE 16u

/* ---- snapshots ---- */

/* Is there a snapshot that is not deleted? ret_tombstone: read for it, unless the base knows. */
static enum store_result find_snapshot(struct decision *d, struct snapshot_tombstone *ret_tombstone,
                                       bool *ret_found)
{
    enum store_result result;
    struct record record;
    struct scan *scan;

    *ret_found = false;
    *ret_tombstone = (struct snapshot_tombstone){ .until = 0 };
    if (blob_state(d)->blob.without_snapshots)
        return STORE_OK;
    result = snapshot_tombstone_read(d->before, d->arena, ret_tombstone);
    if (result)
        return result;
    scan = blob_scan_snapshots(d->before, ret_tombstone->until + 1);
    result = scan_next(scan, NULL, &record);
    scan_close(scan);
    *ret_found = !result;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Deletes all snapshots, as far as anybody can see. ret_left: records of some are there for the task. */
static enum store_result delete_snapshots(struct decision *d, struct ended_contents *ended,
                                          bool *ret_left)
{
    struct snapshot_tombstone tombstone;
    bool found;
    enum store_result result = find_snapshot(d, &tombstone, &found);

    *ret_left = tombstone.until > 0;
    if (result || !found)
        return result;
    if (!*ret_left) {
        result =
            contents_end_snapshots(d, ended, 0, INSTANT_MAX, SNAPSHOTS_AT_ONCE, &tombstone.from);
        if (result || tombstone.from == 0)
            return result;
        changes_defer(d->changes, d->now, TASK_DELETE_SNAPSHOTS, bytes_of(NULL, 0));
        *ret_left = true;
    }
    tombstone.until = d->now; /* no snapshot is newer, and each later one will be */
    snapshot_tombstone_write(d->changes, d->arena, &tombstone);
    return STORE_OK;
}

/* The base is to know which generation of its content is the newest that is kept: not the one that goes with
 * the newest of the snapshots deleted. */
static enum store_result forget_generations(struct decision *d, const struct ended_contents *ended)
{
    const struct content *newest =
        ended->count > 0 ? &ended->items[ended->count - 1].content : NULL;
    enum store_result result;
    struct blob base;

    if (!newest || newest->form != CONTENT_SPARSE)
        return STORE_OK;
    result = blob_read(d->before, d->arena, blob_base, &base);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (base.content.id != newest->id || base.content.kept != newest->epoch + 1)
        return STORE_OK;
    base.content.kept = 0; /* what is older is gone too */
    blob_write(d->changes, d->arena, &base);
    return STORE_OK;
}

enum store_result delete_snapshots_task(struct decision *d, const struct deferred_task *task,
                                        const struct endpoint *endpoint)
{
    struct ended_contents ended = { .count = 0 };
    struct snapshot_tombstone tombstone;
    enum store_result result = snapshot_tombstone_read(d->before, d->arena, &tombstone);

    (void)task;
    (void)endpoint;
    if (result || tombstone.until == 0)
        return result;
    result = contents_end_snapshots(d, &ended, tombstone.from, tombstone.until, SNAPSHOTS_AT_ONCE,
                                    &tombstone.from);
    if (!result)
        result = contents_unref(d, &ended, NULL);
    if (!result && tombstone.from == 0) {
        tombstone.until = 0;
        result = forget_generations(d, &ended);
        decision_defer_collection(d); /* once, of what all steps have left */
    } else if (!result) {
        changes_defer(d->changes, d->now, TASK_DELETE_SNAPSHOTS, bytes_of(NULL, 0));
    }
    if (!result)
        snapshot_tombstone_write(d->changes, d->arena, &tombstone);
    return result;
}

/* ---- the base ---- */

static enum store_result delete_base(struct decision *d, struct ended_contents *ended)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct uncommitted total;
    enum store_result result;

    if (!blob->uncommitted)
        contents_end(d, ended, blob);
    blob_delete_record(d->changes, d->arena, blob_base);
    tag_index_update(d->changes, d->arena, blob->tags, bytes_of(NULL, 0));
    if (blob->nothing_staged)
        return STORE_OK;
    result = uncommitted_read(d->before, d->arena, &total);
    if (result || total.count == 0)
        return result;
    return uncommitted_drop(d->before, d->changes, d->arena, &total, NULL, &d->leaves_more);
}

static enum error refuse_if_snapshots(struct decision *d)
{
    struct snapshot_tombstone tombstone;
    bool found;
    enum store_result result = find_snapshot(d, &tombstone, &found);

    if (result)
        return decision_fail_store(d, result);
    return found ? E_SnapshotsPresent : OK;
}

/* Deletes the snapshot that was asked for. The base is read, since it may have to know. */
static enum store_result delete_one_snapshot(struct decision *d)
{
    const struct blob *snapshot = &blob_state(d)->blob;
    struct ended_contents ended = { .count = 0 };
    struct blob base;
    uint32_t kept;
    enum store_result result = blob_read(d->before, d->arena, blob_base, &base);

    if (result)
        return result;
    kept = base.content.kept;
    contents_end(d, &ended, snapshot);
    blob_delete_record(d->changes, d->arena, snapshot->ref);
    result = contents_unref(d, &ended, &base.content);
    if (!result && base.content.id != snapshot->content.id)
        result = contents_cut_tail(d, &snapshot->content, snapshot->ref.at);
    if (!result && base.content.kept != kept)
        blob_write(d->changes, d->arena, &base);
    return result;
}

static enum store_result delete_several(struct decision *d, enum delete_snapshots snapshots)
{
    struct ended_contents ended = { .count = 0 };
    struct blob base = blob_state(d)->blob;
    enum store_result result = STORE_OK;
    bool left = false;

    if (snapshots != SNAPSHOTS_REFUSED)
        result = delete_snapshots(d, &ended, &left);
    if (!result && snapshots != SNAPSHOTS_ONLY)
        result = delete_base(d, &ended);
    if (!result)
        result = contents_unref(d, &ended, NULL);
    if (result || snapshots != SNAPSHOTS_ONLY || left || base.content.kept == 0)
        return result;
    base.content.kept = 0; /* all generations but the newest are gone */
    blob_write(d->changes, d->arena, &base);
    return STORE_OK;
}

/* A base that has snapshots goes only together with them. rest: Delete-Blob; semantics 5 */
enum error delete_blob_decide(struct decision *d, const struct delete_blob_parameters *p,
                              struct delete_blob_result *r)
{
    enum store_result result;
    enum error e;

    (void)r;
    if (!blob_ref_is_base(blob_asked(d)->ref)) {
        result = delete_one_snapshot(d);
    } else {
        e = p->snapshots == SNAPSHOTS_REFUSED ? refuse_if_snapshots(d) : OK;
        if (e)
            return e;
        result = delete_several(d, p->snapshots);
    }
    return result ? decision_fail_content(d, result) : OK;
}
