/* Returns the bytes of freed pieces to the file system, once the commit that freed them is
 * durable and (stripes.h) nobody can see them. */
#ifndef LAGRA_STORE_EMBEDDED_RECLAIM_H
#define LAGRA_STORE_EMBEDDED_RECLAIM_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/store.h"

struct freed_piece {
    uint32_t extent;
    uint32_t length;
    uint64_t offset;
};

/* What one commit freed. */
struct freed {
    struct freed *next;
    uint64_t sequence; /* of the commit; 0: no commit ever referred to these pieces */
    size_t count;
    struct freed_piece pieces[];
};

struct embedded;

struct reclaim {
    struct lock lock;
    struct freed *waiting;        /* under lock */
    void (*added)(void *context); /* called without the lock */
    void *context;
    /* Of states that are kept (states.h). Leaves in `freed` what may be given back now; what was kept for states that
     * are dropped, which the caller frees, or NULL. Both wait for the disk. */
    void (*take_out)(struct embedded *embedded, struct freed *freed);
    struct freed *(*let_go)(struct embedded *embedded);
    _Atomic uint64_t
        pending_bytes;        /* freed and not yet given back, also those not yet given here */
    _Atomic size_t under_way; /* what commits freed, until all of it was given back or is kept */
    /* Durable, and nobody sees them, but a backup holds their extents (extents.h). Of the collector. */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
};
/* When there are more, 64 MiB of memory, the backup has lost its hold. */
#define RECLAIM_KEPT_MAX (4u << 20)

void reclaim_init(struct reclaim *reclaim, void (*added)(void *context), void *context);
/* Forgets what waits: the next start finds it by the index of pieces. */
void reclaim_release(struct reclaim *reclaim);

/* With room for some pieces, none yet. */
struct freed *freed_new(size_t room);
/* Its commit is done: it counts as pending. */
void freed_count(struct reclaim *reclaim, const struct freed *freed);
/* A piece of it is not to be given back now. */
void freed_uncount(struct reclaim *reclaim, const struct freed_piece *piece);
/* Takes a list over (NULL: none). Any thread. */
void reclaim_add(struct reclaim *reclaim, struct freed *freed);
/* Punches what may go by now. Returns true when something still waits. Waits for the disk.
 * Collector. */
bool reclaim_step(struct embedded *embedded);
/* Room is needed: punches what a backup holds no longer and, if it holds anything else, takes its hold
 * from it, and punches that too. Collector. */
void reclaim_press(struct embedded *embedded);

#endif
