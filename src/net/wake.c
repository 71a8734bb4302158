/* Names and wakes the threads of a server, each through its own eventfd, and passes posted
 * connections to workers.
 *
 * Other threads post connections: the acceptor posts new connections, and protocols post
 * connections that have work. Only the first post writes the eventfd, since the worker removes all
 * posted connections at once, and checks for them before it sleeps. A connection is not posted
 * again before the worker has removed it. */
#include "net/net_private.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

#define THREAD_NAME_MAX 16 /* the kernel's limit */

static _Thread_local const struct worker *current;

void thread_is(const struct net_server *server, const char *role)
{
    char name[THREAD_NAME_MAX];

    snprintf(name, sizeof name, "%s-%s", server->protocol->name, role);
    pthread_setname_np(pthread_self(), name);
}

static void wake(int fd)
{
    uint64_t one = 1;

    if (write(fd, &one, sizeof one) != sizeof one)
        log_errno("write an eventfd");
}

void acceptor_wake(struct net_server *server)
{
    wake(server->wake);
}

void worker_wake(struct worker *worker)
{
    wake(worker->wake);
}

void worker_is_current(const struct worker *worker)
{
    assert(!current);
    current = worker;
}

void worker_post(struct worker *worker, struct connection *connection)
{
    struct connection *first = atomic_load_explicit(&worker->posted, memory_order_relaxed);

    assert(connection->worker == worker);
    /* Another thread may see this connection end and stop the server; worker_await_posters() makes
     * it wait until this function is done. */
    atomic_fetch_add(&worker->posters, 1);
    do {
        connection->next_posted = first;
    } while (!atomic_compare_exchange_weak_explicit(&worker->posted, &first, connection,
                                                    memory_order_release, memory_order_relaxed));
    if (!first && current != worker)
        worker_wake(worker);
    atomic_fetch_sub(&worker->posters, 1);
}

void connection_post(struct connection *connection)
{
    worker_post(connection->worker, connection);
}

struct connection *worker_take_posted(struct worker *worker)
{
    struct connection *last = atomic_exchange_explicit(&worker->posted, NULL, memory_order_acquire);
    struct connection *first = NULL;

    assert(current == worker);
    while (last) {
        struct connection *before = last->next_posted;

        last->next_posted = first;
        first = last;
        last = before;
    }
    return first;
}

void worker_await_posters(struct worker *worker)
{
    while (atomic_load(&worker->posters) > 0)
        sched_yield(); /* the thread that posted the last connection is still in worker_post() */
}
