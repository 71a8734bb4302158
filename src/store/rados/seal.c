#include "store/rados/seal.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/shard_rows.h"

struct sealing;

struct lane {
    struct waiter waiter; /* first */
    struct sealing *sealing;
    char object[SHARD_NAME_SIZE];
    struct arrival *arrival;
    struct port_step *bounds;
};

struct sealing {
    struct port *port;
    struct arrival *outcome;
    atomic_uint left;
    struct lane lanes[SPACE_LANES_MAX];
};

static void look(struct lane *lane);

static void end(struct lane *lane)
{
    struct sealing *sealing = lane->sealing;
    struct arrival *outcome = sealing->outcome;

    arrival_drop(lane->arrival);
    if (atomic_fetch_sub(&sealing->left, 1) > 1)
        return;
    free(sealing);
    arrival_tell(outcome);
}

static void send(struct lane *lane, struct port_op *op, void (*then)(struct waiter *waiter))
{
    arrival_drop(lane->arrival);
    lane->arrival = arrival_send(lane->sealing->port, lane->object, op);
    lane->waiter.wake = then;
    arrival_wait(lane->arrival, &lane->waiter);
}

static void sealed(struct waiter *waiter)
{
    struct lane *lane = (struct lane *)(void *)waiter;
    enum port_result result = arrival_answer(lane->arrival)->result;

    if (result == PORT_REFUSED || result == PORT_EXISTS) {
        look(lane);
        return;
    }
    if (result)
        log_line(LOG_ERROR, "shard %s: it cannot be sealed: %s", lane->object,
                 port_result_text(result));
    end(lane);
}

static void looked(struct waiter *waiter)
{
    struct lane *lane = (struct lane *)(void *)waiter;
    enum port_result result = arrival_answer(lane->arrival)->result;
    struct shard_bounds bounds = { .epoch = 0 };
    struct port_op *op;

    if (result == PORT_OK && !shard_bounds_read(port_value(lane->bounds), &bounds)) {
        if (bounds.state == SHARD_SEALED) {
            end(lane);
            return;
        }
    } else if (result != PORT_ABSENT) {
        log_line(LOG_ERROR, "shard %s: it cannot be read", lane->object);
        end(lane);
        return;
    }
    op = arrival_op();
    if (result == PORT_ABSENT)
        port_create(op, true);
    else
        port_compare(op, row_key_bounds(), port_value(lane->bounds));
    bounds.state = SHARD_SEALED;
    bounds.epoch++;
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &bounds));
    send(lane, op, sealed);
}

static void look(struct lane *lane)
{
    struct port_op *op = arrival_op();

    lane->bounds = port_get(op, row_key_bounds());
    send(lane, op, looked);
}

struct arrival *seal_start(struct port *port, const struct guid *space)
{
    struct sealing *sealing = xcalloc(1, sizeof *sealing);
    struct arrival *outcome = arrival_new();
    unsigned lanes = space_lanes(space);

    sealing->port = port;
    sealing->outcome = outcome;
    atomic_init(&sealing->left, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        sealing->lanes[i].sealing = sealing;
        shard_name(space, i, 0, sealing->lanes[i].object);
    }
    for (unsigned i = 0; i < lanes; i++)
        look(&sealing->lanes[i]);
    return outcome;
}
