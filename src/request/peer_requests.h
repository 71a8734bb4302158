/* Requests that other front ends of the cluster send on their own behalf (cluster/peer.h), as an
 * http_application. Only the internal endpoint passes requests to it. Each path has a handler,
 * which runs on a thread of a pool and may wait for a disk. */
#ifndef LAGRA_REQUEST_PEER_REQUESTS_H
#define LAGRA_REQUEST_PEER_REQUESTS_H

#include "http/http.h"
#include "service/decide_pool.h"

/* Bytes that follow the body written by a handler. */
struct peer_stream {
    uint64_t length;
    /* Reads 1 to max of the remaining bytes. Called on a thread that may block, and only while
     * bytes remain. Returns false to close the connection. */
    bool (*read)(struct peer_stream *stream, char *to, size_t max, size_t *ret_count);
    void (*close)(struct peer_stream *stream);
};

/* Like peer_handler.run, with a stream of bytes. *ret_stream is initially NULL. If it is set, the
 * stream is in the arena, and is closed at the end of the response. */
typedef int peer_stream_fn(void *context, struct bytes body, struct arena *arena,
                           struct text *ret_body, struct peer_stream **ret_stream);

struct peer_handler {
    const char *path; /* "/-/list" */
    size_t body_max;  /* maximum size of a request body */
    /* Executes a request. Called on a thread that may block.
     *
     * body      sent by another front end; must be checked like data from a client
     * ret_body  body of the response, initially empty, in the arena
     * returns   status of the response */
    int (*run)(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
    peer_stream_fn *run_stream; /* used instead of `run` */
};

/* Target of request.listener_tag. */
struct peer_requests {
    const struct peer_handler *handlers;
    size_t count;
    void *context; /* passed to the handlers */
    struct decision_pool *pool;
};

extern const struct http_application peer_requests_application;

/* Executes a list request of the root cell (other_cells.h) in another cell. */

/* Handler for peer_requests.h. context: struct endpoint_set */
int cell_list_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
