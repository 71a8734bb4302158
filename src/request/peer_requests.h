/* Requests that other front ends of the cluster send on their own behalf (cluster/peer.h), as an http_application of the internal
 * endpoint, which alone passes them here. Each path has a handler, which runs on a thread of a pool, where it may wait for a disk. */
#ifndef LAGRA_REQUEST_PEER_REQUESTS_H
#define LAGRA_REQUEST_PEER_REQUESTS_H

#include "http/http.h"
#include "service/decide_pool.h"

struct peer_handler {
    const char *path; /* "/-/list" */
    size_t body_max;  /* of a request; longer ones are refused */
    /* Executes a request. Thread that may block.
     *
     * body      from another front end: it is checked like data from a client
     * ret_body  of the response, empty at first; in the arena
     * returns   the response's status */
    int (*run)(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
};

/* What request.listener_tag points to. */
struct peer_requests {
    const struct peer_handler *handlers;
    size_t count;
    void *context; /* of the handlers */
    struct decide_pool *pool;
};

extern const struct http_application peer_requests_application;

#endif
