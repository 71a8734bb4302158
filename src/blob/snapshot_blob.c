/* Snapshot Blob: keeps the current state of a blob under a new date. */
#include "blob/blob_operations.h"
#include "blob/tier.h"
#include "blob/version.h"

/* Recorded, 10 of 10: the version that Snapshot Blob creates has an id one millisecond later. If
 * the ids of the blob are already ahead of the clock, it is one tick later, so that they do not get
 * further and further ahead. decision: 804 */
#define TICKS_AHEAD (TICKS_PER_SECOND / 1000)

static instant id_after(const struct decision *d, const struct blob *was, instant date)
{
    bool is_ahead = was->newest_version + 1 >= d->now;

    return date + (is_ahead ? 1 : TICKS_AHEAD);
}

/* Gives the content to the snapshot and, with versioning, also to a version with the old id. */
static enum error keep_version(struct decision *d, struct blob *base, struct blob *snapshot)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob version =
        keep_record(was, blob_version_ref(was->is_version ? was->newest_version : d->now));
    struct content kept[2];
    enum error e = keep_shared(d, &base->content, 2, kept);

    if (e)
        return e;
    version.content = kept[0];
    snapshot->content = kept[1];
    if (version.ref.at == d->now)
        snapshot->ref.at = d->now + 1;
    base->is_version = true;
    base->newest_version = id_after(d, was, snapshot->ref.at);
    blob_change(d, NULL, &version);
    return OK;
}

/* Clients see no change of the base except its version id. A snapshot with its own metadata has its
 * own ETag. rest: Snapshot-Blob; semantics 0.5, 5 */
enum error snapshot_blob_decide(struct decision *d, const struct snapshot_blob_parameters *p,
                                struct snapshot_blob_result *r)
{
    struct blob base = blob_state(d)->blob, snapshot;
    struct retention retention;
    enum store_result result;
    enum error e = blob_refuse_archived(&base);

    if (e)
        return e;
    result = retention_find(d, d->input->account, &retention);
    if (result)
        return decision_fail_store(d, result);
    snapshot = keep_record(&base, blob_snapshot_ref(d->now));
    base.without_snapshots = false;
    e = retention.is_versioned ? keep_version(d, &base, &snapshot)
                               : keep_shared(d, &base.content, 1, &snapshot.content);
    if (e)
        return e;
    if (p->metadata.len > 0) {
        snapshot.metadata = p->metadata;
        snapshot.etag = d->subject.etag = etag_after(snapshot.etag, d->now);
        snapshot.modified = d->subject.modified = d->now;
    }
    blob_change(d, NULL, &snapshot);
    if (retention.is_versioned || base.content.form == CONTENT_SPARSE ||
        blob_state(d)->blob.without_snapshots ||
        base.content.is_alone != blob_state(d)->blob.content.is_alone)
        blob_change(d, &blob_state(d)->blob, &base);
    r->snapshot = snapshot.ref.at;
    r->version = blob_version_id(&base);
    return OK;
}
