/* The acceptor of a server: a thread that accepts connections from the listening socket, passes
 * each to a worker, and closes connections that have exceeded a deadline.
 *
 * When the server stops, this thread closes the listening socket, so no other thread can be using
 * it. */
#include "net/net_private.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/episode.h"
#include "base/log.h"
#include "net/local.h"

#define SWEEP_MS 250
/* Delay before the next attempt if no descriptor or slot was free */
#define RETRY_MS 10
/* Maximum number of connections accepted between two reads of the clock. */
#define BATCH    64

static bool is_lack(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

enum accepted { ACCEPTED, ACCEPTED_NOTHING, ACCEPT_LATER };

static enum accepted accept_one(struct net_server *server)
{
    struct sockaddr_storage address;
    struct sockaddr *where = (struct sockaddr *)&address;
    socklen_t size = sizeof address;
    struct connection *connection;
    int fd;

    assert(server->listener >= 0);
    if (!connections_may_grow(server))
        return ACCEPT_LATER;
    fd = accept4(server->listener, where, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && is_lack(errno)) {
        episode_goes_on(EPISODE_DESCRIPTORS, strerrordesc_np(errno));
        connections_make_room(server);
        return ACCEPT_LATER;
    }
    if (fd < 0) /* no connection is waiting, or it has already been closed */
        return errno == EAGAIN || errno == EWOULDBLOCK ? ACCEPTED_NOTHING : ACCEPTED;
    if (server->is_local && !local_peer_is_ours(fd)) {
        log_line(LOG_WARN, "rejected a process of another user on a local socket");
        close(fd);
        return ACCEPTED;
    }
    connection = connection_admit(server, fd, where);
    if (connection)
        worker_post(connection->worker, connection);
    else
        close(fd);
    return ACCEPTED;
}

static enum accepted accept_some(struct net_server *server)
{
    enum accepted accepted = ACCEPTED;

    for (int i = 0; i < BATCH && accepted == ACCEPTED; i++)
        accepted = accept_one(server);
    return accepted;
}

static void close_listener(struct net_server *server)
{
    if (server->listener < 0)
        return;
    close(server->listener); /* the kernel refuses connections in the queue and new ones */
    lock_acquire(&server->lock);
    server->listener = -1;
    pthread_cond_broadcast(&server->changed);
    lock_release(&server->lock);
}

static bool must_end(struct net_server *server)
{
    bool ends;

    lock_acquire(&server->lock);
    ends = server->acceptor_ends;
    lock_release(&server->lock);
    return ends;
}

static void drain_wake(int fd)
{
    uint64_t count;

    if (read(fd, &count, sizeof count) < 0 && errno != EAGAIN)
        log_errno("read an eventfd");
}

static void *acceptor_run(void *argument)
{
    struct net_server *server = argument;
    enum accepted accepted = ACCEPTED_NOTHING;
    uint64_t swept = 0;

    thread_is(server, "acceptor");
    while (!must_end(server)) {
        struct pollfd ready[2] = { { .fd = server->wake, .events = POLLIN },
                                   { .fd = server->listener, .events = POLLIN } };
        bool later = accepted == ACCEPT_LATER;

        /* The listening socket is last, so that poll() can omit it while the acceptor waits for a
         * slot. */
        if (poll(ready, later || server->listener < 0 ? 1 : 2, later ? RETRY_MS : SWEEP_MS) > 0 &&
            (ready[0].revents & POLLIN))
            drain_wake(server->wake);
        if (atomic_load(&server->stopping))
            close_listener(server);
        accepted = ACCEPTED_NOTHING;
        if (server->listener >= 0 && (later || (ready[1].revents & POLLIN)))
            accepted = accept_some(server);
        if (clock_coarse_ms() - swept >= SWEEP_MS) {
            connections_sweep(server);
            swept = clock_coarse_ms();
        }
    }
    close_listener(server);
    return NULL;
}

const char *acceptor_start(struct net_server *server)
{
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->wake < 0)
        return "no descriptor left";
    if (pthread_create(&server->acceptor, NULL, acceptor_run, server) == 0)
        return NULL;
    close(server->wake);
    return "cannot start a thread";
}

void acceptor_accept_no_more(struct net_server *server)
{
    atomic_store(&server->stopping, true);
    acceptor_wake(server);
    lock_acquire(&server->lock);
    while (server->listener >= 0)
        lock_wait(&server->lock, &server->changed, -1);
    lock_release(&server->lock);
}

void acceptor_stop(struct net_server *server)
{
    lock_acquire(&server->lock);
    server->acceptor_ends = true;
    lock_release(&server->lock);
    acceptor_wake(server);
    pthread_join(server->acceptor, NULL);
    lock_acquire(&server->lock);
    server->acceptor_waits = false;
    lock_release(&server->lock);
    close(server->wake);
}
