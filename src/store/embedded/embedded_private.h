/* Internal to store/embedded/: the embedded store. README.md shows how the parts work together.
 *
 * Order of locks: lock of a space, then base/lock.h's ranks: stripe, set of cached records,
 * extents, reclaim, syncers and collector, I/O pool. */
#ifndef LAGRA_STORE_EMBEDDED_EMBEDDED_PRIVATE_H
#define LAGRA_STORE_EMBEDDED_EMBEDDED_PRIVATE_H

#include <stdatomic.h>

#include "store/embedded/collector.h"
#include "store/embedded/commit.h"
#include "store/embedded/cursor.h"
#include "store/embedded/disk_space.h"
#include "store/embedded/extent_syncer.h"
#include "store/embedded/extents.h"
#include "store/embedded/freed.h"
#include "store/embedded/io_pool.h"
#include "store/embedded/keyspace.h"
#include "store/embedded/manifest_guard.h"
#include "store/embedded/record_cache.h"
#include "store/embedded/record_seal.h"
#include "store/embedded/recovery.h"
#include "store/embedded/snapshots.h"
#include "store/embedded/spaces.h"
#include "store/embedded/stage.h"
#include "store/embedded/stage_hash.h"
#include "store/embedded/states.h"
#include "store/embedded/space_watch.h"
#include "store/embedded/syncer.h"
#include "store/embedded/table_keeper.h"
#include "store/embedded/table_proof.h"
#include "store/embedded/verified.h"
#include "store/store_private.h"

struct embedded {
    struct store store;
    struct deferred deferred;
    int lock_file;        /* held locked while open */
    char *backup_records; /* the path of backup.h */
    int synced;           /* the file with the records of the syncer and the guard */
    bool sync;
    atomic_bool failed;           /* store invariant 6 */
    atomic_bool starved;          /* store_wants_reopening() */
    atomic_bool announced;        /* the failure has been logged */
    void (*when_failed)(void);    /* store_options; may be NULL */
    _Atomic size_t ending_stages; /* closed, but still used by a thread */
    _Atomic int64_t piece_bytes;  /* referenced by records */
    _Atomic instant clock_ahead;  /* the newest clock row in the key space; see commit.c */
    struct clock_checkpoint clock_checkpointed; /* see embedded_checkpoint_clock() */
    instant newest_at_start; /* at least that of every commit before this start; immutable */
    struct disk_space space;
    struct keyspace keyspace;
    struct spaces spaces;
    struct stripe *stripes;
    struct record_cache *records;
    struct record_sealer *sealer; /* NULL if not encrypted at rest */
    struct manifest_guard guard;
    struct table_proof tables;
    struct table_keeper keeper;
    struct syncer syncer;
    struct extents extents;
    struct io_pool io;
    struct stage_hasher hasher;
    struct extent_syncer extent_syncer;
    struct verified verified;
    struct reclaim reclaim;
    struct states states;
    struct space_watch watch;
    struct recovery recovery;
    struct collector collector;
};

static inline struct embedded *embedded_of(struct store *store)
{
    return (struct embedded *)store;
}

/* Records that a write or sync failed, which is final. Logs it once, and wakes all waiters.
 * Thread-safe. Caller must hold no lock. (health.c) */
void embedded_fail(struct embedded *embedded);
/* Records that a table of records is damaged. This is final too, so that its contents are no longer
 * used. Thread-safe. Caller must hold no lock. (health.c) */
void embedded_damaged(void *embedded);
/* Records that RocksDB refused a write, and will refuse all others, because it could not get a
 * descriptor or memory. The write did nothing, and earlier ones will still be flushed and synced.
 * Logs it once. Thread-safe. (health.c) */
void embedded_starve(struct embedded *embedded);
/* For the table of operations (frozen.c). */
struct frozen_state *embedded_freeze(struct store *store, uint64_t *ret_sequence);
void embedded_thaw(struct store *store, struct frozen_state *frozen);
struct cursor *embedded_frozen_cursor(struct store *store, struct frozen_state *frozen,
                                      const struct guid *space, struct bytes end,
                                      struct store_access access);
enum store_result embedded_frozen_count(struct store *store, struct frozen_state *frozen,
                                        const struct guid *space, struct bytes key,
                                        struct store_access access, int64_t *ret_sum);
struct read_view *embedded_frozen_snapshot(struct store *store, struct frozen_state *frozen,
                                           struct partition partition);
/* store_inspect() (inspect.c) */
enum store_result embedded_inspect(struct store *store, inspect_visit *visit, inspect_say *say,
                                   void *context);

/* Implements store_figures(). Thread-safe. */
bool embedded_figures(struct store *store, struct store_figures *ret_figures);
/* Implements store_collect_now(). (figures.c) */
void embedded_collect_now(struct store *store, struct store_usage *ret_usage);

#endif
