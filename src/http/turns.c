/* The callbacks for net/: runs a connection's steps, and holds a worker's state. */
#include "http/http_private.h"

#include <assert.h>
#include <stdlib.h>

static struct http_connection *http_of(struct connection *connection)
{
    return (struct http_connection *)(void *)connection;
}

static void *worker_new(void)
{
    struct http_worker *worker = xcalloc(1, sizeof *worker);

    worker->head = xmalloc(ANSWER_HEAD_BYTES);
    return worker;
}

static void worker_free(void *state)
{
    struct http_worker *worker = state;

    assert(worker->spare_count <= WORKER_SPARES);
    while (worker->spare_count > 0)
        arena_free(worker->spares[--worker->spare_count]);
    free(worker->head);
    free(worker);
}

static void begin(struct connection *connection)
{
    struct http_connection *c = http_of(connection);

    c->server = connection_context(connection);
    c->worker = connection_worker_state(connection);
    c->worker->application = c->server->application;
}

/* Runs steps until the connection's turn is used up. A step handles a header section, a run of a
 * body, or a block of a response. */
static enum turn take_turn(struct connection *connection)
{
    struct http_connection *c = http_of(connection);
    unsigned steps = connection_turn_steps(connection);
    enum turn turn = TURN_GOES_ON;

    if (c->is_paused)
        return TURN_WAITS;
    for (unsigned i = 0; i < steps && turn == TURN_GOES_ON; i++)
        turn = exchange_step(c);
    return turn;
}

static void posted(struct connection *connection)
{
    struct http_connection *c = http_of(connection);

    assert(c->is_paused);
    c->is_paused = false;
}

static void round_over(void *state)
{
    const struct http_worker *worker = state;

    if (worker->application && worker->application->round)
        worker->application->round();
}

static void end(struct connection *connection)
{
    struct http_connection *c = http_of(connection);

    assert(!c->is_paused); /* private invariant 2 */
    exchange_over(c);
}

const struct net_protocol http_protocol = {
    .name = "http",
    .connection_bytes = sizeof(struct http_connection),
    .worker_state_new = worker_new,
    .worker_state_free = worker_free,
    .begin = begin,
    .turn = take_turn,
    .posted = posted,
    .round = round_over,
    .end = end,
};
