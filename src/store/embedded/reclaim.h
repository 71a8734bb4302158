/* Returns the bytes of freed pieces to the file system once the commit that freed them is durable
 * and (stripes.h) no snapshot sees them. */
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

/* Pieces freed by one commit. */
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
    /* For kept states (states.h). take_out() leaves in `freed` what may be returned now; let_go()
     * returns what was only kept for dropped states, which the caller frees, or NULL. Both wait for
     * the disk. */
    void (*take_out)(struct embedded *embedded, struct freed *freed);
    struct freed *(*let_go)(struct embedded *embedded);
    _Atomic uint64_t pending_bytes; /* freed, but not yet returned or even passed to reclaim */
    _Atomic size_t under_way;       /* freed by commits and not yet completely returned or kept */
    /* Durable and unseen, but in extents held by a backup (extents.h). Used by the collector. */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
};
/* If there are more, 64 MiB of memory, the backup loses its hold. */
#define RECLAIM_KEPT_MAX (4u << 20)

void reclaim_init(struct reclaim *reclaim, void (*added)(void *context), void *context);
/* Discards what is waiting: the next start finds it by the index of pieces. */
void reclaim_release(struct reclaim *reclaim);

/* Allocates an empty list with room for some pieces. */
struct freed *freed_new(size_t room);
/* Counts the list as pending; called when its commit is done. */
void freed_count(struct reclaim *reclaim, const struct freed *freed);
/* Excludes a piece of it that is not returned now. */
void freed_uncount(struct reclaim *reclaim, const struct freed_piece *piece);
/* Takes over a list (NULL: none). Any thread. */
void reclaim_add(struct reclaim *reclaim, struct freed *freed);
/* Punches what is allowed by now. Returns true if something is still waiting. Waits for the disk.
 * Collector. */
bool reclaim_step(struct embedded *embedded);
/* Makes room: punches what a backup no longer holds and, if it still holds anything, ends its hold
 * and punches that too. Collector. */
void reclaim_press(struct embedded *embedded);

#endif
