/* See access_time.h. */
#include "blob/access_time.h"

/* rest: Set-Blob-Service-Properties of the management API, "trackingGranularityInDays": 1 */
#define GRANULARITY_TICKS TICKS_PER_DAY

static bool is_due(const struct blob *blob, instant now)
{
    return blob->type == BLOB_BLOCK && !blob->uncommitted && !blob->is_directory &&
           blob_ref_is_base(blob->ref) && now - blob->accessed >= GRANULARITY_TICKS;
}

instant access_time_of_new(const struct decision *d, enum blob_type type)
{
    return d->input->tracks_access && type == BLOB_BLOCK ? d->now : 0;
}

bool access_is_due(const struct decision *d, const struct blob *blob)
{
    return d->input->tracks_access && is_due(blob, d->now);
}

enum error access_time_write(struct decision *d, struct partition at)
{
    struct blob blob, was;
    enum store_result result;

    decision_open_subject(d, at);
    decision_read_clock(d);
    result = blob_read(d->before, d->arena, blob_base, &blob);
    if (result)
        return result == STORE_NOT_FOUND ? OK : decision_fail_store(d, result);
    if (!is_due(&blob, d->now))
        return OK;
    was = blob;
    blob.accessed = d->now;
    blob_change(d, &was, &blob);
    return OK;
}
