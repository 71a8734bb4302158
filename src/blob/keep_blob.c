/* See keep_blob.h. */
#include "blob/keep_blob.h"

#include "blob/contents.h"
#include "blob/immutability.h"
#include "blob/snapshot_changes.h"
#include "blob/snapshot_marks.h"
#include "blob/tier.h"

/* Maximum number of snapshots created in the lifetime of a page blob. */
#define EPOCH_MAX (UINT32_MAX - 2)

/* begin_pending() of copy_blob.c sets both times to the same value, and nothing changes them while
 * the copy is pending. */
bool is_place_of_copy(const struct blob *blob)
{
    return blob->copy.status == COPY_PENDING && blob->created == blob->modified;
}

struct blob keep_record(const struct blob *base, struct blob_ref ref)
{
    struct blob kept = *base;

    kept.ref = ref;
    kept.lease = (struct lease){ .kind = 0 };
    kept.nothing_staged = true;
    kept.without_snapshots = kept.has_deleted = false;
    kept.is_version = false;
    kept.newest_version = 0;
    if (kept.copy.status == COPY_PENDING)
        kept.copy = (struct copy_state){ .status = COPY_NONE };
    return kept;
}

enum error keep_state(struct decision *d, const struct blob *was, struct blob_ref ref,
                      const struct blob_deletion *deletion)
{
    struct blob kept = keep_record(was, ref);
    struct content newest = was->content;

    kept.deletion = *deletion;
    if (newest.form == CONTENT_SPARSE) {
        if (newest.epoch == EPOCH_MAX)
            return decision_take_back(d, E_SnapshotCountExceeded);
        kept.content = content_snapshot(d->changes, &newest);
        content_newest_delete(d->changes, &newest, &d->leaves_more);
    }
    blob_change(d, NULL, &kept);
    if (deletion->at > 0)
        expire_deleted_defer(d->changes, deletion, ref.at, ref.at);
    if (kept.rehydrates_to != TIER_NONE)
        rehydrate_defer(d->changes, &kept);
    return OK;
}

enum error keep_replaced(struct decision *d, struct blob *blob, const struct named_blocks *blocks,
                         struct blob_ref ref, const struct blob_deletion *deletion)
{
    struct blob was = blob_state(d)->blob;

    if (was.content.form == CONTENT_SEQUENCE)
        content_share(d->changes, d->arena, &was.content, &blob->content,
                      blocks ? blocks->named : NULL, blocks ? blocks->named_count : 0);
    return keep_state(d, &was, ref, deletion);
}

enum error keep_overwritten(struct decision *d, struct blob *blob,
                            const struct named_blocks *blocks, const struct retention *retention)
{
    const struct blob_deletion deletion = retention_deletion(d, retention);

    blob->has_deleted = true;
    return keep_replaced(d, blob, blocks, blob_snapshot_ref(d->now), &deletion);
}

enum error keep_shared(struct decision *d, struct content *base, unsigned count,
                       struct content ret_kept[])
{
    enum store_result result = STORE_OK;

    if (base->form == CONTENT_SPARSE && base->epoch > EPOCH_MAX - count)
        return E_SnapshotCountExceeded;
    if (base->form == CONTENT_SEQUENCE)
        result = content_ref(d->before, d->changes, d->arena, base, count);
    for (unsigned i = 0; !result && i < count; i++)
        ret_kept[i] = base->form == CONTENT_SPARSE ? content_snapshot(d->changes, base) : *base;
    return result ? decision_fail_content(d, result) : OK;
}

/* Deletes all of a soft-deleted blob that is of another type. rest: "Soft delete for blobs", table
 * of operations */
static enum error end_all(struct decision *d, struct blob *blob)
{
    struct ended_contents ended = { .count = 0 };
    struct snapshots_changed changed;
    enum store_result result;
    enum error e = OK;

    if (blob_state(d)->blob.has_deleted)
        e = snapshots_change(d, MARK_GONE, 0, &ended, &changed);
    if (e)
        return e;
    contents_end(d, &ended, &blob_state(d)->blob);
    result = content_release_reference(d, &ended, NULL);
    blob->has_deleted = false;
    return result ? decision_fail_content(d, result) : OK;
}

enum error keep_undeleted(struct decision *d, struct blob *blob, bool any_type,
                          struct bytes account)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob_deletion deletion = was->deletion;
    struct retention retention;
    enum store_result result;

    if (!any_type && was->type != blob->type && deletion.expires > d->now)
        return end_all(d, blob);
    result = retention_find(d, account, &retention);
    if (result)
        return decision_fail_store(d, result);
    if (retention.expires > 0 && deletion.expires > d->now)
        deletion = retention_deletion(d, &retention);
    blob->has_deleted = true;
    return keep_state(d, was, blob_snapshot_ref(d->now), &deletion);
}

/* ---- reading ---- */

/* Requires that all versions of a blob are of one type. An anchor has the type of its versions.
 * rest: "Blob versioning" */
static enum error check_type(struct decision *d, enum blob_type type, bool keeps)
{
    const struct blob_state *state = blob_state(d);
    bool has_others = false;
    enum store_result result = STORE_OK;

    if (!stored_blob(d) || state->blob.type == type)
        return OK;
    if (!keeps && state->blob.newest_version > 0)
        result = versions_find(d, 0, &has_others);
    if (result)
        return decision_fail_content(d, result);
    return keeps || has_others ? decision_take_back(d, E_InvalidBlobType) : OK;
}

/* ---- writing ---- */

enum error version_plan(struct decision *d, const struct retention *retention, enum blob_type type,
                        struct version_change *ret_change)
{
    const struct blob_state *state = blob_state(d);
    struct version_change change = { .keeps = false };
    /* A soft-deleted base becomes a snapshot with the current date. */
    bool now_is_taken = state->is_kept;

    if (d->subject.exists && (retention->is_versioned || state->blob.is_version)) {
        change.keeps = true;
        change.kept = state->blob.is_version ? state->blob.newest_version : d->now;
        now_is_taken = change.kept == d->now;
    }
    if (retention->is_versioned)
        change.id = d->now + now_is_taken;
    *ret_change = change;
    return check_type(d, type, change.keeps);
}

void version_give(struct decision *d, const struct version_change *change, struct blob *blob)
{
    const struct blob_state *state = blob_state(d);

    blob->is_version = change->id > 0;
    blob->newest_version = stored_blob(d) ? state->blob.newest_version : 0;
    if (change->keeps && change->kept > blob->newest_version)
        blob->newest_version = change->kept;
    if (change->id > 0)
        blob->newest_version = change->id;
}

enum error version_begin(struct decision *d, struct bytes account, struct blob *blob)
{
    struct retention retention;
    struct version_change change;
    struct blob was = blob_state(d)->blob, kept;
    enum store_result result = retention_find(d, account, &retention);
    enum error e;

    if (result)
        return decision_fail_store(d, result);
    e = version_plan(d, &retention, blob->type, &change);
    if (!e && change.keeps) {
        kept = keep_record(&was, blob_version_ref(change.kept));
        if (blob->type == BLOB_BLOCK)
            content_expect_runs(&blob->content); /* of a flush */
        e = keep_shared(d, &blob->content, 1, &kept.content);
        if (!e)
            blob_change(d, NULL, &kept);
        immutability_give_default(d, blob);
    }
    if (e)
        return e;
    version_give(d, &change, blob);
    return OK;
}
