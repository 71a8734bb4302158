/* Reads the properties of a copy source on this server, given its URL.
 *
 * The functions that execute requests also route the URL, authenticate its credentials and decide
 * the operation, so a source follows the same rules as a request. There is no exchange and no
 * response, only the typed result. */
#ifndef LAGRA_REQUEST_LOCAL_SOURCE_READ_H
#define LAGRA_REQUEST_LOCAL_SOURCE_READ_H

#include "service/server.h"

struct source_read_request {
    struct bytes host;                 /* like request->authority */
    struct bytes path;                 /* raw, starting with '/' */
    struct bytes query;                /* raw, without '?'; ptr NULL if none */
    const struct http_header *headers; /* conditions, credentials, version; names in lower case */
    size_t header_count;
    struct demands demands; /* in addition to the rights that the operation's row requires */
    bool secure;            /* treated as received over TLS */
    bool is_forwarded;      /* like the request that names the source */
    struct bytes peer;      /* client of that request */
    /* Incarnation under which the container was placed in this cell; 0 if none is known. */
    uint64_t placement;
    bool may_be_elsewhere; /* a container that does not exist here may be in another cell */
    /* Identity to use if the source belongs to `account`. If it is NULL or the source belongs to
     * another account, the credentials in query and headers are used. */
    const struct identity *identity;
    struct bytes account;
    const struct customer_key *key; /* of the source; NULL if none was sent */
};

/* Allocated in the caller's arena. */
struct source_read;

/* Decides the operation that a HEAD request for the URL selects. Leaves the snapshot of the
 * partition open, so that the caller can read the content from the same state. May block.
 *
 * *ret_read  always set; the caller must call source_read_end()
 * returns    OK, or the error that such a request would fail with; E_MisdirectedRequest if the
 *            container is in another cell, or may be */
enum error source_read_begin(const struct endpoint *endpoint, struct arena *arena,
                             const struct source_read_request *options,
                             struct source_read **ret_read);
/* Returns the account of the URL; empty if routing failed before it was known. */
struct bytes source_read_account(const struct source_read *inner);
/* Return the operation and its result. Valid after OK. */
const struct operation *source_read_operation(const struct source_read *inner);
const struct result *source_read_result(const struct source_read *inner);
/* Returns details of the error. */
const struct problem *source_read_problem(const struct source_read *inner);
/* Returns the newest sequence of anything that was read. */
uint64_t source_read_seen(const struct source_read *inner);
/* Passes ownership of the open snapshot to the caller. Valid once, after OK. */
struct read_view *source_read_take_snapshot(struct source_read *inner);
/* Closes the read and its snapshot, unless the caller owns it. */
void source_read_end(struct source_read *inner);

#endif
