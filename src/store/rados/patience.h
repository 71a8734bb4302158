/* Requests do not wait for a cluster that does not answer: who has waited so long is woken, and gives up. What it has begun
 * goes on, and ends when it is answered: so nothing is freed that is still in flight, and of a commit the outcome is not
 * known. One thread counts the time. */
#ifndef LAGRA_STORE_RADOS_PATIENCE_H
#define LAGRA_STORE_RADOS_PATIENCE_H

#include "store/rados/arrival.h"
#include "store/rados/outcomes.h"

/* As long as the service gives a request by itself. rest: Setting-Timeouts-for-Blob-Service-Operations */
#define PATIENCE_MS 30000u

struct patience;
/* outcomes: commits that take longer become unknown (outcomes_expire()). NULL: no thread can be started. */
struct patience *patience_start(unsigned limit_ms, struct outcomes *outcomes);
/* Nobody may wait. */
void patience_stop(struct patience *patience);
/* As arrival_wait(), but the waiter is also woken when it has waited too long: then the arrival has not come.
 * It stays its owner's, who keeps it until the waiter is woken, or cancelled. Any thread. */
void patience_wait(struct patience *patience, struct arrival *arrival, struct waiter *waiter);
/* As arrival_cancel(). */
void patience_cancel(struct patience *patience, struct arrival *arrival);

#endif
