/* Lease Blob, Lease Container and Lease Share as requests and responses.
 * rest: Lease-Blob, Lease-Container, Lease-Share; semantics 3.1, 3.5 */
#ifndef LAGRA_SERVICE_LEASE_ANSWER_H
#define LAGRA_SERVICE_LEASE_ANSWER_H

#include "service/answer.h"

/* Reads the lease headers of the call.
 * returns  OK, E_MissingRequiredHeader, E_InvalidHeaderValue */
enum error lease_read_request(struct call *call, struct lease_request *ret_request);
/* Sets the status and the lease headers. id: id of the lease */
void answer_lease_outcome(struct answer *a, const struct lease_result *lease,
                          const struct guid *id);
/* Adds LeaseStatus, LeaseState and LeaseDuration to an entry of a list. */
void lease_xml(struct text *out, const struct lease *lease, instant now);

#endif
