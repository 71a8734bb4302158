/* Which bytes of a content a read is asked for: Get Blob, Get File. Plain values;
 * service/read_answer.h reads them from a request. */
#ifndef LAGRA_SERVICE_READ_RANGE_H
#define LAGRA_SERVICE_READ_RANGE_H

#include "service/decision.h"

/* Positions of bytes, which may lie past the end of what is read. */
struct read_range {
    bool is_given;
    uint64_t first, last;
    bool md5, crc64; /* of the range: wanted */
    /* The header that asked for the hash, named by the error when the range is too long for it. */
    struct {
        const char *name;
        struct bytes value;
    } sum_source;
};

struct read_part {
    bool is_part; /* a range, not all */
    uint64_t offset, length;
};

/* The part of a content of this length. Decides.
 * returns  OK; E_InvalidRange: it begins past the end; E_InvalidHeaderValue: a sum of a range that
 *          is too long for it */
enum error read_range_find(struct decision *d, const struct read_range *asked, uint64_t length,
                           struct read_part *ret_part);

#endif
