/* See link.h. */
#include "cluster/link.h"

#include <assert.h>

#include "cluster/forward_metrics.h"

/* Idle links of the worker. A list suffices, because nearly all links go to one owner. */
static _Thread_local struct link *idle;
static _Thread_local unsigned idle_count;

static struct link *link_of(struct connection *connection)
{
    return (struct link *)(void *)connection;
}

static void list(struct link *link)
{
    link->is_idle = true;
    link->next = idle;
    idle = link;
    idle_count++;
}

static void unlist(struct link *link)
{
    struct link **at = &idle;

    if (!link->is_idle)
        return;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    link->is_idle = false;
    idle_count--;
}

/* ---- callbacks from net/ ---- */

static void begin(struct connection *connection)
{
    (void)connection;
    forward_count(FORWARD_LINK_OPENED);
}

/* Runs an idle link. The owner never sends unrequested data, so readable input means that the link
 * has ended. */
static enum turn take_idle_turn(struct link *link)
{
    char byte;

    if (!link->net.readable)
        return TURN_WAITS;
    return transport_receive(&link->net, &byte, sizeof byte) == TRANSPORT_WAITS ? TURN_WAITS
                                                                                : TURN_ENDS;
}

static enum turn take_turn(struct connection *connection)
{
    struct link *link = link_of(connection);

    if (!link->is_up && link->user)
        connection_is_ours(connection);
    link->is_up = true;
    if (!link->user)
        return take_idle_turn(link);
    return link->user->turn(link->user) ? TURN_WAITS : TURN_ENDS;
}

static void posted(struct connection *connection)
{
    (void)connection; /* never called */
}

static void end(struct connection *connection)
{
    struct link *link = link_of(connection);
    struct link_user *user = link->user;

    unlist(link);
    forward_count(link->is_up ? FORWARD_LINK_CLOSED : FORWARD_LINK_FAILED);
    link->user = NULL;
    if (user)
        user->lost(user);
}

static const struct net_protocol protocol = {
    .name = "link",
    .connection_bytes = sizeof(struct link),
    .begin = begin,
    .turn = take_turn,
    .posted = posted,
    .end = end,
};

/* ---- use ---- */

/* Finds an idle link to the peer, and reserves it so that it is not closed as idle. Returns NULL if
 * there is none. */
static struct link *claim_idle(const struct net_peer *peer)
{
    struct link *link = idle;

    while (link &&
           (link->net.tag != peer->tag || link->net.ended || link->net.is_dropped ||
            !connection_key_is_newest(&link->net, peer->key) || !connection_claim(&link->net)))
        link = link->next;
    return link;
}

struct link *link_take(struct connection *of, const struct net_peer *peer, struct link_user *user)
{
    struct link *link = claim_idle(peer);

    if (link) {
        assert(!link->user && link->is_up);
        unlist(link);
        link->is_reused = true;
    } else {
        link = link_of(connection_open(of, &protocol, peer));
    }
    if (link)
        link->user = user;
    return link;
}

void link_give(struct link *link)
{
    assert(link->user && !link->is_idle && link->is_up);
    if (idle_count >= LINKS_IDLE_MAX || link->net.ended || net_is_stopping(link->net.server)) {
        link_drop(link);
        return;
    }
    link->user = NULL;
    connection_awaits_request(&link->net);
    list(link);
}

void link_drop(struct link *link)
{
    link->user = NULL;
    unlist(link);
    connection_drop(&link->net);
}
