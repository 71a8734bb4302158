/* Length and checksums of a request body that contains data or names it. */
#ifndef LAGRA_SERVICE_REQUEST_BODY_H
#define LAGRA_SERVICE_REQUEST_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"

struct call;
struct answer;

/* Checksums of the body to return. */
struct body_sums {
    bool md5, crc64;
};

/* Maximum body size by x-ms-version: newest first, the last version is "". */
struct size_limit {
    const char *since;
    uint64_t bytes;
};
/* Checks the length against the limits. HTTP_LENGTH_UNKNOWN passes and must be checked again once
 * the body is complete.
 * Returns OK, E_RequestBodyTooLarge. */
enum error body_check_size(struct call *call, const struct size_limit *limits, uint64_t length);
/* Returns E_InvalidHeaderValue for Content-Length; its value is -1 for a chunked body, as recorded
 * for Put Blob. */
enum error body_fail_length(struct call *call);
/* Checks the length of a block: at least 1 byte, and at most what the limits allow.
 * Returns OK, E_InvalidHeaderValue, E_RequestBodyTooLarge. */
enum error body_check_block(struct call *call, const struct size_limit *limits);

/* Reads x-ms-structured-body and x-ms-structured-content-length into is_structured and
 * content_length. Operations that write data, and reads of content, accept structured bodies;
 * others refuse these headers.
 * Returns OK, E_UnsupportedHeader, E_InvalidHeaderValue, E_MissingRequiredHeader. */
enum error body_read_structured(struct call *call);
/* Adds the headers of a structured body to a successful response. */
void answer_structured(struct answer *a);

/* Reads which checksums of the body to return. Refuses requests with both checksums.
 * request/body_intake.c verifies them once the body is complete.
 * E_BothCrc64AndMd5HeaderPresent */
enum body_sums_rule {
    SUMS_OF_BLOB,    /* Put Blob: always both */
    SUMS_OF_PART,    /* Put Block: MD5 if it was sent, otherwise CRC-64 */
    SUMS_OF_LIST,    /* Put Block List: CRC-64, also if an MD5 was sent (recorded) */
    SUMS_MD5,        /* Put Range: always MD5 */
    SUMS_OF_NOTHING, /* no body: none */
};
enum error body_read_sums(struct call *call, enum body_sums_rule rule, struct body_sums *ret_sums);
/* Adds Content-MD5 and x-ms-content-crc64 of the body. */
void answer_body_sums(struct answer *a, const struct body_sums *sums);

#endif
