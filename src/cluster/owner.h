/* A cell that this process owns. A thread renews its lease each second until the cell is released
 * or lost.
 *
 *   acquired  --- owner_start() --->  owned: the tenure holds while renewals succeed in time
 *   owned     --- owner_release() ->  released: the record says so and the lock is free
 *   owned     --- (lost) ---------->  the process must end, because another front end has or may
 *                                     have the cell
 *
 * Each renewal first reads the record and compares its incarnation with ours. The lock is not
 * enough, because a CephFS client that was evicted and reconnects has lost it without notice.
 *
 * If the file system delays a renewal, the tenure lapses by itself. It holds again after the next
 * successful renewal, because no other front end can have written to the cell in between. */
#ifndef LAGRA_CLUSTER_OWNER_H
#define LAGRA_CLUSTER_OWNER_H

#include "base/lock.h"
#include "base/tenure.h"
#include "base/thread.h"
#include "cluster/owner_file.h"

struct owner {
    struct owner_file file;     /* locked */
    struct owner_record record; /* as last written */
    struct tenure tenure;
    /* Called once on the owner's thread when the cell is lost. why: text for the log. */
    void (*lost)(void *context, const char *why);
    void (*renewed)(void *context); /* called on the owner's thread after each renewal */
    void *context;
    struct thread thread;
    atomic_bool ends;
    _Atomic uint64_t used_bytes;   /* to be written to the record */
    atomic_bool serves;            /* set by owner_serves() */
    struct lock lock;              /* RANK_CELLS; protects the next two */
    char move[OWNER_MOVE_MAX + 1]; /* to be written to the record */
    uint32_t keys[NET_KEYS_MAX];   /* the same */
    /* Used by the owner's thread only. */
    /* number of renewals after which the metadata of the file must still be synced */
    unsigned settles;
    bool was_in_time; /* the tenure still held at the last renewal */
    bool has_lapsed;  /* the tenure had lapsed, which was logged */
};

/* Takes over a locked file and our record in it; the write of the record started at `began_ns`
 * (clock_boot_ns()). The tenure starts at once, but the caller must wait for the end of the
 * previous owner's lease before it serves. Returns false if the thread cannot be started. */
bool owner_start(struct owner *owner, struct owner_file *file, const struct owner_record *record,
                 uint64_t began_ns, void (*lost)(void *context, const char *why),
                 void (*renewed)(void *context), void *context);
/* Sets the ids of the keys in the record. Thread-safe. */
void owner_set_keys(struct owner *owner, const uint32_t ids[NET_KEYS_MAX]);
/* Sets the description, in the record, of a move to another cell; "" if there is none.
 * Thread-safe. */
void owner_set_move(struct owner *owner, const char *move);
/* Reports that the store is open, so that renewals no longer sync the metadata of the file.
 * Thread-safe. */
void owner_serves(struct owner *owner);
/* Ends the tenure and the thread, marks the cell as free, and unlocks it. All other writers to the
 * cell must have ended. Main thread. */
void owner_release(struct owner *owner);

#endif
