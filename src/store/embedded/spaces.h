/* The dropped spaces, and the locks of all spaces: a commit holds the lock of its space shared, and
 * of each space that it drops alone; so no commit to a space is under way while it is dropped, and
 * after that none begins.
 *
 * A lock is taken before the lock of a stripe. A space stays known as dropped until the next start
 * (20 odd bytes each), since a request may have read its id before. */
#ifndef LAGRA_STORE_EMBEDDED_SPACES_H
#define LAGRA_STORE_EMBEDDED_SPACES_H

#include <pthread.h>

#include "store/store.h"

#define SPACE_LOCKS 64

struct dropped_space {
    struct guid space;
    uint64_t sequence; /* of the drop; 0: no entry */
};

struct space_lock {
    pthread_rwlock_t lock;
    struct dropped_space *dropped; /* open addressing; under the lock */
    size_t count;
    size_t capacity; /* 0 or a power of 2 */
};

struct spaces {
    struct space_lock locks[SPACE_LOCKS];
};

void spaces_init(struct spaces *spaces);
void spaces_release(struct spaces *spaces);

void spaces_enter(struct spaces *spaces, const struct guid *space);
void spaces_leave(struct spaces *spaces, const struct guid *space);
/* As above, and alone in those given; taken in one order, so nobody waits for each other. */
void spaces_enter_to_drop(struct spaces *spaces, const struct guid *space,
                          const struct guid *dropped, size_t count);
void spaces_leave_dropped(struct spaces *spaces, const struct guid *space,
                          const struct guid *dropped, size_t count);

/* The sequence of the drop, 0 when it is not dropped. The caller is inside the lock. */
uint64_t spaces_dropped_at(const struct spaces *spaces, const struct guid *space);
/* The caller is alone inside the lock. */
void spaces_add_dropped(struct spaces *spaces, const struct guid *space, uint64_t sequence);

#endif
