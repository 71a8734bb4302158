/* The cell of a front end (--cluster): standing by until one can be owned, forwarding requests to its owner meanwhile, and
 * giving it up. See docs/cells.md for what operators see of it. */
#ifndef LAGRA_PROGRAM_CELL_H
#define LAGRA_PROGRAM_CELL_H

#include "cluster/front.h"
#include "cluster/owner.h"
#include "program/options.h"
#include "program/signals.h"
#include "service/operation.h"

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
    bool has_owner;                               /* another front end, which renews its lease */
    uint64_t left; /* links to owners of earlier incarnations are cut at left_ns; or 0 */
    uint64_t left_ns;
    char *location; /* of its data folder, or NULL if no cell is owned */
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
/* Waits until a cell is owned: one that is free, or whose owner has died, or was fenced by
 * --fenceCommand after it went silent. The listeners may run already; they answer 503.
 *
 * blob_port  that others are told
 * Main thread, which handles signals meanwhile. */
enum cell_result cell_acquire(struct cell *cell, const struct options *options, uint16_t blob_port,
                              const struct signal_watch *signals);
/* Serves: waits until the lease of the owner before has ended, and has the doors pass requests on.
 * tags: of the services. Main thread. */
void cell_serve(struct cell *cell, void *const tags[SERVICE_COUNT]);
/* Checks links to earlier owners. Main thread, now and then. */
void cell_look(struct cell *cell);
/* Ends forwarding: requests of other front ends that are in progress end within grace_s, and later ones are refused. Before the
 * services stop. Main thread. */
void cell_stop(struct cell *cell, unsigned grace_s);
/* Gives the cell up, if one is owned, and ends the internal endpoint once the other front ends have closed their connections.
 * The store is closed. Main thread. */
void cell_release(struct cell *cell);
/* Frees the rest, once all servers have stopped. Main thread. */
void cell_free(struct cell *cell);

#endif
