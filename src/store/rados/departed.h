/* Front ends that have died, and what they have left.
 *
 * A front end without heartbeats is taken for dead by any other (beat.h), in one op on the object of all front ends: unless it
 * has written one meanwhile, its row there goes, and another says that it is retired. From then on it reserves no numbers
 * for pieces, and when it wakes up and writes a heartbeat it learns that it is to end. The numbers that it has reserved are
 * known, so the work is bounded: each is looked for (leftovers.h), and once more a day later, for those pieces that
 * were on their way to the cluster. What has been done is noted for each intent, so that another front end goes on where
 * this one dies. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_DEPARTED_H
#define LAGRA_STORE_RADOS_DEPARTED_H

#include "store/rados/beat.h"
#include "store/rados/leftovers.h"

/* Between the end of the first look and the second. */
#define DEPARTED_AGAIN_TICKS (24 * 3600 * TICKS_PER_SECOND)

/* Takes a front end for dead, by its heartbeat as it was seen last. False: whether that was done is unknown. */
bool departed_retire(struct port *records, uint32_t incarnation, const struct beat_row *seen);

struct departed {
    struct leftovers leftovers;
    struct port *records; /* pool */
    uint64_t again;       /* ticks: DEPARTED_AGAIN_TICKS */
};
/* Does one step for one of them: looks for the numbers of one intent, or ends a look. False: there is nothing to be done
 * now, or it cannot be done now, which is logged. */
bool departed_step(const struct departed *departed, instant now);

#endif
