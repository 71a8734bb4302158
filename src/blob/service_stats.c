/* Get Blob Service Stats, at the secondary endpoint: what is written is there at once.
 * rest: Get-Blob-Service-Stats; decision: 65 */
#include "blob/service_operations.h"

enum error get_blob_service_stats_decide(struct decision *d,
                                         const struct get_blob_service_stats_parameters *p,
                                         struct get_blob_service_stats_result *r)
{
    (void)p;
    r->last_sync = d->now;
    return OK;
}
