/* How gathered bytes are laid out in their source. */
#ifndef LAGRA_SOURCE_COPIED_BYTES_H
#define LAGRA_SOURCE_COPIED_BYTES_H

#include "content/content.h"

struct copied_bytes {
    const struct content_block *blocks; /* ids and lengths of its committed blocks, in order */
    size_t block_count;
    const struct content_range *ranges; /* of a sparse one: where they lie */
    size_t range_count;
};

/* A step of a sparse one that is copied step by step. */
struct copied_step {
    uint64_t from, to; /* the part of the source */
    uint64_t length;   /* of the source */
    const struct body *body;
    const struct copied_bytes *bytes;
};

#endif
