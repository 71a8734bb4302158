#include "live.h"

#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "store/rados/open.h"
#include "store/rados/root.h"

struct live_client {
    struct port port; /* first */
    struct live *live;
    struct port *inner;
    struct live_client *next;
    atomic_bool
        is_dead; /* its threads go on, and may outlive the rest: nothing else of it is looked at then */
    bool is_stopped, is_cut;
    bool is_first_applied;            /* of a client that is to be cut off */
    unsigned left;                    /* ops until then */
    unsigned fills_in;                /* ops, until the pool is full; 0: it does not fill it */
    struct pending *held, **held_end; /* of a client that is stopped */
};

/* An op in flight, or answered and not told. */
struct pending {
    struct pending *next;
    struct live_client *client;
    struct port_op *op;
    void (*done)(struct port_op *op);
    void *context;
    const char *object; /* in the arena of the op */
    bool is_lost;       /* its answer is */
};

struct rest {
    struct rest *next;
    struct live_client *client;
    struct waiter *waiter;
    uint64_t until_ms;
};

struct live {
    struct fake *fake;
    pthread_t thread;
    pthread_mutex_t mutex; /* all below under it, and the fake */
    pthread_cond_t work;
    struct pending *answered, **end;
    struct rest *rests;
    struct live_client *clients;
    struct port *first;
    bool is_held;
    unsigned pause_us;
    uint64_t shard_ops, piece_ops;
    bool is_stopping;
};

/* In fake_step(), under the mutex. */
static void collect(struct port_op *op)
{
    struct pending *pending = op->context;
    struct live *live = pending->client->live;

    if (pending->is_lost)
        op->result = PORT_FAILED;
    pending->op = op;
    pending->next = NULL;
    *live->end = pending;
    live->end = &pending->next;
}

/* Under the mutex. */
static void send_on(struct pending *pending)
{
    struct live_client *client = pending->client;
    bool is_last = client->is_cut && client->left == 0 && client->is_first_applied;

    if (client->is_cut && client->left == 0 && !is_last) {
        pending->op->result = PORT_FAILED;
        collect(pending->op);
        return;
    }
    pending->is_lost = is_last;
    if (is_last)
        client->is_first_applied = false;
    else if (client->is_cut)
        client->left--;
    port_send(client->inner, pending->object, pending->op);
}

static void send(struct port *port, const char *object, struct port_op *op)
{
    struct live_client *client = (struct live_client *)(void *)port;
    struct live *live = client->live;
    struct pending *pending = arena_alloc(op->arena, sizeof *pending);

    if (client->is_dead) {
        port_op_free(op);
        return;
    }
    *pending = (struct pending){
        .client = client,
        .op = op,
        .done = op->done,
        .context = op->context,
        .object = arena_string(op->arena, bytes_from_string(object)),
    };
    pthread_mutex_lock(&live->mutex);
    if (client->is_dead) {
        pthread_mutex_unlock(&live->mutex);
        port_op_free(op);
        return;
    }
    live->shard_ops += strncmp(object, "s.", 2) == 0;
    live->piece_ops += strncmp(object, "p.", 2) == 0;
    if (client->fills_in > 0 && --client->fills_in == 0)
        fake_set_full(live->fake, true);
    op->done = collect;
    op->context = pending;
    if (client->is_stopped) {
        *client->held_end = pending;
        client->held_end = &pending->next;
    } else {
        send_on(pending);
    }
    pthread_cond_signal(&live->work);
    pthread_mutex_unlock(&live->mutex);
}

static void rest(struct port *port, unsigned ms, struct waiter *waiter)
{
    struct live_client *client = (struct live_client *)(void *)port;
    struct live *live = client->live;
    struct rest *added;

    if (client->is_dead)
        return;
    added = xcalloc(1, sizeof *added);
    pthread_mutex_lock(&live->mutex);
    *added = (struct rest){ live->rests, client, waiter, clock_monotonic_ms() + ms };
    live->rests = added;
    pthread_cond_signal(&live->work);
    pthread_mutex_unlock(&live->mutex);
}

static bool each_object(struct port *port, void (*found)(void *context, const char *object),
                        void *context)
{
    struct live_client *client = (struct live_client *)(void *)port;
    bool is_told;

    pthread_mutex_lock(&client->live->mutex);
    is_told = port_each_object(client->inner, found, context);
    pthread_mutex_unlock(&client->live->mutex);
    return is_told;
}

/* Takes one that is over out of the list; sooner: where none is, when the first will be. */
static struct rest *take_rest(struct live *live, uint64_t *sooner)
{
    uint64_t now = clock_monotonic_ms();

    for (struct rest **at = &live->rests; *at; at = &(*at)->next) {
        struct rest *found = *at;

        if (found->client->is_stopped && !live->is_stopping)
            continue;
        if (found->until_ms <= now || live->is_stopping) {
            *at = found->next;
            return found;
        }
        if (found->until_ms < *sooner)
            *sooner = found->until_ms;
    }
    return NULL;
}

static void wait_for_work(struct live *live, uint64_t until_ms)
{
    struct timespec until;

    if (until_ms == UINT64_MAX) {
        pthread_cond_wait(&live->work, &live->mutex);
        return;
    }
    until.tv_sec = (time_t)(until_ms / 1000);
    until.tv_nsec = (long)(until_ms % 1000) * 1000000;
    pthread_cond_timedwait(&live->work, &live->mutex, &until);
}

/* Takes the first out whose client is not stopped; NULL: there is none. */
static struct pending *take_answered(struct live *live)
{
    struct pending **at = &live->answered, *taken;

    while (*at && (*at)->client->is_stopped && !live->is_stopping)
        at = &(*at)->next;
    taken = *at;
    if (!taken)
        return NULL;
    *at = taken->next;
    if (!*at)
        live->end = at;
    return taken;
}

/* Tells one answer. Under the mutex, which it gives meanwhile. */
static bool tell_one(struct live *live)
{
    struct pending *pending = take_answered(live);
    struct port_op *op;
    bool is_dead;

    if (!pending)
        return false;
    op = pending->op;
    op->done = pending->done;
    op->context = pending->context;
    is_dead = pending->client->is_dead;
    pthread_mutex_unlock(&live->mutex);
    if (is_dead)
        port_op_free(op);
    else
        op->done(op);
    pthread_mutex_lock(&live->mutex);
    return true;
}

/* Under the mutex, which it gives while the pause lasts. */
static bool step(struct live *live)
{
    if (live->is_held && !live->is_stopping)
        return false;
    if (live->pause_us > 0) {
        const struct timespec pause = { .tv_nsec = (long)live->pause_us * 1000 };

        pthread_mutex_unlock(&live->mutex);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&live->mutex);
    }
    return fake_step(live->fake);
}

static void *run(void *argument)
{
    struct live *live = argument;

    pthread_mutex_lock(&live->mutex);
    for (;;) {
        uint64_t sooner = UINT64_MAX;
        struct rest *over;

        if (tell_one(live))
            continue;
        over = take_rest(live, &sooner);
        if (over) {
            bool is_dead = over->client->is_dead;

            pthread_mutex_unlock(&live->mutex);
            if (!is_dead)
                over->waiter->wake(over->waiter);
            free(over);
            pthread_mutex_lock(&live->mutex);
            continue;
        }
        if (step(live))
            continue;
        if (live->is_stopping)
            break;
        wait_for_work(live, sooner);
    }
    pthread_mutex_unlock(&live->mutex);
    return NULL;
}

struct port *live_client(struct live *live)
{
    struct live_client *client = xcalloc(1, sizeof *client);

    client->port.send = send;
    client->port.pause = rest;
    client->port.each_object = each_object;
    client->live = live;
    pthread_mutex_lock(&live->mutex);
    client->inner = fake_client(live->fake);
    client->next = live->clients;
    live->clients = client;
    pthread_mutex_unlock(&live->mutex);
    return &client->port;
}

struct live *live_new(struct fake_options options)
{
    struct live *live = xcalloc(1, sizeof *live);
    pthread_condattr_t monotonic;
    int error;

    live->fake = fake_new(options);
    live->end = &live->answered;
    pthread_mutex_init(&live->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&live->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    live->first = live_client(live);
    error = pthread_create(&live->thread, NULL, run, live);
    assert(!error);
    return live;
}

struct port *live_port(struct live *live)
{
    return live->first;
}

void live_kill(struct live *live, struct port *port)
{
    struct live_client *client = (struct live_client *)(void *)port;

    pthread_mutex_lock(&live->mutex);
    client->is_dead = true;
    while (client->held) { /* nothing was sent of it */
        struct pending *pending = client->held;

        client->held = pending->next;
        port_op_free(pending->op);
    }
    fake_client_kill(live->fake, client->inner);
    pthread_mutex_unlock(&live->mutex);
}

void live_stop(struct live *live, struct port *port)
{
    struct live_client *client = (struct live_client *)(void *)port;

    pthread_mutex_lock(&live->mutex);
    client->is_stopped = true;
    client->held_end = &client->held;
    pthread_mutex_unlock(&live->mutex);
}

void live_continue(struct live *live, struct port *port)
{
    struct live_client *client = (struct live_client *)(void *)port;

    pthread_mutex_lock(&live->mutex);
    client->is_stopped = false;
    while (client->held) {
        struct pending *pending = client->held;

        client->held = pending->next;
        pending->next = NULL;
        send_on(pending);
    }
    pthread_cond_signal(&live->work);
    pthread_mutex_unlock(&live->mutex);
}

void live_cut(struct live *live, struct port *port, unsigned after, bool is_first_applied)
{
    struct live_client *client = (struct live_client *)(void *)port;

    pthread_mutex_lock(&live->mutex);
    client->is_cut = true;
    client->left = after;
    client->is_first_applied = is_first_applied;
    pthread_mutex_unlock(&live->mutex);
}

void live_set_full(struct live *live, bool is_full)
{
    pthread_mutex_lock(&live->mutex);
    fake_set_full(live->fake, is_full);
    pthread_mutex_unlock(&live->mutex);
}

void live_fill_after(struct live *live, struct port *port, unsigned after)
{
    pthread_mutex_lock(&live->mutex);
    ((struct live_client *)(void *)port)->fills_in = after + 1;
    pthread_mutex_unlock(&live->mutex);
}

void live_hold(struct live *live, bool is_held)
{
    pthread_mutex_lock(&live->mutex);
    live->is_held = is_held;
    pthread_cond_signal(&live->work);
    pthread_mutex_unlock(&live->mutex);
}

void live_set_pause(struct live *live, unsigned pause_us)
{
    pthread_mutex_lock(&live->mutex);
    live->pause_us = pause_us;
    pthread_mutex_unlock(&live->mutex);
}

uint64_t live_piece_ops(struct live *live)
{
    uint64_t count;

    pthread_mutex_lock(&live->mutex);
    count = live->piece_ops;
    pthread_mutex_unlock(&live->mutex);
    return count;
}

uint64_t live_shard_ops(struct live *live)
{
    uint64_t count;

    pthread_mutex_lock(&live->mutex);
    count = live->shard_ops;
    pthread_mutex_unlock(&live->mutex);
    return count;
}

void live_free(struct live *live)
{
    pthread_mutex_lock(&live->mutex);
    live->is_stopping = true;
    pthread_cond_signal(&live->work);
    pthread_mutex_unlock(&live->mutex);
    pthread_join(live->thread, NULL);
    while (live->clients) {
        struct live_client *client = live->clients;

        live->clients = client->next;
        if (!client->is_dead)
            free(client);
    }
    fake_free(live->fake);
    pthread_cond_destroy(&live->work);
    pthread_mutex_destroy(&live->mutex);
    free(live);
}

struct store *live_open(struct port *client, uint64_t grace_ticks)
{
    return live_open_with(client, (struct rados_options){ .grace_ticks = grace_ticks });
}

struct store *live_open_with(struct port *client, struct rados_options options)
{
    struct store *store = NULL;
    const char *problem;

    options.records = options.pieces = client;
    options.pool_of_pieces = LIVE_POOL;
    assert_int_equal(root_make(client, LIVE_POOL, &problem), STORE_OK);
    assert_int_equal(store_open_rados(&options, &store, &problem), STORE_OK);
    return store;
}
