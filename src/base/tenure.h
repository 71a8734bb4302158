/* Defines a tenure: the right to send responses made from data that another machine may take over.
 * It is the owner's lease on a cell (cluster/owner.h), under another name because "lease" means
 * leases of blobs everywhere else.
 *
 * It is checked after a request was decided and before each byte of its response is sent. A process
 * may be stopped between the check and the send; but the decision was made while the tenure held
 * and the client was already waiting, so the response is as correct as one that was delayed by the
 * network. A request must not, however, be decided on old data after another machine has started to
 * serve.
 *
 * A holder that was cut off from its data gets errors before it knows that it has lost the tenure.
 * Such an error says nothing about the data, so it is reported only if a later renewal has shown
 * that the data was still ours when the error occurred: tenure_confirms(). */
#ifndef LAGRA_BASE_TENURE_H
#define LAGRA_BASE_TENURE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/waiter.h"

struct tenure {
    /* end by clock_boot_ns(); 0 before the tenure starts and after it is given up */
    _Atomic uint64_t ends_ns;
    /* start of the newest successful renewal; UINT64_MAX after the tenure was given up */
    _Atomic uint64_t renewed_ns;
    struct lock lock; /* RANK_TENURE; protects the waiters */
    struct waiter *waiters;
};

/* Starts a tenure. All times are those of clock_boot_ns(). */
void tenure_start(struct tenure *tenure, uint64_t began_ns, uint64_t ends_ns);
/* Renews it: the renewal started at `began_ns`. Called on one thread at a time. */
void tenure_renew(struct tenure *tenure, uint64_t began_ns, uint64_t ends_ns);
/* Ends it; its holder has lost the data, so errors are never confirmed. Thread-safe. */
void tenure_lose(struct tenure *tenure);
/* Ends it. Wakes all waiters, whose responses can no longer be sent. */
void tenure_give_up(struct tenure *tenure);

/* Returns true if the tenure holds now, or if it is NULL (data that no other machine can take
 * over). Thread-safe. */
static inline bool tenure_holds(const struct tenure *tenure)
{
    return !tenure ||
           clock_boot_ns() < atomic_load_explicit(&tenure->ends_ns, memory_order_relaxed);
}

/* Returns true if an error that occurred at `since_ns` may be reported: a renewal that started
 * later has succeeded, or the tenure is NULL. Otherwise stores the waiter, and wakes it after the
 * next renewal, perhaps before this returns. Thread-safe. */
bool tenure_confirms(struct tenure *tenure, uint64_t since_ns, struct waiter *waiter);

#endif
