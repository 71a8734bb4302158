/* Stripes, which order the changes to partitions, and their views.
 *
 * A partition belongs to one of STRIPES stripes by a hash of its name. Commits to a stripe are
 * serialized by its lock. The stripe knows the sequence of its newest change, the partition (hash)
 * of that change, and the sequence of the newest change of any other partition. From these it is
 * known that a partition has not changed since a snapshot; with three partitions in one stripe
 * there can be false conflicts, which are rare and harmless.
 *
 * A view is one RocksDB snapshot for all snapshots of the stripe that were open when it was changed
 * (snapshots.h). Freed pieces are attached to the newest view that can see them, and when that is
 * closed to the next older one that can, so they wait only for snapshots that can see them: store
 * invariant 4. A view sees no piece that was placed after the last of its snapshots was opened. */
#ifndef LAGRA_STORE_EMBEDDED_STRIPES_H
#define LAGRA_STORE_EMBEDDED_STRIPES_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/front_cache.h"
#include "store/embedded/keyspace.h"
#include "store/store_private.h"

#define STRIPES 4096

struct embedded;
struct freed;
struct view;

struct stripe {
    struct lock lock;
    uint64_t sequence;       /* of the newest change; under lock */
    uint64_t other_sequence; /* of the newest change of another partition; under lock */
    instant newest;          /* not before any commit to the stripe, raised by each; under lock */
    uint32_t newest_hash;    /* of the partition of the newest change; under lock */
    struct embedded_snapshot *first; /* open, without a view; under lock */
    struct view *newest_view;        /* NULL means none; under lock */
    struct front_cache *front;       /* of the newest state; NULL means none yet; under lock */
};

struct stripe *stripes_new(void);
void stripes_free(struct stripe *stripes);
/* Returns the hash of a partition, from its prefix in any family. */
uint32_t partition_hash(struct bytes partition_prefix);
static inline struct stripe *stripe_of(struct stripe *stripes, uint32_t hash)
{
    return &stripes[hash % STRIPES];
}

/* Records that changes of a partition were written. prefix: of its keys. Caller holds the stripe's
 * lock. */
void stripe_changed(struct embedded *embedded, struct stripe *stripe, uint32_t hash,
                    uint64_t sequence, struct bytes prefix, const struct changes *changes);

/* Records that a write may have changed all partitions. Caller holds the stripe's lock. */
void stripe_all_changed(struct stripe *stripe, uint64_t sequence);

/* Creates a view of the current state, without holders. Caller holds the stripe's lock. */
struct view *stripe_add_view(struct embedded *embedded, struct stripe *stripe);
/* Adds a holder, which sees pieces before this frontier. Caller holds the stripe's lock. */
void view_hold(struct view *view, uint64_t frontier);
/* Removes a holder. Returns true if it was the last: the caller must call view_free(). Caller holds
 * the stripe's lock. */
bool view_release(struct stripe *stripe, struct view *view);
/* Creates a view of a kept state (states.h), belonging to no stripe, for all its readers, which
 * hold the state. From malloc. */
struct view *view_of_state(const struct store_state *state);
/* Without a lock. */
void view_free(struct embedded *embedded, struct view *view);
const rocksdb_readoptions_t *view_read_options(const struct view *view);
const rocksdb_snapshot_t *view_state(const struct view *view);

/* Called after a write that changed pieces in several stripes, with all locks held, because a piece
 * may have moved from one to another. Pieces freed from now on in one of them are therefore
 * retained until the snapshots from before the write are closed in all of them. */
void stripes_join(struct stripe **stripes, size_t count);
/* The same for all stripes, after a write that may have moved pieces between any of them and freed
 * others, while there are no commits and no snapshots are opened (spaces.h). Attaches the freed
 * pieces so that all snapshots that may see them retain them. Returns false if no snapshot can see
 * them. */
bool stripes_join_all(struct stripe *stripes, struct freed *freed);
/* Attaches the freed pieces of a write to the newest view, with the lock still held. Returns false
 * if no snapshot can see them any more; the caller then passes them to reclaim. */
bool stripe_keep_freed(struct stripe *stripe, struct freed *freed);

#endif
