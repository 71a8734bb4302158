/* Pieces that commits have freed, and that wait until the commit is durable and (stripes.h) nobody can see them:
 * reclaim.h returns them to the file system. */
#ifndef LAGRA_STORE_EMBEDDED_FREED_H
#define LAGRA_STORE_EMBEDDED_FREED_H

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

struct reclaim {
    struct lock lock;
    struct freed *waiting;        /* under lock */
    void (*added)(void *context); /* called without the lock */
    void *context;
    _Atomic uint64_t
        pending_bytes;        /* freed and not yet given back, also those not yet given here */
    _Atomic size_t under_way; /* what commits freed, until all of it was given back or is kept */
    /* Durable, and nobody sees them, but a backup holds their extents (extents.h). Of the collector. */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
};
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
#endif
