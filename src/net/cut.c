/* Disconnects connections that have missed a deadline (limits.c) and, when the server stops, first the
 * idle ones, then all. The socket is shut down; its worker sees the end of the stream and closes it. */
#include "net/net_private.h"

#include <sys/socket.h>

#include "base/log.h"

/* Returns false if an idle outgoing connection has just been claimed for a request. */
static bool may_cut(struct connection *c)
{
    return !c->is_outgoing || atomic_load(&c->phase) != PHASE_REQUEST ||
           connection_claim_to_close(c);
}

static void sweep_list(const struct connection_list *list)
{
    uint64_t now = monotonic_ms();

    for (struct connection *c = list->first; c; c = c->next) {
        const char *why = connection_timeout_reason(c, now);

        if (!why || !may_cut(c))
            continue;
        if (log_enabled(LOG_DEBUG))
            log_line(LOG_DEBUG, "%s: cut: %s", c->peer, why);
        shutdown(c->fd, SHUT_RDWR);
    }
}

void connections_sweep(struct net_server *server)
{
    lock_acquire(&server->lock);
    sweep_list(&server->untrusted);
    sweep_list(&server->trusted);
    lock_release(&server->lock);
}

static void cut(struct connection *c, enum cut_which which)
{
    int phase = atomic_load(&c->phase);

    if (which == CUT_ALL || ((phase == PHASE_REQUEST || phase == PHASE_CLOSE) && may_cut(c)))
        shutdown(c->fd, SHUT_RDWR);
}

static void cut_list(const struct connection_list *list, enum cut_which which)
{
    for (struct connection *c = list->first; c; c = c->next)
        cut(c, which);
}

void net_cut_outgoing(struct net_server *server, uint64_t first, uint64_t end, enum cut_which which)
{
    lock_acquire(&server->lock);
    for (struct connection *c = server->trusted.first; c; c = c->next)
        if (c->is_outgoing && c->tag >= first && c->tag < end)
            cut(c, which);
    lock_release(&server->lock);
}

void connections_cut(struct net_server *server, enum cut_which which)
{
    lock_acquire(&server->lock);
    cut_list(&server->untrusted, which);
    cut_list(&server->trusted, which);
    lock_release(&server->lock);
}
