/* Computes when a new owner of a cell may serve, and when an old owner counts as silent. Pure. All
 * times are clock_boot_ns() of the calling machine.
 *
 * Invariants, cited as "lease invariant N":
 *  (1) An owner sends responses until `lease_ms` after the start of its last successful renewal.
 *  (2) A renewal that another machine reads was started before that read returned. So the owner's
 *      right ends at most `lease_ms` after the return of the first read that showed the renewal,
 *      by the clock of the reader.
 *  (3) Machines exchange only durations, never times of day, so wall clocks may differ by any
 *      amount. Clocks may run at different rates: LEASE_MARGIN_MS allows 3 %.
 *  (4) An owner is silent only if a read that started after the end of its lease still showed the
 *      old renewal. A reader whose own file system hangs never finds an owner silent.
 *  (5) A request between front ends names a renewal that its front end had read while the client
 *      was waiting. The owner starts to execute it only until `lease_ms` after the start of that
 *      renewal, however long the front end, its machine or the network paused in between.
 *
 * decision: 935 */
#ifndef LAGRA_CLUSTER_LEASE_H
#define LAGRA_CLUSTER_LEASE_H

#include "cluster/owner_record.h"

#define LEASE_MS        3000u
#define LEASE_RENEW_MS  1000u
#define LEASE_MARGIN_MS 100u

/* A machine's observations of a cell's record. Zeroed before the first read. */
struct lease_watch {
    bool has_record;
    struct owner_record record;
    uint64_t changed_ns; /* return of the first read that showed this renewal */
    uint64_t asked_ns;   /* start of the last read */
};

/* Stores the result of a read that started at `asked_ns` and returned at `now_ns`. */
void lease_watch_saw(struct lease_watch *watch, const struct owner_record *record,
                     uint64_t asked_ns, uint64_t now_ns);
/* Returns the time from which a new owner may serve, or 0 if it may serve at once. The watch must
 * have read the record while the lock was held, so that no other machine could write it. */
uint64_t lease_watch_ends(const struct lease_watch *watch);
/* Returns true if the cell has an owner that has stopped renewing (lease invariant 4). */
bool lease_watch_is_silent(const struct lease_watch *watch);

#endif
