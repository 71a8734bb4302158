/* Stripes, which order the changes to partitions, and their views.
 *
 * A partition belongs to one of STRIPES stripes by a hash of its name. Commits to a stripe follow
 * each other under its lock. The stripe knows the sequence of its newest change, which partition
 * (hash) that was of, and the sequence of the newest change of any other one. So a partition is
 * unchanged since a snapshot if what the stripe knows says so; three partitions of one stripe may
 * make each other decide again, which is rare and harmless.
 *
 * A view is one RocksDB snapshot for all who had snapshots of the stripe open when it was changed
 * (snapshots.h). Freed pieces hang on the newest view that can see them, and when that goes on the
 * next older one that can, so they wait only for snapshots that can see them: store invariant 4. A
 * view sees no piece that got its place after the last of its snapshots was opened. */
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
    uint64_t other_sequence; /* of the newest one of another partition; under lock */
    instant newest;          /* not below any commit to the stripe, raised by each; under lock */
    uint32_t newest_hash;    /* of the partition of the newest change; under lock */
    struct embedded_snapshot *first; /* open, without a view; under lock */
    struct view *newest_view;        /* NULL: none; under lock */
    struct front_cache *front;       /* of the newest state; NULL: none yet; under lock */
};

struct stripe *stripes_new(void);
void stripes_free(struct stripe *stripes);
/* Of a partition, by its prefix in any family. */
uint32_t partition_hash(struct bytes partition_prefix);
static inline struct stripe *stripe_of(struct stripe *stripes, uint32_t hash)
{
    return &stripes[hash % STRIPES];
}

/* Changes of a partition were written; prefix: of its keys. Under the stripe's lock. */
void stripe_changed(struct embedded *embedded, struct stripe *stripe, uint32_t hash,
                    uint64_t sequence, struct bytes prefix, const struct changes *changes);

/* All partitions may have been changed by this write. Under the stripe's lock. */
void stripe_all_changed(struct stripe *stripe, uint64_t sequence);

/* A new view of the state as it is now, without holders. Under the stripe's lock. */
struct view *stripe_add_view(struct embedded *embedded, struct stripe *stripe);
/* One holder more, which sees pieces before this frontier. Under the stripe's lock. */
void view_hold(struct view *view, uint64_t frontier);
/* Removes one holder. True if it was the last: the view is the caller's, for view_free().
 * Under the stripe's lock. */
bool view_release(struct stripe *stripe, struct view *view);
/* Of a state that is kept (states.h), and of no stripe, for all who read that: they hold the state. From malloc. */
struct view *view_of_state(const struct store_state *state);
/* Without a lock. */
void view_free(struct embedded *embedded, struct view *view);
const rocksdb_readoptions_t *view_read_options(const struct view *view);
const rocksdb_snapshot_t *view_state(const struct view *view);

/* After a write that changed pieces in several stripes, all locks still held: a piece may have moved
 * from one to another. So what is freed from now on in one of them is kept until the snapshots from
 * before the write are closed in all of them. */
void stripes_join(struct stripe **stripes, size_t count);
/* The same of all stripes, after a write that may have moved pieces between any of them and freed others, while nobody
 * opens snapshots or commits (spaces.h). Hangs what was freed where all who may see it keep it. False: nobody can. */
bool stripes_join_all(struct stripe *stripes, struct freed *freed);
/* After the write, the lock still held: hangs what it freed on the newest view. False when nobody
 * can see it any longer: the caller hands it to reclaim. */
bool stripe_keep_freed(struct stripe *stripe, struct freed *freed);

#endif
