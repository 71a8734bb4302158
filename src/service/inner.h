/* A read that the server makes of itself, for a request that names another resource: the source of
 * a copy. It goes the way of a request that came by a socket (routing, who asks, the operation's
 * row, its conditions and permission), so there is no second set of rules for it. */
#ifndef LAGRA_SERVICE_INNER_H
#define LAGRA_SERVICE_INNER_H

#include "service/server.h"

struct inner_request {
    enum http_method method;           /* GET or HEAD */
    struct bytes host;                 /* as request->authority */
    struct bytes path;                 /* raw, from the first '/' */
    struct bytes query;                /* raw, without '?'; ptr NULL: none */
    const struct http_header *headers; /* names in lower case */
    size_t header_count;
    struct demands demands; /* of who asks, beside what the row of the read says */
    bool secure;            /* counts as over TLS */
    struct bytes peer;      /* of the request that names the source */
    /* Who asks, where the read is of this account; NULL, or another account: whom the query and the
     * headers name. */
    const struct identity *identity;
    struct bytes account;
};

/* Lies in the arena that it was begun with. */
struct inner;

/* Decides it, waiting for whatever it takes. Its snapshot of the partition stays open: what it
 * returned is read from there.
 *
 * *ret_inner  set whatever is returned; inner_end() is called in any case
 * returns     OK, or the error that the request would be answered with. Thread that may block. */
enum error inner_read(const struct endpoint *endpoint, struct arena *arena,
                      const struct inner_request *asked, struct inner **ret_inner);
/* The account that is addressed; empty when it came not so far. */
struct bytes inner_account(const struct inner *inner);
/* Of the row that was found, after OK. */
const struct operation *inner_operation(const struct inner *inner);
const struct result *inner_result(const struct inner *inner);
/* What is said of the error. */
const struct problem *inner_problem(const struct inner *inner);
/* Newest sequence of anything that was read. */
uint64_t inner_seen(const struct inner *inner);
/* The open snapshot, whose owner is the caller now. After OK, once. */
struct snapshot *inner_take_snapshot(struct inner *inner);
void inner_end(struct inner *inner);

#endif
