/* Pieces freed by commits. They wait until the commit is durable and no reader can see them (stripes.h);
 * then reclaim.h returns them to the file system. */
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

/* Pieces freed by one commit. */
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
    _Atomic uint64_t pending_bytes; /* freed, but not yet returned or even passed to reclaim */
    _Atomic size_t under_way;       /* freed by commits and not yet completely returned or kept */
    /* Durable and unseen, but in extents held by a backup (extents.h). Used by the collector. */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
};

void reclaim_init(struct reclaim *reclaim, void (*added)(void *context), void *context);
/* Discards what is waiting: the next start finds it by the index of pieces. */
void reclaim_release(struct reclaim *reclaim);

/* Allocates an empty list with space for some pieces. */
struct freed *freed_new(size_t room);
/* Counts the list as pending; called when its commit is done. */
void freed_count(struct reclaim *reclaim, const struct freed *freed);
/* Excludes a piece of it that is not returned now. */
void freed_uncount(struct reclaim *reclaim, const struct freed_piece *piece);
/* Takes over a list, if not NULL. Thread-safe. */
void reclaim_add(struct reclaim *reclaim, struct freed *freed);

#endif
