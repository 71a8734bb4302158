/* Get Blob: a blob or snapshot, or a range of it. The bytes are read while they are sent, from the
 * snapshot of the partition on which the decision was made (promise 4). */
#include "blob/blob_operations.h"
#include "blob/tier.h"

/* rest: Get-Blob; semantics 5 */
enum error get_blob_decide(struct decision *d, const struct get_blob_parameters *p,
                           struct get_blob_result *r)
{
    enum error e;

    r->blob = blob_state(d)->blob;
    e = blob_refuse_archived(&r->blob);
    return e ? e : read_range_find(d, &p->range, r->blob.content.length, &r->part);
}
