/* Gathering: reads the bytes at a source URL into the request body before the decision, as if the
 * client had sent them. Runs on a thread that may wait for disks and other machines
 * (endpoint.gather_pool). */
#ifndef LAGRA_REQUEST_GATHER_H
#define LAGRA_REQUEST_GATHER_H

#include "service/server.h"

struct gathering {
    const struct endpoint *endpoint;
    struct call
        *call; /* gather_body() fills its input.body, with checksums if wants_md5 or wants_crc64 */
    struct decision *decision;
    struct stage **stage; /* stage of a large body; closed by the exchange */
    uint64_t *seen;       /* newest sequence of anything read */
};

/* Raises *seen to the sequence. */
void gather_saw(struct gathering *g, uint64_t sequence);

struct gather_source {
    /* Reads the next 1..max bytes; 0 at the end. Returns OK, or the error of the request. */
    enum error (*read)(struct gather_source *source, char *to, size_t max, size_t *ret_count);
    uint64_t length; /* or HTTP_LENGTH_UNKNOWN */
    uint64_t max;    /* a longer body fails with E_RequestBodyTooLarge */
    /* lengths of the blocks to store as separate pieces; NULL if it does not matter */
    const uint64_t *blocks;
    size_t block_count;
};
/* Reads the entire source into the body of the call and makes it durable. Bodies of up to
 * call->inline_max bytes stay in memory. */
enum error gather_body(struct gathering *g, struct gather_source *source);

#endif
