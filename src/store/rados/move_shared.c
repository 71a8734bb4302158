/* One machine of a front end finishes a move for all who wait for that: a partition that many write to is copied once. */
#include <stdlib.h>

#include "store/rados/move.h"

struct waiting {
    struct waiting *next;
    struct arrival *outcome;
};

struct move_shared {
    struct waiter waiter; /* first */
    struct move_shared *next;
    struct shards *shards;
    struct arrival *machine;
    struct waiting *waiting; /* under the lock of the moves */
    char object[SHARD_NAME_SIZE];
};

static void ended(struct waiter *waiter)
{
    struct move_shared *shared = (struct move_shared *)(void *)waiter;
    struct shards *shards = shared->shards;
    struct moves *moves = shards_moves(shards);
    struct move_shared **at = &moves->first;
    struct waiting *waiting;

    lock_take(&moves->lock);
    while (*at != shared)
        at = &(*at)->next;
    *at = shared->next;
    waiting = shared->waiting;
    lock_give(&moves->lock);
    arrival_drop(shared->machine);
    free(shared);
    shards_leave(shards);
    while (waiting) {
        struct waiting *told = waiting;

        waiting = told->next;
        arrival_tell(told->outcome);
        free(told);
    }
}

/* Under the lock. NULL: nobody finishes that one. */
static struct move_shared *find(const struct moves *moves, const char *object)
{
    struct move_shared *shared = moves->first;

    while (shared && strcmp(shared->object, object) != 0)
        shared = shared->next;
    return shared;
}

struct arrival *move_finish(struct shards *shards, const char *object)
{
    struct moves *moves = shards_moves(shards);
    struct move_shared *shared, *begun = NULL;
    struct waiting *waiting = xcalloc(1, sizeof *waiting);
    struct arrival *outcome = waiting->outcome = arrival_new();

    lock_take(&moves->lock);
    shared = find(moves, object);
    if (!shared) {
        shared = begun = xcalloc(1, sizeof *begun);
        begun->waiter.wake = ended;
        begun->shards = shards;
        memcpy(begun->object, object, SHARD_NAME_SIZE);
        begun->next = moves->first;
        moves->first = begun;
    }
    waiting->next = shared->waiting;
    shared->waiting = waiting;
    lock_give(&moves->lock);
    if (begun) {
        shards_enter(shards);
        begun->machine = move_start(shards, object);
        arrival_wait(begun->machine, &begun->waiter);
    }
    return outcome;
}
