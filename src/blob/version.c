/* See version.h. */
#include "blob/version.h"

#include "blob/snapshot_scan.h"

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
        e = keep_shared(d, &blob->content, 1, &kept.content);
        if (!e)
            blob_change(d, NULL, &kept);
    }
    if (e)
        return e;
    version_give(d, &change, blob);
    return OK;
}
