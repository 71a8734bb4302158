/* A store that is slow on purpose: a filter in front of another one that shows callers all that
 * store.h allows a remote engine. What may not block is answered STORE_WAIT, and fetched where there is
 * a set for it; commits settle late and out of order, never before they are durable in the inner store; and, when asked to,
 * reads answer STORE_CONFLICT until the snapshot is held, some commits that were answered STORE_OK
 * turn out never to have come to be, some of them after others have read what they wrote, and of some
 * the outcome cannot be learned.
 *
 * The unit tests put it before the store in memory; tests/late drives the whole server through
 * it. */
#ifndef LAGRA_TESTS_STORE_LATE_H
#define LAGRA_TESTS_STORE_LATE_H

#include "store/store.h"

struct late_options {
    unsigned lost_reads;      /* of a hundred reads before a hold, answered STORE_CONFLICT */
    unsigned lost_commits;    /* of a hundred commits, never applied: settled as STORE_CONFLICT */
    unsigned unknown_commits; /* of a hundred: half of them applied, settled as STORE_UNKNOWN */
    unsigned fetches;  /* of a hundred reads of pieces and commits, answered STORE_WAIT first */
    unsigned together; /* no fetch ends before so many wait for one at the same time; 0: no */
    struct store_limits limits; /* where not 0: instead of the inner store's */
};
/* Steps of the wall clock that the store has followed in other processes, before this one opened it:
 * an hour and a bit. */
#define LATE_STEPS_OF_OTHERS (3723 * TICKS_PER_SECOND)

/* Takes the inner store over; store_close() closes both. */
struct store *store_open_late(struct store *inner, struct late_options options);

#endif
