/* The front end's HTTP applications. The application of the services' ports executes requests for
 * the cell that this process owns, and forwards all others to the owners of their cells
 * (forward.h). A process owns at most one cell. It changes from standing by to serving once and
 * never back, because it ends when it loses its cell.
 *
 *   standing by  GET /-/live            200
 *                GET /-/ready           the response of the root's owner; 503 if it is unreachable
 *                GET /-/ready?cell      503, with the owners of the cells
 *                other requests         forwarded; 503 ServerBusy with Retry-After without an owner
 *   serving      requests for the cell get the service's responses while the tenure holds;
 *                afterwards connections are closed without a response. Others are forwarded
 *
 * GET /-/ready?cluster gets 200 if every cell has an owner that executes requests, as far as this
 * front end knows; otherwise 503 with the cells that have none.
 *
 * The application of the internal endpoint executes requests forwarded by other front ends, while
 * this process owns the cell under the incarnation in their envelope. It refuses all others
 * (FORWARD_NOT_OWNER). It never forwards, so there are no loops. */
#ifndef LAGRA_CLUSTER_FRONT_H
#define LAGRA_CLUSTER_FRONT_H

#include "base/tenure.h"
#include "cluster/forward.h"

/* Finds the account and the container, queue, table or share of a request, in the service's
 * spelling. Returns false if the request names none. Called on a worker. tag: of the door */
typedef bool front_names_fn(void *tag, struct exchange *exchange, struct bytes *ret_account,
                            struct bytes *ret_container);

/* One service; request.listener_tag points to it. */
struct front_door {
    struct front *front;
    const struct http_application *application; /* the service's application */
    void *tag;       /* the application's listener_tag, once the front serves */
    void *names_tag; /* tag for front.names */
    struct forwarding forwarding;
};

/* State shared by all doors of a process. */
struct front {
    struct front_door doors[FORWARD_SERVICES];
    struct route route;
    struct placements placements;
    front_names_fn *names; /* NULL if all requests go to the root; constant */
    /* Executes other front ends' own requests (peer.h), or NULL. Constant. */
    const struct http_application *peer_application;
    void *peer_tag;     /* listener_tag of peer_application */
    bool forwards;      /* constant; doors[].forwarding.key is set */
    atomic_bool serves; /* the next three fields are set and will not change */
    const struct tenure *tenure;
    uint32_t cell;
    uint64_t incarnation;
    atomic_bool hands_over; /* this process is about to give up the cell */
    atomic_uint executing;  /* number of other front ends' requests being executed here */
    struct lock lock;       /* RANK_CELLS; protects `status` */
    char status[512];       /* response of /-/ready?cell */
};

/* Returns the application for the services' ports; `service` is the services' own application.
 * listener_tag: a door. */
struct http_application front_application_for(const struct http_application *service);
/* Executes or forwards requests for the services at another port, once the front serves.
 * listener_tag: a door. */
extern const struct http_application front_relay_application;
/* Returns the application for the internal endpoint. listener_tag: the front. */
struct http_application front_internal_application_for(const struct http_application *service);
/* Initializes the doors and the metrics of forwarding. names: service names, static. key: NULL if
 * nothing is forwarded. log: called for each forwarded request, or NULL. Main thread. */
void front_init(struct front *front, const struct http_application *service,
                const char *const names[FORWARD_SERVICES], struct net_key *key,
                void (*log)(const struct forward_logged *logged));
/* Frees its memory, once all servers have stopped. Main thread. */
void front_release(struct front *front);
/* Routes requests by the container they name. tags: one for each door. Called on the main thread
 * before the servers start. */
void front_use_names(struct front *front, front_names_fn *names,
                     void *const tags[FORWARD_SERVICES]);
/* Sets the application that executes other front ends' own requests, which are accepted only at the
 * internal endpoint. Called on the main thread before that endpoint starts. */
void front_serve_peers(struct front *front, const struct http_application *application, void *tag);
/* Sets the sentence that reports who owns the cells, in one or two parts. Thread-safe. */
void front_set_status(struct front *front, const char *status, const char *more);
/* Makes the doors pass requests to the services. Called once, on the main thread. */
void front_serve(struct front *front, const struct tenure *tenure, uint32_t cell,
                 uint64_t incarnation);
/* Prepares to give up the cell. Refuses later requests of other front ends, so that they wait for
 * the next owner, and waits up to `ms` for those in progress. Returns false if one has not ended.
 * Main thread. */
bool front_hand_over(struct front *front, unsigned ms);

#endif
