/* Get Service Stats of every service, at the secondary endpoint: what is written is there at once.
 * rest: Get-Blob-Service-Stats; decision: 65 */
#include "service/service_properties.h"

enum error get_service_stats_decide(struct decision *d,
                                    const struct get_service_stats_parameters *p,
                                    struct get_service_stats_result *r)
{
    (void)p;
    r->last_sync = d->now;
    return OK;
}
