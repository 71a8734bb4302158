/* Kept states (store/states.h); state_return.c returns to one by a commit like any other.
 *
 * A state is a RocksDB snapshot and, if the store can return to it, the keys written since
 * (written.h). Pieces that a commit frees but a state refers to are not returned to the file
 * system. They are put on a list until the last such state is dropped, or until the store returns
 * to one, in which they are in use again. So a kept state costs the space of data overwritten and
 * deleted since then. States end with the process, and the next start frees pieces that only they
 * referred to.
 *
 * Pieces that were freed, but not on the list yet when a return put them in use again, are in the
 * table of pieces put in use again; if an earlier commit freed them, they are not free.
 * decision: 606 */
#ifndef LAGRA_STORE_EMBEDDED_STATES_H
#define LAGRA_STORE_EMBEDDED_STATES_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/freed.h"
#include "store/embedded/keyspace.h"
#include "store/embedded/written.h"
#include "store/store_private.h"

/* Limit for freed pieces that states refer to, and for pieces put in use again; 24 bytes each. The
 * next start frees the pieces beyond it. */
#define STATE_PIECES_MAX (1u << 20)

struct store_state {
    struct store_state *next;
    const rocksdb_snapshot_t *snapshot;
    /* NULL means it is being created, and its contents are not known yet */
    rocksdb_readoptions_t *_Atomic read;
    bool is_shown;          /* read-only: the store does not return to it */
    atomic_bool is_over;    /* a read-only state without readers */
    struct written written; /* under states.written_lock */
};

struct came_back {
    uint32_t extent;
    uint64_t offset;
    uint64_t sequence; /* of the return */
};

struct states {
    struct lock lock; /* held during a return, and while the disk is read */
    struct lock written_lock;
    struct store_state *_Atomic first; /* added under written_lock, removed under both locks */
    atomic_uint count;                 /* states that the store can return to */
    atomic_bool any;                   /* a state has existed */
    atomic_bool any_over;
    /* All below under lock: */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
    struct came_back *back; /* ordered by place */
    size_t back_count, back_capacity;
    /* Pieces freed before this commit may have been put in use again; set if there were too many
     * to list. */
    uint64_t back_before;
    bool is_fewer; /* a state was dropped, so the kept pieces must be checked */
};

struct embedded;

/* Called once reclaim is initialised. */
void states_init(struct embedded *embedded);
/* All states must be dropped or have ended. Called before RocksDB is closed. */
void states_release(struct embedded *embedded);

/* Records the keys of a written batch, before the pieces it freed are passed to reclaim.
 * Thread-safe. */
void states_wrote(struct states *states, rocksdb_writebatch_t *writes);

/* For states that are only read. Neither waits for a disk: the collector frees the state after the
 * second. Thread-safe. */
struct store_state *states_show(struct embedded *embedded);
void states_over(struct embedded *embedded, struct store_state *state);

/* Leaves in `freed`, whose commit is durable, only the pieces that may be returned now. Waits for
 * the disk. Called by the collector. */
void states_take_out(struct embedded *embedded, struct freed *freed);
/* Returns the pieces that were retained for dropped states, which the caller frees, or NULL. Waits
 * for the disk. Called by the collector. */
struct freed *states_let_go(struct embedded *embedded);

/* For the table of operations. */
struct store_state *embedded_keep_state(struct store *store);
void embedded_drop_state(struct store *store, struct store_state *state);
enum store_result embedded_return_to(struct store *store, struct store_state *state,
                                     const struct guid *except, uint64_t *ret_sequence);
/* Implements store_restart_decisions(). */
void embedded_restart_decisions(struct store *store, const struct guid *space);

/* Records pieces, sorted by place, that this commit has put in use again. Caller holds
 * states.lock. */
void states_come_back(struct embedded *embedded, const struct freed_piece *pieces, size_t count,
                      uint64_t sequence);

#endif
