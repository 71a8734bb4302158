/* Connections to the internal endpoint of a cell's owner, over which requests are forwarded one after the other. Each is
 * served by the worker whose client's request it carries. A worker holds up to LINKS_IDLE_MAX idle links and reuses the last
 * used first; net/ closes links that were idle for OUTGOING_IDLE_MS. All functions are called on that worker. */
#ifndef LAGRA_CLUSTER_LINK_H
#define LAGRA_CLUSTER_LINK_H

#include "http/http.h"
#include "net/connection.h"

#define LINKS_IDLE_MAX HTTP_OUTGOING_IDLE_MAX

/* The request that a link carries. */
struct link_user {
    /* The link is up, or its socket may be read from or written to again. In the link's turn. Returns false if the link
     * must be closed; lost() follows. */
    bool (*turn)(struct link_user *user);
    /* The link is closed, and not the user's any more. */
    void (*lost)(struct link_user *user);
};

struct link {
    struct connection net;  /* first */
    struct link_user *user; /* NULL if it is idle or being closed */
    struct link *next;      /* in the worker's list of idle ones */
    bool is_up;             /* connected and authenticated */
    bool is_reused;         /* it has carried a request before */
    bool is_idle;           /* listed */
};

/* Returns an idle link to the peer, or opens one; NULL if that is not possible now. of: the client's connection. */
struct link *link_take(struct connection *of, const struct net_peer *peer, struct link_user *user);
/* Ends its use: the link has nothing more to send or to receive. */
void link_give(struct link *link);
/* Ends its use, and closes it. */
void link_drop(struct link *link);

#endif
