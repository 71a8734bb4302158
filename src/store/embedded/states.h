/* States that are kept (store/states.h), and gone back to by a commit like any other: state_return.c.
 *
 * A state is a RocksDB snapshot, and, if it may be gone back to, the keys that were written since (written.h). What a commit frees and a state
 * refers to is not given back to the file system: it goes on a list instead, until the last such state is dropped, or
 * gone back to, where it is in use again. So to keep a state costs what was overwritten and deleted since; states end
 * with the process, and a start gives back what only they had.
 *
 * What was freed, and was on its way to the list when a return put it in use again, is in the table of what came back:
 * what was freed by a commit before that is free no longer. decision: 606 */
#ifndef LAGRA_STORE_EMBEDDED_STATES_H
#define LAGRA_STORE_EMBEDDED_STATES_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/freed.h"
#include "store/embedded/keyspace.h"
#include "store/embedded/written.h"
#include "store/store_private.h"

/* Freed pieces that states refer to, and pieces that came back; 24 bytes each. What is more than that is given back by
 * the next start. */
#define STATE_PIECES_MAX (1u << 20)

struct store_state {
    struct store_state *next;
    const rocksdb_snapshot_t *snapshot;
    rocksdb_readoptions_t *_Atomic read; /* NULL: it begins, and what is in it is not known yet */
    bool is_shown;                       /* for reading alone */
    atomic_bool is_over;                 /* such a one, which nobody reads any longer */
    struct written written;              /* under states.written_lock */
};

struct came_back {
    uint32_t extent;
    uint64_t offset;
    uint64_t sequence; /* of the return */
};

struct states {
    struct lock lock; /* held over a return, and while the disk is read */
    struct lock written_lock;
    struct store_state
        *_Atomic first; /* added to under written_lock, taken from under both locks */
    atomic_uint count;  /* that may be gone back to */
    atomic_bool any;    /* there was one at some time */
    atomic_bool any_over;
    /* All below under lock. */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
    struct came_back *back; /* by their places */
    size_t back_count, back_capacity;
    uint64_t
        back_before; /* what was freed before this commit may have come back: there were too many */
    bool is_fewer;   /* a state was dropped: what is kept is to be looked through */
};

struct embedded;

/* Once reclaim is there. */
void states_init(struct embedded *embedded);
/* All states are dropped, or over. Before RocksDB is closed. */
void states_release(struct embedded *embedded);

/* A batch was written; before anything that it freed is given to reclaim. Any thread. */
void states_wrote(struct states *states, rocksdb_writebatch_t *writes);

/* For reading alone. The first waits for no disk; nor does the second, whose work is the collector's. Any thread. */
struct store_state *states_show(struct embedded *embedded);
void states_over(struct embedded *embedded, struct store_state *state);

/* Leaves in `freed`, whose commit is durable, what may be given back now. Waits for the disk. Collector. */
void states_take_out(struct embedded *embedded, struct freed *freed);
/* Returns what was kept for states that are dropped, which the caller frees; or NULL. Waits for the disk. Collector. */
struct freed *states_let_go(struct embedded *embedded);

/* For the table of operations. */
struct store_state *embedded_keep_state(struct store *store);
void embedded_drop_state(struct store *store, struct store_state *state);
enum store_result embedded_return_to(struct store *store, struct store_state *state,
                                     const struct guid *except, uint64_t *ret_sequence);

/* Pieces, sorted by their places, that are in use again by this commit. Under states.lock. */
void states_come_back(struct embedded *embedded, const struct freed_piece *pieces, size_t count,
                      uint64_t sequence);

#endif
