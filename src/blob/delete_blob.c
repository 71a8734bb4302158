/* Delete Blob: deletes the base, its snapshots, or one snapshot or version: permanently or, if soft
 * delete is on, softly: then everything except its lease and its uncommitted blocks is retained
 * until it expires. With versioning, the base is retained as a previous version (keep_blob.h).
 *
 * All snapshots are deleted in one commit of bounded size, so that no client sees only some of them
 * deleted (snapshot_changes.h). Until their records are changed, deleted ones hold their content,
 * or their generation of a page blob, like any other. rest: Delete-Blob; semantics 5; decisions:
 * 249, 790, 803 */
#include "blob/blob_operations.h"
#include "blob/contents.h"
#include "blob/immutability.h"
#include "blob/kept_paths.h"
#include "blob/namespace.h"
#include "blob/path_operations.h"
#include "blob/retention.h"
#include "blob/snapshot_changes.h"
#include "blob/keep_blob.h"

/* Refuses to delete a base without its snapshots. rest: Delete-Blob; semantics 5 */
static enum error refuse_if_snapshots(struct decision *d)
{
    bool found;
    enum store_result result = snapshots_find_live(d, &blob_state(d)->blob, &found);

    if (result)
        return decision_fail_store(d, result);
    return found ? E_SnapshotsPresent : OK;
}

/* ---- permanent ---- */

static enum store_result end_base(struct decision *d, struct ended_contents *ended)
{
    const struct blob *blob = &blob_state(d)->blob;
    enum store_result result;

    if (!blob->uncommitted)
        contents_end(d, ended, blob);
    result = contents_drop_staged(d, NULL);
    return result ? result : base_remove(d, blob, true);
}

enum error blob_delete_for_good(struct decision *d, enum delete_snapshots snapshots)
{
    struct blob base = blob_state(d)->blob;
    enum mark_kind kind = base.has_deleted || base.newest_version > 0 ? MARK_LIVE_GONE : MARK_GONE;
    bool base_stays = snapshots == SNAPSHOTS_ONLY;
    struct ended_contents ended = { .count = 0 };
    struct snapshots_changed changed;
    enum store_result result = STORE_OK;
    uint32_t kept = base.content.last_retained;
    enum error e = OK;

    if (snapshots != SNAPSHOTS_REFUSED && !base.without_snapshots)
        e = snapshots_change(d, kind, 0, &ended, &changed);
    if (e)
        return e;
    if (!base_stays)
        result = end_base(d, &ended);
    if (!result)
        result = content_release_reference(d, &ended, base_stays ? &base.content : NULL);
    if (result)
        return decision_fail_content(d, result);
    if (base_stays && base.content.last_retained != kept)
        blob_change(d, &blob_state(d)->blob, &base);
    return OK;
}

/* ---- soft ---- */

/* Adds the task of snapshots that were deleted without their base; those deleted with it expire
 * with it. */
static void defer_snapshots(struct decision *d, const struct retention *retention)
{
    const struct blob_deletion deletion = retention_deletion(d, retention);

    expire_deleted_defer(d->changes, &deletion, 1, d->now);
}

static enum error delete_snapshots_softly(struct decision *d, const struct retention *retention)
{
    struct blob base = blob_state(d)->blob;
    struct ended_contents ended = { .count = 0 };
    struct snapshots_changed changed;
    enum error e = snapshots_change(d, MARK_DELETED, retention->expires, &ended, &changed);

    if (e || !changed.any)
        return e;
    base.without_snapshots = base.has_deleted = true;
    blob_change(d, &blob_state(d)->blob, &base);
    defer_snapshots(d, retention);
    return OK;
}

static enum error delete_base_softly(struct decision *d, bool with_snapshots,
                                     const struct retention *retention)
{
    struct blob base = blob_state(d)->blob;
    struct ended_contents ended = { .count = 0 };
    struct snapshots_changed changed = { .any = false };
    enum store_result result;
    enum error e = OK;

    if (with_snapshots && !base.without_snapshots)
        e = snapshots_change(d, MARK_DELETED, retention->expires, &ended, &changed);
    if (e)
        return e;
    result = contents_drop_staged(d, NULL);
    if (result)
        return decision_fail_content(d, result);
    base.deletion = retention_deletion(d, retention);
    base.lease = (struct lease){ .kind = 0 };
    base.nothing_staged = true;
    base.without_snapshots = true;
    base.has_deleted = base.has_deleted || changed.any;
    blob_change(d, &blob_state(d)->blob, &base);
    expire_deleted_defer(d->changes, &base.deletion, changed.any ? 1 : 0, changed.any ? d->now : 0);
    return OK;
}

/* Deletes a base that has only uncommitted blocks, which are not retained. It may have restored
 * snapshots. */
static enum error delete_uncommitted_softly(struct decision *d, enum delete_snapshots snapshots,
                                            const struct retention *retention)
{
    enum store_result result;
    enum error e = OK;

    if (snapshots != SNAPSHOTS_REFUSED && !blob_state(d)->blob.without_snapshots)
        e = delete_snapshots_softly(d, retention);
    if (e || snapshots == SNAPSHOTS_ONLY)
        return e;
    result = contents_drop_staged(d, NULL);
    if (!result)
        result = base_remove(d, &blob_state(d)->blob, false);
    return result ? decision_fail_content(d, result) : OK;
}

static enum error delete_softly(struct decision *d, enum delete_snapshots snapshots,
                                const struct retention *retention)
{
    if (blob_state(d)->blob.uncommitted)
        return delete_uncommitted_softly(d, snapshots, retention);
    if (snapshots != SNAPSHOTS_ONLY)
        return delete_base_softly(d, snapshots == SNAPSHOTS_INCLUDED, retention);
    return blob_state(d)->blob.without_snapshots ? OK : delete_snapshots_softly(d, retention);
}

/* ---- as a version ---- */

/* Returns true if the current state, which is or becomes a version, is retained as one. Then only
 * the snapshots are actually deleted. */
static bool stays_as_version(const struct blob *base, const struct retention *retention)
{
    return !base->uncommitted && (retention->is_versioned || base->is_version);
}

static enum error delete_snapshots_with(struct decision *d, struct blob *base,
                                        const struct retention *retention)
{
    enum mark_kind kind = retention->expires > 0 ? MARK_DELETED : MARK_LIVE_GONE;
    struct ended_contents ended = { .count = 0 };
    struct snapshots_changed changed;
    enum store_result result;
    enum error e;

    if (base->without_snapshots)
        return OK;
    e = snapshots_change(d, kind, retention->expires, &ended, &changed);
    if (e)
        return e;
    if (kind == MARK_DELETED && changed.any)
        defer_snapshots(d, retention);
    base->without_snapshots = true;
    result = content_release_reference(d, &ended, &base->content);
    return result ? decision_fail_content(d, result) : OK;
}

static enum error delete_keeping_version(struct decision *d, bool with_snapshots,
                                         const struct retention *retention)
{
    const struct blob_deletion not_deleted = { .at = 0 };
    struct blob base = blob_state(d)->blob, anchor;
    instant id = base.is_version ? base.newest_version : d->now;
    enum error e = with_snapshots ? delete_snapshots_with(d, &base, retention) : OK;
    enum store_result result;

    if (e)
        return e;
    result = contents_drop_staged(d, NULL);
    if (result)
        return decision_fail_content(d, result);
    e = keep_state(d, &base, blob_version_ref(id), &not_deleted);
    if (e)
        return e;
    base.newest_version = id;
    anchor = base_anchor(&base, d->now, true);
    blob_change(d, &blob_state(d)->blob, &anchor);
    return OK;
}

/* ---- one snapshot or version ---- */

static enum error delete_one_softly(struct decision *d, const struct retention *retention)
{
    struct blob snapshot = blob_state(d)->blob, base, was;
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &base);

    if (result)
        return decision_fail_content(d, result);
    snapshot.deletion = retention_deletion(d, retention);
    blob_change(d, &blob_state(d)->blob, &snapshot);
    expire_deleted_defer(d->changes, &snapshot.deletion, snapshot.ref.at, snapshot.ref.at);
    if (base.has_deleted)
        return OK;
    was = base;
    base.has_deleted = true;
    blob_change(d, &was, &base);
    return OK;
}

static enum error delete_one(struct decision *d, const struct retention *retention)
{
    enum store_result result;

    /* The current version can only be deleted by the blob's name. */
    if (blob_ref_is_base(blob_state(d)->blob.ref))
        return E_OperationNotAllowedOnRootBlob;
    if (retention->expires > 0)
        return delete_one_softly(d, retention);
    result = snapshot_end(d, &blob_state(d)->blob);
    return result ? decision_fail_content(d, result) : OK;
}

/* ---- paths of a hierarchical container ---- */

/* Requires that a directory is empty. decision: 1222 */
static enum error check_directory(struct decision *d, enum delete_snapshots snapshots)
{
    bool is_empty;
    enum error e;

    if (snapshots != SNAPSHOTS_REFUSED || tree_place_is_root(&blob_state(d)->node->place))
        return E_OperationNotSupportedOnDirectory;
    e = namespace_is_empty(d, &is_empty);
    return e || is_empty ? e : E_DirectoryIsNotEmpty;
}

enum error path_delete(struct decision *d, instant *ret_deleted)
{
    struct retention retention = { .expires = 0 };
    enum store_result result = STORE_OK;

    *ret_deleted = 0;
    if (!blob_state(d)->blob.uncommitted)
        result = retention_find_of_paths(d, d->input->account, &retention);
    if (result)
        return decision_fail_store(d, result);
    return retention.expires > 0 ? kept_path_retain(d, &retention, ret_deleted)
                                 : blob_delete_for_good(d, SNAPSHOTS_REFUSED);
}

/* Deletes a file or an empty directory of a hierarchical container. Soft delete covers neither
 * snapshots nor files with snapshots. decision: 1306 */
static enum error delete_path(struct decision *d, enum delete_snapshots snapshots,
                              struct delete_blob_result *r)
{
    const struct retention none = { .expires = 0 };
    bool has_snapshots;
    enum store_result result;
    enum error e = blob_is_directory(d) ? check_directory(d, snapshots) : OK;

    if (e)
        return e;
    if (!blob_ref_is_base(blob_asked(d)->ref))
        return delete_one(d, &none);
    result = snapshots_find_live(d, &blob_state(d)->blob, &has_snapshots);
    if (result)
        return decision_fail_store(d, result);
    if (has_snapshots && snapshots == SNAPSHOTS_REFUSED)
        return E_SnapshotsPresent;
    if (has_snapshots || snapshots == SNAPSHOTS_ONLY)
        return blob_delete_for_good(d, snapshots);
    e = path_delete(d, &r->deleted);
    r->is_kept = r->deleted > 0;
    return e;
}

/* ---- the operations ---- */

/* Refuses to delete what a policy or a legal hold protects. */
static enum error check_protection(struct decision *d, enum delete_snapshots snapshots)
{
    enum error e = snapshots == SNAPSHOTS_REFUSED ? OK : immutability_permit_snapshots(d);

    return e || snapshots == SNAPSHOTS_ONLY ? e : immutability_permit(d, NEEDS_DESTROY);
}

/* Returns true unless the blob was never committed and has no snapshots. */
static bool has_something_to_keep(const struct blob *blob)
{
    return !blob->uncommitted || blob->has_deleted || !blob->without_snapshots;
}

enum error delete_blob_decide(struct decision *d, const struct delete_blob_parameters *p,
                              struct delete_blob_result *r)
{
    struct retention retention = { .expires = 0 };
    enum store_result result = STORE_OK;
    enum error e = check_protection(d, p->snapshots);

    if (e)
        return e;
    if (blob_state(d)->node)
        return delete_path(d, p->snapshots, r);
    if (has_something_to_keep(&blob_state(d)->blob))
        result = retention_find(d, d->input->account, &retention);
    if (result)
        return decision_fail_store(d, result);
    r->is_kept = retention.expires > 0;
    if (!blob_ref_is_base(blob_asked(d)->ref))
        return delete_one(d, &retention);
    if (p->snapshots == SNAPSHOTS_REFUSED)
        e = refuse_if_snapshots(d);
    if (e)
        return e;
    if (p->snapshots != SNAPSHOTS_ONLY && stays_as_version(&blob_state(d)->blob, &retention)) {
        r->is_kept = true;
        return delete_keeping_version(d, p->snapshots == SNAPSHOTS_INCLUDED, &retention);
    }
    return r->is_kept ? delete_softly(d, p->snapshots, &retention)
                      : blob_delete_for_good(d, p->snapshots);
}

/* Permanently deletes a soft-deleted snapshot or version. rest: Delete-Blob "Permanent delete";
 * decision: 793 */
enum error delete_blob_permanently_decide(struct decision *d,
                                          const struct delete_blob_permanently_parameters *p,
                                          struct delete_blob_permanently_result *r)
{
    const struct blob *snapshot = &blob_state(d)->blob;
    struct retention retention;
    enum store_result result = retention_find(d, d->input->account, &retention);
    enum error e = immutability_permit(d, NEEDS_DESTROY);

    (void)p;
    (void)r;
    if (result)
        return decision_fail_store(d, result);
    if (!retention.allows_permanent)
        return E_PermanentDeleteIsOff;
    if (blob_ref_is_base(blob_asked(d)->ref) || snapshot->deletion.at == 0)
        return E_BlobSnapshotNotSoftDeleted;
    if (e)
        return e;
    result = snapshot_end(d, snapshot);
    return result ? decision_fail_content(d, result) : OK;
}

/* Undelete Blob: restores a soft-deleted blob, except for its lease, and all its soft-deleted
 * snapshots, with the same ETags and dates. rest: Undelete-Blob; recorded; decision: 790 */

/* Fails if there is no blob and nothing that could be restored. */
enum error undelete_blob_decide(struct decision *d, const struct undelete_blob_parameters *p,
                                struct undelete_blob_result *r)
{
    const struct blob_state *state = blob_state(d);
    struct snapshots_changed changed = { .any = false };
    struct ended_contents ended = { .count = 0 };
    struct blob base = state->blob;
    bool restores = state->is_kept && base.deletion.expires > d->now;
    enum error e = OK;

    if (state->node)
        return kept_path_undelete(d, p->deleted, &r->blob);
    if ((state->found || state->is_kept) && base.has_deleted)
        e = snapshots_change(d, MARK_RESTORED, 0, &ended, &changed);
    if (e)
        return e;
    if (!restores && !changed.any)
        return d->subject.exists ? OK : E_BlobNotFound;
    if (restores)
        base.deletion = (struct blob_deletion){ .at = 0 };
    if (changed.any)
        base.without_snapshots = false;
    blob_change(d, &state->blob, &base);
    return OK;
}
