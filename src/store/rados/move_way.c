/* Finding the shard in which a partition may be written to. */
#include <stdlib.h>

#include "store/rados/move.h"

struct way {
    struct waiter waiter; /* first */
    struct shards *shards;
    struct arrival *outcome;
    struct partition partition; /* its key on the heap */
    char object[SHARD_NAME_SIZE];
    struct arrival *awaited;
    const struct port_step *bounds_step;
    bool has_moved; /* what was being moved was to be finished */
};

static void look(struct way *w);

static void end(struct waiter *waiter)
{
    struct way *w = (struct way *)(void *)waiter;
    struct arrival *outcome = w->outcome;
    struct shards *shards = w->shards;

    arrival_drop(w->awaited);
    xcopy_free(w->partition.key);
    free(w);
    shards_leave(shards);
    arrival_tell(outcome);
}

static void await(struct way *w, struct arrival *arrival, void (*then)(struct waiter *waiter))
{
    arrival_await(&w->awaited, arrival, &w->waiter, then);
}

static void moved(struct waiter *waiter)
{
    look((struct way *)(void *)waiter);
}

static void looked(struct waiter *waiter)
{
    struct way *w = (struct way *)(void *)waiter;
    enum port_result read = arrival_answer(w->awaited)->result;
    enum store_result result = read == PORT_OK || read == PORT_ABSENT ? STORE_OK : STORE_IO;
    struct shard_bounds bounds = { .is_moving = false };

    if (read == PORT_OK)
        result = shard_bounds_read(port_value(w->bounds_step), &bounds);
    if (read == PORT_OK && !result)
        result = shards_arrive(w->shards, &w->partition, &bounds);
    if (result == STORE_CONFLICT) {
        look(w);
    } else if (result) { /* who asked for it will find that too: not at once, then */
        w->waiter.wake = end;
        port_pause(shards_port(w->shards), MOVE_PAUSE_MS, &w->waiter);
    } else if (shard_bounds_is_moving(&bounds, w->partition.key) && !w->has_moved) {
        w->has_moved = true;
        await(w, move_finish(w->shards, w->object), moved);
    } else {
        end(waiter);
    }
}

static void look(struct way *w)
{
    struct port_op *op = arrival_op();

    shards_place(w->shards, &w->partition, w->object);
    w->bounds_step = port_get(op, row_key_bounds());
    await(w, arrival_send(shards_port(w->shards), w->object, op), looked);
}

struct arrival *move_out_of_way(struct shards *shards, const struct partition *partition)
{
    struct way *w = xcalloc(1, sizeof *w);
    struct arrival *outcome = arrival_new();

    shards_enter(shards);
    w->shards = shards;
    w->outcome = outcome;
    w->partition = (struct partition){ partition->space, xcopy(partition->key) };
    look(w);
    return outcome;
}
