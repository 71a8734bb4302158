/* Request and response of Snapshot Blob. rest: Snapshot-Blob */
#include "blob/rest/request.h"

#include "service/metadata.h"

enum error snapshot_blob_check(struct call *call, struct snapshot_blob_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_CHANGE);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

void snapshot_blob_answer(struct answer *a, const struct snapshot_blob_parameters *p,
                          const struct snapshot_blob_result *r)
{
    char time[INSTANT_ISO_SIZE];

    instant_format_iso(r->snapshot, time);
    answer_header(a, "x-ms-snapshot", arena_copy(a->arena, bytes_from_string(time)));
    blob_answer_version(a, r->version);
    /* Recorded: true only if the snapshot has its own metadata. decision: 43 */
    if (call_since(a->call, "2018-11-09"))
        answer_string(a, "x-ms-request-server-encrypted", p->metadata.len > 0 ? "true" : "false");
}
