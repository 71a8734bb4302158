/* Snapshots of partitions, and reads in them.
 *
 * A snapshot costs nothing in RocksDB as long as its stripe does not change: it reads the newest
 * state. A writer that is about to change the stripe first creates a view for all open snapshots of
 * the stripe (its own is spent by the commit). A reader that finds after a read that its snapshot
 * has got a view repeats the read in the view. */
#ifndef LAGRA_STORE_EMBEDDED_SNAPSHOTS_H
#define LAGRA_STORE_EMBEDDED_SNAPSHOTS_H

#include <stdatomic.h>

#include "store/embedded/stripes.h"

struct embedded_snapshot {
    struct read_view snapshot;
    struct stripe *stripe;
    uint32_t hash;                             /* of the partition */
    struct embedded_snapshot *next, *previous; /* in the stripe's list; under its lock */
    uint64_t frontier;                         /* of the extents when it was opened */
    struct view *_Atomic view;                 /* set once, under the stripe's lock */
    uint32_t round;                            /* of spaces, when it was opened */
    bool is_frozen;                            /* of a frozen state, which has the view */
    bool committing; /* its commit is about to write; under the stripe's lock */
    bool spent;      /* its commit is done; owner's thread */
    char prefix[];
};

/* Returns true if the snapshot's partition may have changed since. Caller holds the stripe's
 * lock. */
bool snapshot_is_old(const struct embedded_snapshot *snapshot);
/* For the table of operations. */
struct read_view *embedded_snapshot_open(struct store *store, struct partition partition);
void embedded_snapshot_close(struct read_view *snapshot);
bool embedded_snapshot_is_newest(const struct read_view *snapshot);
enum store_result embedded_get(struct read_view *snapshot, struct bytes key, struct arena *arena,
                               struct record *ret_record);

/* Opens a read-only snapshot in a view of a frozen state, which remains the caller's. */
struct read_view *embedded_snapshot_of_view(struct store *store, struct partition partition,
                                            struct view *view);

/* Returns the cached record, or the cached fact that it does not exist. Returns false if it is not
 * cached, or the stripe has changed since the snapshot. */
bool snapshot_get_kept(struct embedded_snapshot *snapshot, struct bytes key, struct arena *arena,
                       struct record *ret_record, enum store_result *ret_result);
/* Caches a record read in the snapshot's state, if that is the newest; value.ptr NULL means the
 * record does not exist. */
void snapshot_keep(struct embedded_snapshot *snapshot, struct bytes key, struct bytes value);
/* Replaces a value from RocksDB by the decrypted one, in the arena, if values are encrypted.
 * Returns STORE_OK, STORE_CORRUPT (logged). */
enum store_result snapshot_unseal(const struct embedded_snapshot *snapshot, struct bytes key,
                                  struct arena *arena, struct bytes *value);

/* Returns the state to read at this moment: that of the view, or NULL for the newest. */
const rocksdb_snapshot_t *snapshot_state(const struct embedded_snapshot *snapshot);

/* Gives a view to all snapshots of the newest state except those that are committing; called by a
 * writer before it writes, under the stripe's lock. Harmless if nothing is then written. */
void stripe_give_view(struct embedded *embedded, struct stripe *stripe);
/* Marks the committing snapshot as spent; called after the write, under the stripe's lock. */
void snapshot_spend(struct embedded_snapshot *snapshot);
#endif
