/* Get Blob: the bytes of a blob or a snapshot, or a range of them. The bytes themselves are read
 * while they are sent, from the snapshot of the partition that was decided on (promise 4). */
#include "blob/blob_operations.h"
#include "blob/tier.h"

/* A range whose sum is wanted is at most this long. rest: Get-Blob "x-ms-range-get-content-md5" */
#define SUMMED_RANGE_MAX (4u << 20)

/* Cuts the range to the blob's length.
 * returns OK, E_InvalidRange: it begins past the end */
static enum error cut_range(struct decision *d, const struct get_blob_parameters *p,
                            struct get_blob_result *r)
{
    uint64_t length = r->blob.content.length, last = p->last;

    if (p->first >= length) {
        d->problem->length = length;
        return E_InvalidRange;
    }
    if (last > length - 1)
        last = length - 1;
    r->is_part = true;
    r->offset = p->first;
    r->length = last - p->first + 1;
    return OK;
}

/* rest: Get-Blob; semantics 5 */
enum error get_blob_decide(struct decision *d, const struct get_blob_parameters *p,
                           struct get_blob_result *r)
{
    enum error e;

    r->blob = blob_state(d)->blob;
    e = blob_refuse_archived(&r->blob);
    if (e)
        return e;
    r->length = r->blob.content.length;
    if (p->has_range) {
        e = cut_range(d, p, r);
        if (e)
            return e;
    }
    if ((p->md5 || p->crc64) && r->length > SUMMED_RANGE_MAX) {
        problem_set_header(d->problem, p->sum_source.name, p->sum_source.value);
        return E_InvalidHeaderValue;
    }
    return OK;
}
