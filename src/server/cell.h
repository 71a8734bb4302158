/* The cell of a front end (--cluster): stands by until one can be owned, forwards requests for
 * other cells to their owners all along, and gives the cell up. docs/cells.md describes it for
 * operators. */
#ifndef LAGRA_SERVER_CELL_H
#define LAGRA_SERVER_CELL_H

#include "admin/admin.h"
#include "admin/cell_accounts.h"
#include "cluster/direct.h"
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
    struct http_application application;          /* application of the services' listeners */
    struct http_application internal_application; /* application of the internal endpoint */
    struct http_server *internal;         /* internal endpoint, or NULL if it is not started */
    struct net_key *key;                  /* or NULL if the cluster has none */
    struct direct *direct;                /* reads files of other cells; NULL without a key */
    char forward[ADDRESS_TEXT_MAX];       /* address of the internal endpoint, or "" */
    struct http_server *const *servers;   /* SERVICE_COUNT of them; NULL if not served */
    uint64_t serves_from_ns;              /* when the previous owner's lease has ended */
    struct peers peers;                   /* connections to owners of other cells */
    struct other_cells others;            /* cells that the root's lists are merged with */
    struct peer_requests requests;        /* requests of other front ends */
    struct cell_accounts followed;        /* in other cells than the root: copy of its accounts */
    struct endpoint names[SERVICE_COUNT]; /* for request_names() */
    struct standby *standby;              /* watches the cells, or NULL */
    char *location;                       /* data directory, or NULL if no cell is owned */
};

enum cell_result {
    CELL_OWNED,
    CELL_STOPPED, /* a signal ended the wait */
    CELL_FAILED,  /* the reason was printed on stderr */
};

/* Prepares the listeners' applications and reads the key of the cluster. Main thread.
 * application  that executes requests of all services
 * services     in the order of their ports
 * servers      filled once they are started
 * returns      false after printing why on stderr */
bool cell_init(struct cell *cell, const struct options *options,
               const struct http_application *application,
               const struct service *const services[SERVICE_COUNT],
               struct http_server *const *servers);
/* Starts the internal endpoint, unless the cluster has no key. Returns false after printing why on
 * stderr. Main thread. */
bool cell_listen(struct cell *cell, const struct options *options,
                 const struct http_limits *limits);
/* Waits until a cell is owned, like standby_wait(). The listeners may run already; they forward.
 * Main thread, which handles signals during the wait.
 * blob_port  published in the owner record */
enum cell_result cell_acquire(struct cell *cell, const struct options *options, uint16_t blob_port,
                              const struct signal_watch *signals);
/* Routes requests to the cells of their resources. Before cell_init(). Main thread. */
void cell_use_names(struct cell *cell, const struct service *const services[SERVICE_COUNT],
                    const struct server_options *options);
/* Returns true if the owned cell has a copy of the root's accounts. */
bool cell_follows_root(const struct cell *cell);
/* Starts to copy the root's accounts, unless the owned cell is the root, instead of an earlier copy
 * of the same front end. store: NULL while it stands by. Returns false after printing why on
 * stderr. Main thread. */
bool cell_follow(struct cell *cell, struct store *store, struct accounts *accounts);
/* Updates the cell's used bytes and the move in progress in the owner record. Called periodically.
 * Main thread. */
void cell_update_record(struct cell *cell, struct store *store);
/* Lets requests of other front ends be executed once the cell is served. Main thread, before
 * cell_serve(). */
void cell_serve_peers(struct cell *cell, struct endpoint_set *endpoints,
                      struct decision_pool *pool);
/* Makes the other cells known to the services' endpoints. The cell is owned. Main thread. */
void cell_join(struct cell *cell, struct endpoint endpoints[SERVICE_COUNT]);
/* Has failures of the store reported only while the cell is owned. Called before anything reads
 * it. */
void cell_use_store(struct cell *cell, struct store *store);
/* Adds the cells of the cluster, if there is one, to `lagra status`. Main thread. */
void cell_show(struct cell *cell, struct admin *admin);
/* Waits until the previous owner's lease has ended, then executes requests. After cell_join(). Main
 * thread. */
void cell_serve(struct cell *cell);
/* Ends moves in progress, before the store is closed. No request is executed any more. */
void cell_stop_moves(void);
/* Stops forwarding: requests of other front ends in progress get grace_s to finish, and later ones
 * are refused. Called before the services stop. Main thread. */
void cell_stop(struct cell *cell, unsigned grace_s);
/* Allows requests to other cells again after cell_stop(), for up to a second, so that the last logs
 * and metrics can be written to cell 1. All servers have stopped. Main thread. */
void cell_send_last(struct cell *cell);
/* Releases the cell, if one is owned, and stops the internal endpoint once the other front ends
 * have closed their connections. The store is closed. Main thread. */
void cell_release(struct cell *cell);
/* Frees the cell, once all servers have stopped. Main thread. */
void cell_free(struct cell *cell);

#endif
