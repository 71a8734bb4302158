/* Reading the head of a resource on this server that a request names by its URL: the source of a copy.
 *
 * The URL is routed, its credentials are authenticated, the operation is found, and it is decided, by the
 * functions that do this for requests: so there is no second set of rules for a source. There is no
 * exchange and no answer: what comes of it is the typed result. A `struct request` is made, because these
 * functions read the URL, the conditions and the credentials from one; it has nothing else. */
#ifndef LAGRA_REQUEST_LOCAL_SOURCE_READ_H
#define LAGRA_REQUEST_LOCAL_SOURCE_READ_H

#include "service/server.h"

struct inner_request {
    struct bytes host;                 /* as request->authority */
    struct bytes path;                 /* raw, from the first '/' */
    struct bytes query;                /* raw, without '?'; ptr NULL: none */
    const struct http_header *headers; /* conditions, credentials, version; names in lower case */
    size_t header_count;
    struct demands demands; /* beside the rights that the operation's row requires */
    bool secure;            /* counts as over TLS */
    bool is_forwarded;      /* as the request that names the source */
    struct bytes peer;      /* of that request */
    uint64_t
        placement; /* incarnation under which the container was placed in this cell; 0: none is known */
    bool may_be_elsewhere; /* a container that is not here may be in another cell */
    /* The caller's identity, used if the source belongs to `account`. NULL, or another account: the
     * identity is that of the credentials in the query and the headers. */
    const struct identity *identity;
    struct bytes account;
};

/* Allocated in the arena given. */
struct inner;

/* Decides the operation that a HEAD request for the URL would ask for. Blocks as long as it takes. The
 * snapshot of the partition stays open, so that the caller can read the content from the same state.
 *
 * *ret_inner  set whatever is returned; the caller calls inner_end() in any case
 * returns     OK, or the error that such a request would be answered with; E_MisdirectedRequest if the container is in another
 *             cell, or may be. Thread that may block. */
enum error inner_read(const struct endpoint *endpoint, struct arena *arena,
                      const struct inner_request *asked, struct inner **ret_inner);
/* The account of the URL; empty if routing failed before it was known. */
struct bytes inner_account(const struct inner *inner);
/* The operation that was found, and its result. After OK. */
const struct operation *inner_operation(const struct inner *inner);
const struct result *inner_result(const struct inner *inner);
/* Details of the error. */
const struct problem *inner_problem(const struct inner *inner);
/* Newest sequence of anything that was read. */
uint64_t inner_seen(const struct inner *inner);
/* The open snapshot, which the caller now owns. After OK, once. */
struct snapshot *inner_take_snapshot(struct inner *inner);
/* Closes what is open. */
void inner_end(struct inner *inner);

#endif
