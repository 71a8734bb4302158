/* Snapshots of partitions, and the stripes that order the changes to partitions.
 *
 * A partition belongs to one of STRIPES stripes by a hash of its name. Commits to a stripe follow
 * each other under its lock. The stripe knows the sequence of its newest change, which partition
 * (hash) that was of, and the sequence of the newest change of any other one. So a partition is
 * unchanged since a snapshot if what the stripe knows says so; three partitions of one stripe may
 * make each other decide again, which is rare and harmless.
 *
 * A snapshot costs nothing in RocksDB as long as nobody changes its stripe: it reads the newest
 * state. The writer that is about to change the stripe first makes a view, one RocksDB snapshot for
 * all who have snapshots of the stripe open (its own is spent by the commit). A reader that finds
 * after a read that it has got a view meanwhile reads again, in the view.
 *
 * Freed pieces hang on the newest view that can see them, and when that goes on the next older one
 * that can, so they wait only for snapshots that can see them: store invariant 4. A view sees no
 * piece that got its place after the last of its snapshots was opened. */
#ifndef LAGRA_STORE_EMBEDDED_SNAPSHOTS_H
#define LAGRA_STORE_EMBEDDED_SNAPSHOTS_H

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
    uint64_t sequence;               /* of the newest change; under lock */
    uint64_t other_sequence;         /* of the newest one of another partition; under lock */
    instant newest;                  /* of any commit to the stripe; under lock */
    uint32_t newest_hash;            /* of the partition of the newest change; under lock */
    struct embedded_snapshot *first; /* open, without a view; under lock */
    struct view *newest_view;        /* NULL: none; under lock */
    struct front_cache *front;       /* of the newest state; NULL: none yet; under lock */
};

struct embedded_snapshot {
    struct snapshot snapshot;
    struct stripe *stripe;
    uint32_t hash;                             /* of the partition */
    struct embedded_snapshot *next, *previous; /* in the stripe's list; under its lock */
    uint64_t frontier;                         /* of the extents when it was opened */
    struct view *_Atomic view;                 /* set once, under the stripe's lock */
    uint32_t round;                            /* of spaces, when it was opened */
    uint64_t seen;   /* of an owner: the newest sequence of all when it was opened */
    bool committing; /* its commit is about to write; under the stripe's lock */
    bool spent;      /* its commit is done; owner's thread */
    char prefix[];
};

struct stripe *stripes_new(void);
void stripes_free(struct stripe *stripes);
/* Of a partition, by its prefix in any family. */
uint32_t partition_hash(struct bytes partition_prefix);
static inline struct stripe *stripe_of(struct stripe *stripes, uint32_t hash)
{
    return &stripes[hash % STRIPES];
}

/* Whether the snapshot's partition may have changed since. Under the stripe's lock. */
bool snapshot_is_old(const struct embedded_snapshot *snapshot);
/* Changes of a partition were written; prefix: of its keys. Under the stripe's lock. */
void stripe_changed(struct embedded *embedded, struct stripe *stripe, uint32_t hash,
                    uint64_t sequence, struct bytes prefix, const struct changes *changes);

/* For the table of operations. */
struct snapshot *embedded_snapshot_open(struct store *store, struct partition partition,
                                        enum snapshot_kind kind);
void embedded_snapshot_close(struct snapshot *snapshot);
enum store_result embedded_get(struct snapshot *snapshot, struct bytes key, struct arena *arena,
                               struct record *ret_record);

/* The record, or that there is none, as it is kept in memory. False: it is not kept, or the stripe has
 * changed since the snapshot. */
bool snapshot_get_kept(struct embedded_snapshot *snapshot, struct bytes key, struct arena *arena,
                       struct record *ret_record, enum store_result *ret_result);
/* Keeps what was read of the snapshot's state in memory, as far as that is the newest; value.ptr NULL:
 * there is none. */
void snapshot_keep(struct embedded_snapshot *snapshot, struct bytes key, struct bytes value);

/* The state to read, as it is now: of the view, or NULL for the newest. */
const rocksdb_snapshot_t *snapshot_state(const struct embedded_snapshot *snapshot);

/* For a writer that holds the stripe's lock and is about to write: gives a view to all snapshots of
 * the newest state but those that are committing. Harmless if nothing is written then. */
void stripe_give_view(struct embedded *embedded, struct stripe *stripe);
/* After the write, the stripe's lock still held: the snapshot that is committing is spent. */
void snapshot_spend(struct embedded_snapshot *snapshot);
/* After a write that changed pieces in several stripes, all locks still held: a piece may have moved
 * from one to another. So what is freed from now on in one of them is kept until the snapshots from
 * before the write are closed in all of them. */
void stripes_join(struct stripe **stripes, size_t count);
/* After the write, the lock still held: hangs what it freed on the newest view. False when nobody
 * can see it any longer: the caller hands it to reclaim. */
bool stripe_keep_freed(struct stripe *stripe, struct freed *freed);

#endif
