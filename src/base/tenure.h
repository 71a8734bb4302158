/* A tenure: the right to send responses made from data that another machine may take over. It is
 * the owner's lease on a cell (cluster/owner.h), under another name because "lease" means leases of
 * blobs everywhere else.
 *
 * It is checked after a request was decided and before each byte of its response is sent. A process
 * may be stopped between the check and the send; but the decision was made while the tenure held
 * and the client was already waiting, so the response is as correct as one that was delayed by the
 * network. A request must not, however, be decided on old data after another machine has started to
 * serve. */
#ifndef LAGRA_BASE_TENURE_H
#define LAGRA_BASE_TENURE_H

#include <stdatomic.h>

#include "base/clock.h"

struct tenure {
    /* end by clock_boot_ns(); 0 before the tenure starts and after it is given up */
    _Atomic uint64_t ends_ns;
};

/* Returns true if the tenure holds now, or if it is NULL (data that no other machine can take
 * over). Thread-safe. */
static inline bool tenure_holds(const struct tenure *tenure)
{
    return !tenure ||
           clock_boot_ns() < atomic_load_explicit(&tenure->ends_ns, memory_order_relaxed);
}

#endif
