/* What blobs are made of, as the reference describes it: blocks, what was appended, pages. Values:
 * a change makes new ones, and a snapshot keeps the old. */
#ifndef LAGRA_SIM_CONTENTS_H
#define LAGRA_SIM_CONTENTS_H

#include "request.h"

/* One block of an append blob, and those before it. */
struct appended {
    const struct appended *before;
    struct segment bytes;
    uint32_t from;
};

/* The page has bytes `from` and on of the pattern of `seed`. */
struct blob_page {
    uint64_t seed, from;
    uint64_t mark; /* of the write; 0: a hole */
};
struct blob_pages {
    unsigned count;
    struct blob_page at[];
};

struct contents {
    enum blob_kind kind;
    bool of_blocks;
    struct segment segments[SEGMENTS_MAX]; /* of a block blob */
    unsigned segment_count;
    const struct appended *last; /* of an append blob */
    unsigned appended;
    bool sealed;
    const struct blob_pages *pages; /* of a page blob */
    uint64_t made;                  /* by which Put Blob: others have no pages in common */
    uint64_t sequence;
    unsigned key; /* of the customer; 0: none */
};

uint32_t contents_length(const struct contents *contents);
/* Beside bytes from `from` on; NULL: they are these. */
const char *contents_compare(const struct contents *contents, uint32_t from,
                             const unsigned char *bytes, size_t size);

/* kept: the result is to last. Else it lasts until the next such call. */
void contents_append(struct contents *contents, const struct segment *bytes, bool kept);
/* Pages that there are none of yet are holes. */
void contents_resize(struct contents *contents, uint32_t size, bool kept);
/* bytes NULL: clears them. */
void contents_write(struct contents *contents, uint32_t from, uint32_t length,
                    const struct segment *bytes, uint64_t mark, bool kept);

/* The next range in [from, to) with bytes or, if older is not NULL, that differs from the older
 * contents: *ret_from is at least from. False: there is none. */
bool contents_range(const struct contents *contents, const struct contents *older, uint32_t from,
                    uint32_t to, uint32_t *ret_from, uint32_t *ret_to, bool *ret_is_clear);

#endif
