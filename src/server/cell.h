/* The cell of a front end (--cluster): standing by until one can be owned, forwarding requests for other cells to their
 * owners all along, and giving it up. See docs/cells.md for what operators see of it. */
#ifndef LAGRA_SERVER_CELL_H
#define LAGRA_SERVER_CELL_H

#include "admin/admin.h"
#include "admin/cell_accounts.h"
#include "cluster/front.h"
#include "cluster/owner.h"
#include "server/options.h"
#include "server/signals.h"
#include "server/standby.h"
#include "service/other_cells.h"
#include "request/peer_requests.h"
#include "service/placement.h"

struct cell {
    struct owner owner;
    struct front front;
    struct http_application application;          /* of the doors */
    struct http_application internal_application; /* of the internal endpoint */
    struct http_server *internal;                 /* NULL: not started */
    struct net_key *key;                          /* NULL: the cluster has none */
    char forward[ADDRESS_TEXT_MAX];               /* address of the internal endpoint; "": none */
    struct http_server *const *servers;           /* SERVICE_COUNT; NULL in it: not served */
    uint64_t serves_from_ns;                      /* when the lease of the owner before has ended */
    struct peers peers;                   /* owners of other cells, which this process asks */
    struct other_cells others;            /* of the root */
    struct peer_requests requests;        /* of other front ends */
    struct cell_accounts followed;        /* of the root, in another cell */
    struct endpoint names[SERVICE_COUNT]; /* for request_names() */
    struct standby *standby;              /* what looks at the cells, or NULL */
    char *location;                       /* of its data folder, or NULL if no cell is owned */
};

enum cell_result {
    CELL_OWNED,
    CELL_STOPPED, /* a signal ended the wait */
    CELL_FAILED,  /* said why on stderr */
};

/* Prepares the doors of the services, and reads the key of the cluster. application: of all services. services: in the order of their ports.
 * servers: theirs, once they are started. Returns false after saying why on stderr. Main thread. */
bool cell_init(struct cell *cell, const struct options *options,
               const struct http_application *application,
               const struct service *const services[SERVICE_COUNT],
               struct http_server *const *servers);
/* Starts the internal endpoint, unless the cluster has no key. Returns false after saying why on stderr. Main thread. */
bool cell_listen(struct cell *cell, const struct options *options,
                 const struct http_limits *limits);
/* As standby_wait(). The listeners may run already; they forward.
 *
 * blob_port  that others are told
 * Main thread, which handles signals meanwhile. */
enum cell_result cell_acquire(struct cell *cell, const struct options *options, uint16_t blob_port,
                              const struct signal_watch *signals);
/* Has requests go to the cells of what they are about. Before cell_init(). Main thread. */
void cell_use_names(struct cell *cell, const struct service *const services[SERVICE_COUNT],
                    const struct server_options *options);
/* Is the cell that is owned the root? */
bool cell_is_root(const struct cell *cell);
/* In another cell than the root: follows its accounts. Returns false after saying why on stderr. Main thread. */
bool cell_follow(struct cell *cell, struct store *store, struct accounts *accounts);
/* Counts what the cell has, now and then. Main thread. */
void cell_look(struct cell *cell, struct store *store);
/* Has requests of other front ends executed once the cell is served. Main thread, before cell_serve(). */
void cell_serve_peers(struct cell *cell, struct endpoint_set *endpoints, struct decide_pool *pool);
/* Has the services' endpoints know the other cells. The cell is owned. Main thread. */
void cell_join(struct cell *cell, struct endpoint endpoints[SERVICE_COUNT]);
/* Has the cells of the cluster, if there is one, shown by `lagra status`. Main thread. */
void cell_show(struct cell *cell, struct admin *admin);
/* Serves: waits until the lease of the owner before has ended, and has the doors pass requests on.
 * After cell_join(). Main thread. */
void cell_serve(struct cell *cell);
/* Ends moves of containers in progress, before the store is closed. No request is executed any more. */
void cell_stop_moves(void);
/* Ends forwarding: requests of other front ends that are in progress end within grace_s, and later ones are refused. Before the
 * services stop. Main thread. */
void cell_stop(struct cell *cell, unsigned grace_s);
/* Gives the cell up, if one is owned, and ends the internal endpoint once the other front ends have closed their connections.
 * The store is closed. Main thread. */
void cell_release(struct cell *cell);
/* Frees the rest, once all servers have stopped. Main thread. */
void cell_free(struct cell *cell);

#endif
