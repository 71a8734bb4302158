/* Snapshots of partitions, and what is read in them.
 *
 * A snapshot costs nothing in RocksDB as long as nobody changes its stripe: it reads the newest
 * state. The writer that is about to change the stripe first makes a view for all who have snapshots
 * of the stripe open (its own is spent by the commit). A reader that finds after a read that it has
 * got a view meanwhile reads again, in the view. */
#ifndef LAGRA_STORE_EMBEDDED_SNAPSHOTS_H
#define LAGRA_STORE_EMBEDDED_SNAPSHOTS_H

#include <stdatomic.h>

#include "store/embedded/stripes.h"

struct embedded_snapshot {
    struct snapshot snapshot;
    struct stripe *stripe;
    uint32_t hash;                             /* of the partition */
    struct embedded_snapshot *next, *previous; /* in the stripe's list; under its lock */
    uint64_t frontier;                         /* of the extents when it was opened */
    struct view *_Atomic view;                 /* set once, under the stripe's lock */
    uint32_t round;                            /* of spaces, when it was opened */
    struct lag_state *shown; /* of a view that lags, which holds it; NULL: of no such view */
    bool committing;         /* its commit is about to write; under the stripe's lock */
    bool spent;              /* its commit is done; owner's thread */
    char prefix[];
};

/* Whether the snapshot's partition may have changed since. Under the stripe's lock. */
bool snapshot_is_old(const struct embedded_snapshot *snapshot);
/* For the table of operations. */
struct snapshot *embedded_snapshot_open(struct store *store, struct partition partition);
void embedded_snapshot_close(struct snapshot *snapshot);
bool embedded_snapshot_is_newest(const struct snapshot *snapshot);
enum store_result embedded_get(struct snapshot *snapshot, struct bytes key, struct arena *arena,
                               struct record *ret_record);

/* Of a view that lags, which shows that state: the snapshot holds it. It is for reading alone. */
struct snapshot *embedded_snapshot_of_state(struct store *store, struct partition partition,
                                            struct lag_state *state);

/* Returns the record, or that it does not exist, as cached. False: it is not kept, or the stripe has
 * changed since the snapshot. */
bool snapshot_get_kept(struct embedded_snapshot *snapshot, struct bytes key, struct arena *arena,
                       struct record *ret_record, enum store_result *ret_result);
/* Keeps what was read of the snapshot's state in memory, as far as that is the newest; value.ptr NULL:
 * it does not exist. */
void snapshot_keep(struct embedded_snapshot *snapshot, struct bytes key, struct bytes value);

/* The state to read, as it is now: of the view, or NULL for the newest. */
const rocksdb_snapshot_t *snapshot_state(const struct embedded_snapshot *snapshot);

/* For a writer that holds the stripe's lock and is about to write: gives a view to all snapshots of
 * the newest state but those that are committing. Harmless if nothing is written then. */
void stripe_give_view(struct embedded *embedded, struct stripe *stripe);
/* After the write, the stripe's lock still held: the snapshot that is committing is spent. */
void snapshot_spend(struct embedded_snapshot *snapshot);
#endif
