/* Byte range of a read: Get Blob, Get File. Plain values; service/read_answer.h reads them from a
 * request. */
#ifndef LAGRA_SERVICE_READ_RANGE_H
#define LAGRA_SERVICE_READ_RANGE_H

#include "service/decision.h"

/* Byte positions, which may be past the end of the content. */
struct read_range {
    bool is_given;
    uint64_t first, last;
    bool md5, crc64; /* requested checksums of the range */
    /* Header that requested the checksum, for the error if the range is too long. */
    struct {
        const char *name;
        struct bytes value;
    } sum_source;
};

struct read_part {
    bool is_part; /* a range, not the complete content */
    uint64_t offset, length;
};

/* Finds the requested part of content of this length.
 * Returns  OK; E_InvalidRange: starts past the end; E_InvalidHeaderValue: range is too long for a
 * checksum. */
enum error read_range_find(struct decision *d, const struct read_range *range, uint64_t length,
                           struct read_part *ret_part);

#endif
