/* A worker: a thread that serves its connections in turn.
 *
 * Sockets are added to the epoll set once, edge-triggered, so a request costs no system calls
 * except receiving, sending, and a wait that all ready connections share. An edge is recorded in
 * the connection and gives it a turn. A turn ends when the connection waits for its socket or to be
 * posted, or after a maximum number of steps, so that it does not delay other connections. Other
 * threads pass connections to the worker through wake.c. */
#include "net/net_private.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "net/proxy_header.h"

#define EVENTS_MAX 128

/* ---- functions for protocols ---- */

void *connection_context(const struct connection *connection)
{
    return connection->server->context;
}

void *connection_worker_state(const struct connection *connection)
{
    return connection->worker->state;
}

char *connection_block(const struct connection *connection)
{
    return connection->worker->block;
}

bool connection_is_last(const struct connection *connection)
{
    return lanes_is_last(&connection->worker->lanes);
}

unsigned connection_turn_steps(const struct connection *connection)
{
    return lanes_are_several(&connection->worker->lanes) ? TURN_STEPS_BESIDE : TURN_STEPS_MAX;
}

/* ---- turns ---- */

static void give_turn(struct worker *worker, struct connection *connection)
{
    if (connection->is_ready)
        return;
    assert(connection->worker == worker && connection->begun);
    connection->is_ready = true;
    lanes_add(&worker->lanes, connection);
}

/* Removes the socket from the epoll set explicitly: close() does so only for the last descriptor
 * of the socket, and a child process that is about to execute a program (cluster/fence.h) also has
 * one. Events would then refer to a freed connection. */
static void close_connection(struct connection *connection, bool orderly)
{
    int fd = connection->fd;

    assert(!connection->is_ready);
    if (!connection->awaits_header)
        connection->protocol->end(connection);
    input_free(&connection->input);
    transport_end(connection, orderly ? TRANSPORT_ORDERLY : TRANSPORT_CUT);
    linger_end(connection);
    if (connection->is_watched)
        epoll_ctl(connection->worker->set, EPOLL_CTL_DEL, fd, NULL);
    connection_remove(connection);
    close(fd);
}

static enum turn take_linger_turn(struct connection *connection)
{
    enum turn turn = TURN_GOES_ON;

    for (int i = 0; i < TURN_STEPS_MAX && turn == TURN_GOES_ON; i++)
        turn = linger_step(connection);
    return turn;
}

/* Returns TURN_GOES_ON once the connection's client is known and begin() was called. */
static enum turn take_header(struct connection *connection)
{
    struct proxy_header header;
    ssize_t n = transport_receive_header(connection, &header);

    if (n < 0)
        return n == TRANSPORT_WAITS ? TURN_WAITS : TURN_ENDS;
    if (!connection_introduce(connection, &header))
        return TURN_ENDS;
    assert(!connection->awaits_header);
    connection->protocol->begin(connection);
    return TURN_GOES_ON;
}

/* Returns TURN_GOES_ON once the peer has accepted an outgoing connection. */
static enum turn take_connect(struct connection *connection)
{
    if (!connection->writable)
        return TURN_WAITS;
    if (!transport_is_connected(connection->fd))
        return TURN_ENDS;
    connection->is_connecting = false;
    return TURN_GOES_ON;
}

static bool watch(const struct worker *worker, struct connection *c)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                 .data.ptr = c };

    c->is_watched = epoll_ctl(worker->set, EPOLL_CTL_ADD, c->fd, &event) == 0;
    return c->is_watched;
}

/* Moves the connection to another worker. It was posted and posted() was not called yet, so no
 * other thread posts it now. */
static void move(struct worker *worker, struct connection *c)
{
    struct worker *to = c->moves_to;

    epoll_ctl(worker->set, EPOLL_CTL_DEL, c->fd, NULL);
    c->is_watched = c->is_moving = false;
    c->moves_to = NULL;
    connection_change_worker(c, to);
    worker_post(to, c); /* do not access c after this */
}

const void *connection_place(const struct connection *connection)
{
    return atomic_load(&connection->worker);
}

void connection_move(struct connection *connection, const void *place)
{
    struct worker *worker = connection->worker;

    for (unsigned i = 0; i < worker->server->worker_count; i++)
        if (&worker->server->workers[i] == place && place != worker)
            connection->moves_to = &worker->server->workers[i];
}

/* Returns TURN_GOES_ON if there is more to do than one turn allows. */
static enum turn take_turn(struct connection *connection)
{
    if (connection->lingers)
        return take_linger_turn(connection);
    if (connection->awaits_header) {
        enum turn turn = take_header(connection);

        if (turn != TURN_GOES_ON)
            return turn;
    }
    if (connection->is_connecting) {
        enum turn turn = take_connect(connection);

        if (turn != TURN_GOES_ON)
            return turn;
    }
    if (connection->tls && !connection->tls_is_up) {
        ssize_t n = tls_handshake(connection);

        if (n < 0)
            return n == TRANSPORT_WAITS ? TURN_WAITS : TURN_ENDS;
        if (connection->server->key && !connection->is_outgoing)
            connection_trust(connection);
    }
    return connection->protocol->turn(connection);
}

static void run_turn(struct worker *worker, struct connection *connection)
{
    enum turn turn;

    assert(connection->worker == worker && connection->is_ready);
    connection->is_ready = false;
    if (connection->is_moving) {
        move(worker, connection);
        return;
    }
    turn = connection->is_dropped ? TURN_ENDS : take_turn(connection);
    assert(turn != TURN_SENT);
    if (turn == TURN_LINGERS)
        turn = linger_begin(connection) ? TURN_GOES_ON : TURN_ENDS;
    if (turn == TURN_ENDS) {
        close_connection(connection, !connection->ended && !connection->lingers);
        return;
    }
    input_keep(&connection->input);
    assert(!connection->input.is_borrowed);
    if (turn == TURN_GOES_ON)
        give_turn(worker, connection);
}

/* Gives one turn to each connection that was ready at the start; then returns, so that new edges
 * are recorded. */
static void run_turns(struct worker *worker)
{
    struct connection *c;

    lanes_begin_round(&worker->lanes);
    while ((c = lanes_take(&worker->lanes)))
        run_turn(worker, c);
}

/* ---- events ---- */

static void keep_edge(struct worker *worker, const struct epoll_event *event)
{
    struct connection *c = event->data.ptr;

    if (!c) /* the eventfd */
        return;
    c->readable |= (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    c->writable |= (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    c->ended |= (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    give_turn(worker, c);
}

static bool begin(const struct worker *worker, struct connection *c)
{
    assert(c->worker == worker && !c->begun);
    c->begun = true;
    if (!c->awaits_header)
        c->protocol->begin(c);
    if (transport_begin(c) && watch(worker, c))
        return true;
    log_line(LOG_WARN, "%s: cannot watch the connection: out of memory or epoll watches", c->peer);
    close_connection(c, false);
    return false;
}

bool worker_adopt(struct worker *worker, struct connection *connection)
{
    return begin(worker, connection);
}

void connection_wake(struct connection *connection)
{
    give_turn(connection->worker, connection);
}

void connection_drop(struct connection *connection)
{
    connection->is_dropped = true;
    give_turn(connection->worker, connection);
}

/* Gives a posted connection a turn. Shuts it down if it was moved here and cannot be watched. */
static void take_post(struct worker *worker, struct connection *c)
{
    if (!c->is_watched && !watch(worker, c)) {
        log_line(LOG_WARN, "%s: cannot watch the connection: out of memory or epoll watches",
                 c->peer);
        shutdown(c->fd, SHUT_RDWR);
        c->readable = c->ended = true;
    }
    c->protocol->posted(c);
    give_turn(worker, c);
}

/* Handles the posted connections, in their order. */
static void take_posted(struct worker *worker)
{
    struct connection *c = worker_take_posted(worker);

    while (c) {
        struct connection *next = c->next_posted;

        if (!c->begun) {
            (void)begin(worker, c);
        } else if (c->moves_to) {
            c->is_moving = true;
            give_turn(worker, c);
        } else {
            take_post(worker, c);
        }
        c = next;
    }
}

static bool may_sleep(struct worker *worker)
{
    return worker->lanes.count == 0 &&
           !atomic_load_explicit(&worker->posted, memory_order_relaxed) &&
           !atomic_load_explicit(&worker->ends, memory_order_relaxed);
}

/* Blocks SIGPIPE, because sendfile() has no flag against it and clients can disconnect at any
 * time. */
static void block_pipe_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    struct epoll_event events[EVENTS_MAX];

    thread_is(worker->server, "worker");
    block_pipe_signals();
    worker_is_current(worker);
    while (!atomic_load(&worker->ends)) {
        int count = epoll_wait(worker->set, events, EVENTS_MAX,
                               may_sleep(worker) ? worker_tick_wait(worker) : 0);

        if (count < 0 && errno != EINTR)
            log_errno("wait for connections");
        for (int i = 0; i < count; i++)
            keep_edge(worker, &events[i]);
        take_posted(worker);
        run_turns(worker);
        worker_run_ticks(worker);
        if (worker->server->protocol->round)
            worker->server->protocol->round(worker->state);
    }
    return NULL;
}

/* ---- start and stop ---- */

static void close_own(struct worker *worker)
{
    if (worker->set >= 0)
        close(worker->set);
    if (worker->wake >= 0)
        close(worker->wake);
    free(worker->input);
    free(worker->block);
    free(worker->tls_input);
    if (worker->state)
        worker->server->protocol->worker_state_free(worker->state);
    worker->state = NULL;
    worker->server = NULL;
}

const char *worker_start(struct worker *worker, struct net_server *server)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLET };

    worker->server = server;
    worker->set = epoll_create1(EPOLL_CLOEXEC);
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    worker->input = xmalloc(CONNECTION_INPUT_BYTES);
    worker->block = xmalloc(CONNECTION_BLOCK_BYTES);
    if (server->protocol->worker_state_new)
        worker->state = server->protocol->worker_state_new();
    if (worker->set < 0 || worker->wake < 0 ||
        epoll_ctl(worker->set, EPOLL_CTL_ADD, worker->wake, &event) != 0) {
        close_own(worker);
        return "no descriptor left";
    }
    if (pthread_create(&worker->thread, NULL, worker_run, worker) == 0)
        return NULL;
    close_own(worker);
    return "cannot start a thread";
}

void worker_stop(struct worker *worker)
{
    if (!worker->server)
        return;
    assert(!atomic_load(&worker->posted));
    worker_await_posters(worker);
    atomic_store(&worker->ends, true);
    worker_wake(worker);
    pthread_join(worker->thread, NULL);
    assert(!worker->ticks);
    close_own(worker);
}
