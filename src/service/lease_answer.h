/* Lease Blob, Lease Container and Lease Share as requests and as answers.
 * rest: Lease-Blob, Lease-Container, Lease-Share; semantics 3.1, 3.5 */
#ifndef LAGRA_SERVICE_LEASE_ANSWER_H
#define LAGRA_SERVICE_LEASE_ANSWER_H

#include "service/answer.h"

/* The headers of the call.
 * returns  OK, E_MissingRequiredHeader, E_InvalidHeaderValue */
enum error lease_read_request(struct call *call, struct lease_request *ret_request);
/* Status and headers. id: the lease's */
void answer_lease_outcome(struct answer *a, const struct lease_result *lease,
                          const struct guid *id);
/* LeaseStatus, LeaseState and LeaseDuration of an entry in a list. */
void lease_xml(struct text *out, const struct lease *lease, instant now);

#endif
