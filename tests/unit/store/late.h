/* A store that is slow on purpose: a filter in front of another one that shows callers all that
 * store.h allows a remote engine. Under STORE_NO_WAIT everything answers STORE_WAIT; commits settle
 * late and out of order; and, when asked to, reads answer STORE_CONFLICT until the snapshot is held,
 * and some commits that were answered STORE_OK turn out never to have come to be. */
#ifndef LAGRA_TESTS_STORE_LATE_H
#define LAGRA_TESTS_STORE_LATE_H

#include "store/store.h"

struct late_options {
    unsigned lost_reads;   /* of a hundred reads before a hold, answered STORE_CONFLICT */
    unsigned lost_commits; /* of a hundred commits, never applied: settled as STORE_CONFLICT */
};
/* Takes the inner store over; store_close() closes both. */
struct store *store_open_late(struct store *inner, struct late_options options);

#endif
