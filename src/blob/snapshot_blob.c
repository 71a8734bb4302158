/* Snapshot Blob: keeps the blob as it is now under a date and time of its own. */
#include "blob/blob_request.h"

/* The new metadata of the snapshot; the base's own where none was sent. */
struct snapshot_metadata {
    struct bytes metadata;
};

enum error check_snapshot_blob(struct decision *d)
{
    struct snapshot_metadata *given = arena_alloc(d->arena, sizeof *given);
    enum error e;

    e = blob_refuse_unbuilt(d, REQUEST_CHANGE);
    if (e)
        return e;
    e = metadata_from_headers(d, &given->metadata);
    if (e)
        return e;
    d->call->parameters = given;
    return OK;
}

/* The snapshot shares the content of the base; of the base itself nothing changes that anybody
 * sees. One with metadata of its own has an ETag of its own. rest: Snapshot-Blob;
 * semantics 0.5, 5 */
enum error snapshot_blob(struct decision *d)
{
    const struct snapshot_metadata *given = d->call->parameters;
    struct blob base = blob_state(d)->blob, snapshot;
    char time[INSTANT_ISO_SIZE];
    enum store_result result;

    if (base.tier == TIER_ARCHIVE)
        return E_BlobArchived;
    result = content_hold(d->before, d->changes, d->arena, &base.content);
    if (result)
        return blob_fail_content(d, result);
    snapshot = base;
    snapshot.snapshot = d->now;
    snapshot.lease = (struct lease){ .kind = 0 };
    if (given->metadata.len > 0) {
        snapshot.metadata = given->metadata;
        snapshot.etag = etag_after(snapshot.etag, d->now);
        snapshot.modified = d->now;
    }
    blob_write(d->changes, d->arena, &snapshot);
    if (base.content.is_alone != blob_state(d)->blob.content.is_alone)
        blob_write(d->changes, d->arena, &base);

    instant_format_iso(snapshot.snapshot, time);
    answer(d, 201);
    answer_etag(d, snapshot.etag, snapshot.modified);
    answer_header(d, "x-ms-snapshot", arena_copy(d->arena, bytes_from_string(time)));
    if (call_since(d->call, "2018-11-09")) /* as recorded */
        blob_answer_encrypted(d);
    return OK;
}
