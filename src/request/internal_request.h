/* Runs a request of the server to itself, on behalf of its operator. The request is routed,
 * checked, decided and rendered by the functions used for client requests, so there is only one
 * implementation of each operation. It has no connection and needs no authentication; it has the
 * rights of the account key. Does not support batches and operations that read from a source
 * URL. */
#ifndef LAGRA_REQUEST_INTERNAL_REQUEST_H
#define LAGRA_REQUEST_INTERNAL_REQUEST_H

#include "request/gather.h"

struct internal_request {
    enum http_method method;
    struct bytes path;                 /* raw, starting with the account: "/account/container" */
    struct bytes query;                /* raw, without '?'; ptr NULL if none */
    const struct http_header *headers; /* names in lower case */
    size_t header_count;
    struct bytes body;            /* small; stays in memory */
    struct gather_source *source; /* replaces `body`, with any known length; NULL if none */
    bool is_for_cell;             /* a list for another cell; see struct call */
    bool by_service;              /* on behalf of the service, not its operator; see struct input */
    bool is_divided;              /* its container may be in another cell (cell_request.h) */
    uint64_t placement;           /* as struct input */
};

struct internal_response {
    enum error error;                  /* OK if the operation was executed and is durable */
    const struct operation *operation; /* NULL if none was found */
    struct bytes detail;               /* sentence that explains the error; may be empty */
    struct response response;          /* response that a client would get */
    struct placement elsewhere;        /* as struct problem, with E_MisdirectedRequest */
};

/* Runs the request and waits until it is complete. Allocates in the arena. May block. */
void internal_request_run(const struct endpoint *endpoint, struct arena *arena,
                          const struct internal_request *internal,
                          struct internal_response *ret_answer);

#endif
