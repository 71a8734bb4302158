/* The front end's HTTP applications. That of the services' ports executes requests for the cell that this process owns, and
 * forwards all others to the owners of their cells (forward.h). A process owns at most one cell; it goes from standing by to
 * serving once, and never back: it ends when it loses its cell.
 *
 *   standing by  GET /-/live            200
 *                GET /-/ready           as the root's owner responds; 503 if it cannot be reached
 *                GET /-/ready?cluster   503, and who owns the cells
 *                all else               forwarded; 503 ServerBusy with Retry-After without an owner
 *   serving      the service's responses to requests for the cell, while the tenure holds; afterwards connections are
 *                closed without a response. All else is forwarded
 *
 * That of the internal endpoint executes requests that other front ends forward, while this process owns the cell under the
 * incarnation that they mean; otherwise it refuses them (FORWARD_NOT_OWNER). It never forwards, so there are no loops. */
#ifndef LAGRA_CLUSTER_FRONT_H
#define LAGRA_CLUSTER_FRONT_H

#include "base/tenure.h"
#include "cluster/forward.h"

/* Finds the account and the container, queue, table or share that a request is about, as the service spells them. Returns false
 * if it names none. Worker. tag: of the door */
typedef bool front_names_fn(void *tag, struct exchange *exchange, struct bytes *ret_account,
                            struct bytes *ret_container);

/* What request.listener_tag points to: one service. */
struct front_door {
    struct front *front;
    const struct http_application *application; /* of the service */
    void *tag;                                  /* its listener_tag, once the front serves */
    void *names_tag;                            /* for front.names */
    struct forwarding forwarding;
};

/* The state that all doors of a process share. */
struct front {
    struct front_door doors[FORWARD_SERVICES];
    struct route route;
    struct placements placements;
    front_names_fn *names; /* NULL: all requests go to the root. Constant */
    /* What executes requests of other front ends on their own behalf (peer.h); NULL if nothing does. Constant. */
    const struct http_application *peer_application;
    void *peer_tag;     /* its listener_tag */
    bool forwards;      /* constant: doors[].forwarding.key is set */
    atomic_bool serves; /* what follows is set, and does not change any more */
    const struct tenure *tenure;
    uint32_t cell;
    uint64_t incarnation;
    atomic_bool hands_over; /* it will not own the cell for long */
    atomic_uint executing;  /* requests of other front ends that are executed here */
    struct lock lock;       /* RANK_CELLS; over status */
    char status[512];       /* of /-/ready?cluster */
};

/* Returns the application of the services' ports; `service` is the one of their services. listener_tag: a door. */
struct http_application front_application_for(const struct http_application *service);
/* Returns the application of the internal endpoint. listener_tag: the front. */
struct http_application front_internal_application_for(const struct http_application *service);
/* Prepares the doors, and the metrics of forwarding. names: of the services; static. key: NULL if nothing is forwarded.
 * log: of forwarded requests, or NULL. Main thread. */
void front_init(struct front *front, const struct http_application *service,
                const char *const names[FORWARD_SERVICES], struct net_key *key,
                void (*log)(const struct forward_logged *logged));
/* Frees what it holds, once all servers have stopped. Main thread. */
void front_release(struct front *front);
/* Has requests go to the cells of what they are about. tags: of the doors. Before the servers start. Main thread. */
void front_use_names(struct front *front, front_names_fn *names,
                     void *const tags[FORWARD_SERVICES]);
/* Has this application execute requests of other front ends on their own behalf, which reach the internal endpoint only.
 * Before that starts. Main thread. */
void front_serve_peers(struct front *front, const struct http_application *application, void *tag);
/* Says in a sentence, which may have two parts, who owns the cells. Thread-safe. */
void front_set_status(struct front *front, const char *status, const char *more);
/* Has the doors pass requests on to the services from now on. Main thread, once. */
void front_serve(struct front *front, const struct tenure *tenure, uint32_t cell,
                 uint64_t incarnation);
/* Has other front ends wait for the next owner of the cell, since this one stops: later requests are refused. Waits until those
 * in progress have ended, for at most `ms`. Returns false if one has not. Main thread. */
bool front_hand_over(struct front *front, unsigned ms);

#endif
