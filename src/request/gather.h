/* Gathering: an operation gets bytes that its request only names (a source URL) into its body,
 * before it is decided, as if they had come with the request. On a thread that may wait for disks
 * and for other machines (endpoint.gather_pool). */
#ifndef LAGRA_REQUEST_GATHER_H
#define LAGRA_REQUEST_GATHER_H

#include "service/server.h"

struct gathering {
    const struct endpoint *endpoint;
    struct call *call; /* its input.body is to be filled; sums as its wants_md5, wants_crc64 say */
    struct decision *decision;
    struct stage **stage; /* where larger ones are staged; the exchange closes it */
    uint64_t *seen;       /* newest sequence of anything that was read: raised */
};

/* Raises *seen. */
void gather_saw(struct gathering *g, uint64_t sequence);

struct gather_source {
    /* Next 1..max bytes; 0 at the end. returns OK, or what the request is answered with */
    enum error (*read)(struct gather_source *source, char *to, size_t max, size_t *ret_count);
    uint64_t length; /* HTTP_LENGTH_UNKNOWN; where it is known, the source ends there */
    uint64_t max;    /* a longer body is E_RequestBodyTooLarge */
    /* The lengths of the blocks of which it is made: in pieces of their own. NULL: they do not
     * matter. */
    const uint64_t *blocks;
    size_t block_count;
};
/* Reads all of the source into the body of the call, and makes it durable. Bodies of up to
 * call->inline_max bytes lie in memory. */
enum error gather_body(struct gathering *g, struct gather_source *source);

#endif
