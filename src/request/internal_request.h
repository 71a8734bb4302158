/* A request that the server makes to itself, for its operator: routed, checked, decided and rendered by the functions
 * that do this for requests, so there is no second way to do what it asks for. There is no connection, no
 * authentication, and the right of the account's key. For operations without a batch and without a source of their own. */
#ifndef LAGRA_REQUEST_INTERNAL_REQUEST_H
#define LAGRA_REQUEST_INTERNAL_REQUEST_H

#include "request/gather.h"

struct own_request {
    enum http_method method;
    struct bytes path;                 /* raw, with the account in front: "/account/container" */
    struct bytes query;                /* raw, without '?'; ptr NULL: none */
    const struct http_header *headers; /* names in lower case */
    size_t header_count;
    struct bytes body;            /* small: it stays in memory */
    struct gather_source *source; /* of a body of any length that is known, instead; NULL: none */
    bool is_for_cell;             /* a list for another cell: as struct call */
    bool by_service;              /* the service wants it, not its operator: as struct input */
};

struct own_answer {
    enum error error;                  /* OK: what was asked for is done, and durable */
    const struct operation *operation; /* that it was found to be; NULL: none */
    struct bytes detail;               /* of an error, a sentence; may be empty */
    struct response response;          /* as a client would get it */
};

/* In the arena. Blocks as long as it takes. Thread that may block. */
void own_request_run(const struct endpoint *endpoint, struct arena *arena,
                     const struct own_request *asked, struct own_answer *ret_answer);

#endif
