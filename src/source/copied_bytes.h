/* The layout of gathered bytes in their source. */
#ifndef LAGRA_SOURCE_COPIED_BYTES_H
#define LAGRA_SOURCE_COPIED_BYTES_H

#include "content/content.h"

struct copied_bytes {
    const struct content_block *blocks; /* ids and lengths of its committed blocks, in order */
    size_t block_count;
    const struct content_range *ranges; /* sparse source: the ranges that contain bytes */
    size_t range_count;
};

/* A step of a sparse source that is copied in steps. */
struct copied_step {
    uint64_t from, to; /* copied range of the source */
    uint64_t length;   /* of the entire source */
    const struct body *body;
    const struct copied_bytes *bytes;
};

#endif
