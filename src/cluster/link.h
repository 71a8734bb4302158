/* Connections to the internal endpoint of a cell's owner, which carry forwarded requests one after
 * the other. A link belongs to the worker whose client's request it carries. A worker keeps up to
 * LINKS_IDLE_MAX idle links and reuses the most recently used one first. net/ closes links that
 * have been idle for OUTGOING_IDLE_MS. All functions are called on that worker. */
#ifndef LAGRA_CLUSTER_LINK_H
#define LAGRA_CLUSTER_LINK_H

#include "http/http.h"
#include "net/connection.h"

#define LINKS_IDLE_MAX HTTP_OUTGOING_IDLE_MAX

/* The request that a link carries. */
struct link_user {
    /* Called in the link's turn when the link is up, or its socket may be read or written again.
     * Returns false if the link must be closed; lost() follows. */
    bool (*turn)(struct link_user *user);
    /* Called when the link is closed and no longer belongs to the user. */
    void (*lost)(struct link_user *user);
};

struct link {
    struct connection net;  /* first */
    struct link_user *user; /* NULL if idle or being closed */
    struct link *next;      /* next idle link of the worker */
    bool is_up;             /* connected and authenticated */
    bool is_reused;         /* carried a request before */
    bool is_idle;           /* in the worker's list */
};

/* Returns an idle link to the peer, or opens a new one. Returns NULL if neither is possible now.
 * of: the client's connection. */
struct link *link_take(struct connection *of, const struct net_peer *peer, struct link_user *user);
/* Releases a link that has nothing more to send or receive, for reuse. */
void link_give(struct link *link);
/* Releases a link and closes it. */
void link_drop(struct link *link);

#endif
