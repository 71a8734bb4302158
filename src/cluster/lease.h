/* The arithmetic of leases on cells: when a new owner may serve, and when an old one counts as
 * silent. Pure; times are clock_boot_ns() of the machine that calls.
 *
 * Invariants, cited as "lease invariant N":
 *  (1) An owner sends responses until `lease_ms` after the start of its last successful renewal.
 *  (2) A renewal that another machine reads was started before that read returned. So the owner's
 *      right ends at most `lease_ms` after the return of the first read that showed the renewal,
 *      by the clock of the reader.
 *  (3) Only durations cross from one machine to another, never times of day, so wall clocks may
 *      differ by any amount. Clocks may run at different rates: LEASE_MARGIN_MS allows 3 %.
 *  (4) An owner is silent only if a read that started after the end of its lease still showed the
 *      old renewal. A reader whose own file system hangs never finds an owner silent.
 *
 * decision: 935 */
#ifndef LAGRA_CLUSTER_LEASE_H
#define LAGRA_CLUSTER_LEASE_H

#include "cluster/owner_record.h"

#define LEASE_MS        3000u
#define LEASE_RENEW_MS  1000u
#define LEASE_MARGIN_MS 100u

/* What a machine has seen of the record of a cell. Zeroed: nothing yet. */
struct lease_watch {
    bool has_record;
    struct owner_record record;
    uint64_t changed_ns; /* the return of the first read that showed this renewal */
    uint64_t asked_ns;   /* the start of the last read */
};

/* Notes the result of a read that started at `asked_ns` and returned at `now_ns`. */
void lease_watch_saw(struct lease_watch *watch, const struct owner_record *record,
                     uint64_t asked_ns, uint64_t now_ns);
/* Returns the time from which a new owner may serve, given that the watch has read the record
 * after the lock was acquired, when no other machine can write it; 0 if it may serve at once. */
uint64_t lease_watch_ends(const struct lease_watch *watch);
/* Returns whether the cell has an owner that has stopped renewing (lease invariant 4). */
bool lease_watch_is_silent(const struct lease_watch *watch);

#endif
