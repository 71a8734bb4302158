/* The body of a request that brings bytes, or names them: its length and its sums. */
#ifndef LAGRA_SERVICE_REQUEST_BODY_H
#define LAGRA_SERVICE_REQUEST_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"

struct call;
struct answer;

/* Which sums of the body the answer holds. */
struct body_sums {
    bool md5, crc64;
};

/* The most bytes that a body may have, by x-ms-version: newest first, the last one's version "". */
struct size_limit {
    const char *since;
    uint64_t bytes;
};
/* length: HTTP_LENGTH_UNKNOWN passes, to be checked again when the body is complete.
 * returns OK, E_RequestBodyTooLarge */
enum error body_check_size(struct call *call, const struct size_limit *limits, uint64_t length);
/* Refuses the request because of the length of its body.
 * returns E_InvalidHeaderValue, which names Content-Length; it is -1 for a body in chunks, as recorded of Put Blob */
enum error body_fail_length(struct call *call);
/* The body of the request as a block: it has a byte, and at most what the limits allow.
 * returns OK, E_InvalidHeaderValue, E_RequestBodyTooLarge */
enum error body_check_block(struct call *call, const struct size_limit *limits);

/* Which sums of the body the answer will hold, and that not both were sent to be checked.
 * What was sent is compared by request/body_intake.c, when the body is complete.
 * E_BothCrc64AndMd5HeaderPresent */
enum body_sums_rule {
    SUMS_OF_BLOB,    /* Put Blob: always both */
    SUMS_OF_PART,    /* Put Block: MD5 if it was sent, else CRC-64 */
    SUMS_OF_LIST,    /* Put Block List: CRC-64, also if an MD5 was sent (recorded) */
    SUMS_MD5,        /* Put Range: always MD5 */
    SUMS_OF_NOTHING, /* there is no body: none */
};
enum error body_read_sums(struct call *call, enum body_sums_rule rule, struct body_sums *ret_sums);
/* Content-MD5 and x-ms-content-crc64 of the body. */
void answer_body_sums(struct answer *a, const struct body_sums *sums);

#endif
