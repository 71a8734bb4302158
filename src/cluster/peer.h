/* Requests of a front end to the owner of another cell, on its own behalf: a POST to a path below
 * "/-/" at the owner's internal endpoint, in an envelope that names no client (ENVELOPE_OF_PEER).
 * Both ends have the cluster's key. The owner refuses a request whose envelope names another
 * incarnation, so a request is never executed by two owners of a cell. It also refuses a request
 * that names a renewal older than its lease (lease invariant 5), so a delayed request is not
 * executed after its sender has given up.
 *
 *   peer_begin()  sends the request if the owner can be reached
 *   peer_end()    waits for the response; retries the request while that is safe
 *
 * Requests to several cells are all sent before the first response is awaited, so their owners work
 * at the same time. All functions may block for the request's timeout (timeout_ms), and are never
 * called on a worker. The caller must check the contents of a response like data from outside. */
#ifndef LAGRA_CLUSTER_PEER_H
#define LAGRA_CLUSTER_PEER_H

#include "base/arena.h"
#include "cluster/route.h"

struct net_key;
struct net_stream;

/* Maximum number of idle connections kept for later requests, and their lifetime, which is shorter
 * than at the owner (120 s). */
#define PEER_IDLE_MAX    16u
#define PEER_IDLE_S      20u
/* Maximum size of a response body. */
#define PEER_BODY_MAX    ((size_t)16 << 20)
#define PEER_PATIENCE_MS 5000u

struct peer_idle {
    struct net_stream *stream; /* NULL: the slot is free */
    uint32_t cell;
    uint64_t incarnation;
    uint64_t since_ns;
};

struct peers {
    struct route *route;
    struct net_key *key;
    _Atomic uint64_t ends_ns; /* no request continues after this time; 0: no limit */
    struct lock lock;         /* RANK_CELLS */
    struct peer_idle idle[PEER_IDLE_MAX];
};

struct peer_request {
    uint32_t cell;
    const char *path;     /* "/-/list" */
    struct bytes body;    /* valid until peer_end() */
    size_t response_max;  /* maximum size of the response's body; at most PEER_BODY_MAX */
    unsigned timeout_ms;  /* from peer_begin() to the end of the response; 0: PEER_PATIENCE_MS */
    unsigned response_ms; /* additional time once the entire request was sent */
    bool is_repeatable;   /* executing it twice has the same effect as executing it once */
};

enum peer_result {
    PEER_OK,       /* there is a response, with any status */
    PEER_NO_OWNER, /* no owner was reached: the request was not executed */
    /* It may have been executed: its owner was lost, does not renew its lease, took too long, or
     * sent no valid response. */
    PEER_LOST,
};

struct peer_response {
    int status;
    struct bytes body; /* in the arena */
};

struct peer_call;

/* route, key: must outlive the peers */
void peers_init(struct peers *peers, struct route *route, struct net_key *key);
/* Ends all requests within `ms`, including later ones, because this process is stopping.
 * Thread-safe. */
void peers_end(struct peers *peers, unsigned ms);
/* Closes the connections. No request is in progress. */
void peers_release(struct peers *peers);
/* Starts a request. The caller must call peer_end() in any case. The call is allocated in the
 * arena. */
struct peer_call *peer_begin(struct peers *peers, const struct peer_request *request,
                             struct arena *arena);
enum peer_result peer_end(struct peer_call *call, struct peer_response *ret_response);
/* Waits like peer_end(), but only for the headers of the response; the body is read with
 * peer_read(). After PEER_OK the caller must call peer_close().
 *
 * ret_length  length of the body */
enum peer_result peer_end_head(struct peer_call *call, int *ret_status, uint64_t *ret_length);
/* Reads the next 1..max bytes of a body that is not at its end. May block for the request's
 * timeout. Returns their number, or 0 if the owner was lost. */
size_t peer_read(struct peer_call *call, char *to, size_t max);
/* Ends the call. Reuses the connection if the entire body was read, and closes it otherwise. */
void peer_close(struct peer_call *call);
/* Calls peer_begin() and peer_end(). */
enum peer_result peer_ask(struct peers *peers, const struct peer_request *request,
                          struct arena *arena, struct peer_response *ret_response);

#endif
