#include "store/rados/seal.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/move.h"

/* Of what is known of one shard. */
#define SEAL_ARENA_MAX (1u << 20)
/* A move that cannot be finished is given up. */
#define FINISH_MAX     16u

struct sealing;

struct lane {
    struct waiter waiter; /* first */
    struct sealing *sealing;
    unsigned number;
    char object[SHARD_NAME_SIZE]; /* that is to be sealed */
    char other[SHARD_NAME_SIZE];  /* to which partitions are being moved from it */
    struct arrival *arrival;
    struct port_step *bounds_step;
    struct arena *arena;
    struct bytes row;
    struct shard_bounds bounds; /* of the first, as the row says */
    unsigned finished;
};

struct sealing {
    struct shards *shards;
    struct guid space;
    struct arrival *outcome;
    atomic_uint left;
    struct lane lanes[SPACE_LANES_MAX];
};

static void look(struct lane *lane);

static void end(struct lane *lane)
{
    struct sealing *sealing = lane->sealing;
    struct arrival *outcome = sealing->outcome;
    struct shards *shards = sealing->shards;

    arrival_drop(lane->arrival);
    arena_free(lane->arena);
    if (atomic_fetch_sub(&sealing->left, 1) > 1)
        return;
    free(sealing);
    shards_leave(shards);
    arrival_tell(outcome);
}

static void fail(struct lane *lane, const char *why)
{
    log_line(LOG_ERROR, "shard %s: it cannot be sealed: %s", lane->object, why);
    end(lane);
}

static void await(struct lane *lane, struct arrival *arrival, void (*then)(struct waiter *waiter))
{
    arrival_await(&lane->arrival, arrival, &lane->waiter, then);
}

static void send(struct lane *lane, const char *object, struct port_op *op,
                 void (*then)(struct waiter *waiter))
{
    await(lane, arrival_send(shards_port(lane->sealing->shards), object, op), then);
}

/* Whatever was done: it is seen. */
static void changed(struct waiter *waiter)
{
    struct lane *lane = (struct lane *)(void *)waiter;
    enum port_result result = arrival_answer(lane->arrival)->result;

    if (result == PORT_OK || result == PORT_REFUSED || result == PORT_EXISTS)
        look(lane);
    else
        fail(lane, port_result_text(result));
}

/* row: that it has; empty: it is not there. */
static void set_bounds(struct lane *lane, const char *object, struct bytes row,
                       struct shard_bounds bounds)
{
    struct port_op *op = arrival_op();

    if (row.len > 0)
        port_compare(op, row_key_bounds(), row);
    else
        port_create(op, true);
    bounds.state = SHARD_SEALED;
    bounds.epoch++;
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &bounds));
    send(lane, object, op, changed);
}

/* ---- a move that was begun ---- */

static void finished(struct waiter *waiter)
{
    look((struct lane *)(void *)waiter);
}

/* None of those partitions will be moved any more. */
static void forget_move(struct lane *lane)
{
    struct shard_bounds bounds = lane->bounds;

    bounds.is_moving = false;
    bounds.next = bounds.move_to;
    bounds.move_to = 0;
    bounds.move_from = (struct bytes){ NULL, 0 };
    set_bounds(lane, lane->object, lane->row, bounds);
}

static void other_read(struct waiter *waiter)
{
    struct lane *lane = (struct lane *)(void *)waiter;
    enum port_result result = arrival_answer(lane->arrival)->result;
    const struct shard_bounds empty = {
        .is_empty = true, .next = lane->bounds.next, .lo = lane->bounds.hi, .hi = lane->bounds.hi
    };
    struct shard_bounds other;
    struct bytes row;

    if (result == PORT_ABSENT) {
        set_bounds(lane, lane->other, (struct bytes){ NULL, 0 }, empty);
        return;
    }
    row =
        result ? (struct bytes){ NULL, 0 } : arena_copy(lane->arena, port_value(lane->bounds_step));
    if (result || shard_bounds_read(row, &other))
        fail(lane, "the shard behind it cannot be read");
    else if (other.state != SHARD_SEALED)
        set_bounds(lane, lane->other, row, other);
    else if (!shard_bounds_are_filled(&lane->bounds, &other))
        forget_move(lane);
    else if (++lane->finished > FINISH_MAX)
        fail(lane, "a move of partitions cannot be finished");
    else
        await(lane, move_finish(lane->sealing->shards, lane->object), finished);
}

/* ---- one shard after another ---- */

static void looked(struct waiter *waiter)
{
    struct lane *lane = (struct lane *)(void *)waiter;
    const struct guid *space = &lane->sealing->space;
    enum port_result result = arrival_answer(lane->arrival)->result;
    struct port_op *op;

    if (result == PORT_ABSENT && shard_name_is_first(lane->object)) {
        set_bounds(lane, lane->object, (struct bytes){ NULL, 0 },
                   (struct shard_bounds){ .epoch = 0 });
        return;
    }
    if (!result)
        lane->row = arena_copy(lane->arena, port_value(lane->bounds_step));
    if (result || shard_bounds_read(lane->row, &lane->bounds)) {
        fail(lane, "it cannot be read");
    } else if (lane->bounds.state != SHARD_SEALED) {
        set_bounds(lane, lane->object, lane->row, lane->bounds);
    } else if (lane->bounds.is_moving) {
        op = arrival_op();
        shard_name(space, lane->number, lane->bounds.move_to, lane->other);
        lane->bounds_step = port_get(op, row_key_bounds());
        send(lane, lane->other, op, other_read);
    } else if (lane->bounds.next > 0) {
        shard_name(space, lane->number, lane->bounds.next, lane->object);
        look(lane);
    } else {
        end(lane);
    }
}

static void look(struct lane *lane)
{
    struct port_op *op = arrival_op();

    arena_free(lane->arena);
    lane->arena = arena_new(SEAL_ARENA_MAX);
    lane->bounds_step = port_get(op, row_key_bounds());
    send(lane, lane->object, op, looked);
}

struct arrival *seal_start(struct shards *shards, const struct guid *space)
{
    struct sealing *sealing = xcalloc(1, sizeof *sealing);
    struct arrival *outcome = arrival_new();
    unsigned lanes = space_lanes(space);

    shards_enter(shards);
    sealing->shards = shards;
    sealing->space = *space;
    sealing->outcome = outcome;
    atomic_init(&sealing->left, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        sealing->lanes[i].sealing = sealing;
        sealing->lanes[i].number = i;
        shard_name(space, i, 0, sealing->lanes[i].object);
    }
    for (unsigned i = 0; i < lanes; i++)
        look(&sealing->lanes[i]);
    return outcome;
}
