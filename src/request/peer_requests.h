/* Requests that other front ends of the cluster send on their own behalf (cluster/peer.h), as an http_application of the internal
 * endpoint, which alone passes them here. Each path has a handler, which runs on a thread of a pool, where it may wait for a disk. */
#ifndef LAGRA_REQUEST_PEER_REQUESTS_H
#define LAGRA_REQUEST_PEER_REQUESTS_H

#include "http/http.h"
#include "service/decide_pool.h"

/* Bytes that follow the body which a handler has written. */
struct peer_stream {
    uint64_t length;
    /* Reads the next 1..max bytes, of which some are left. Thread that may block. Returns false to close the connection. */
    bool (*read)(struct peer_stream *stream, char *to, size_t max, size_t *ret_count);
    void (*close)(struct peer_stream *stream);
};

/* As peer_handler.run, with a stream of bytes: ret_stream is NULL at first; one that is set is in the arena, and closed at the end
 * of the response. */
typedef int peer_stream_fn(void *context, struct bytes body, struct arena *arena,
                           struct text *ret_body, struct peer_stream **ret_stream);

struct peer_handler {
    const char *path; /* "/-/list" */
    size_t body_max;  /* of a request; longer ones are refused */
    /* Executes a request. Thread that may block.
     *
     * body      from another front end: it is checked like data from a client
     * ret_body  of the response, empty at first; in the arena
     * returns   the response's status */
    int (*run)(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
    peer_stream_fn *run_stream; /* instead of run */
};

/* What request.listener_tag points to. */
struct peer_requests {
    const struct peer_handler *handlers;
    size_t count;
    void *context; /* of the handlers */
    struct decision_pool *pool;
};

extern const struct http_application peer_requests_application;

/* Executes a list request of the root cell (other_cells.h) in another cell. */

/* Handler for peer_requests.h. context: struct endpoint_set */
int cell_list_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
