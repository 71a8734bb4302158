/* Undelete Blob: restores a soft-deleted blob, except for its lease, and all its soft-deleted
 * snapshots, with the same ETags and dates. rest: Undelete-Blob; recorded; decision: 790 */
#include "blob/blob_operations.h"
#include "blob/snapshot_changes.h"

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

    (void)p;
    (void)r;
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
