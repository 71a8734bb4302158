/* Delete Blob: the base blob, its snapshots, or one snapshot. */
#include "blob/blob_operations.h"
#include "blob/contents.h"
#include "blob/tag_index.h"
#include "blob/uncommitted.h"

/* More are not deleted on a worker. */
#define SNAPSHOTS_ON_WORKER 64u

/* Deletes the records of all snapshots. STORE_OK also if there are no snapshots. */
static enum store_result delete_snapshots(struct decision *d, struct ended_contents *ended)
{
    size_t count = 0;
    struct record record;
    struct blob blob;
    enum store_result result;
    struct scan *scan;

    if (blob_state(d)->blob.without_snapshots)
        return STORE_OK;
    scan = blob_scan_snapshots(d->before, 0);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (++count > SNAPSHOTS_ON_WORKER && !d->access.may_block) {
            result = STORE_WAIT;
            break;
        }
        if (!blob_decode(record.value, &blob)) {
            result = STORE_CORRUPT;
            break;
        }
        contents_end(d, ended, &blob);
        blob_delete_record(d->changes, d->arena, blob.ref);
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

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
    enum store_result result;
    struct record record;
    struct scan *scan;

    if (blob_state(d)->blob.without_snapshots)
        return OK;
    scan = blob_scan_snapshots(d->before, 0);
    result = scan_next(scan, d->arena, &record);
    scan_close(scan);
    if (result == STORE_NOT_FOUND)
        return OK;
    return result ? decision_fail_store(d, result) : E_SnapshotsPresent;
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

    if (snapshots != SNAPSHOTS_REFUSED)
        result = delete_snapshots(d, &ended);
    if (!result && snapshots != SNAPSHOTS_ONLY)
        result = delete_base(d, &ended);
    if (!result)
        result = contents_unref(d, &ended, NULL);
    if (result || snapshots != SNAPSHOTS_ONLY || base.content.kept == 0)
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
