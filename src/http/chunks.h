/* The framing of a chunked body (rfc: 9112 7.1), taken off while it comes in. Lines end with CR LF,
 * nothing may stand between a size and its line's end but extensions; those and the trailer fields
 * are checked, bounded and dropped.
 *
 * Pure. Inside http/ only. Any thread. */
#ifndef LAGRA_HTTP_CHUNKS_H
#define LAGRA_HTTP_CHUNKS_H

#include "base/bytes.h"

/* Of a size with its extensions. */
#define CHUNK_LINE_MAX    4096u
/* Of all trailer fields together. */
#define CHUNK_TRAILER_MAX (16u * 1024u)

enum chunk_place {
    CHUNK_SIZE_FIRST, /* the first digit of a size */
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_LINE,         /* a trailer field begins, or the last CR LF */
    CHUNK_TRAILER_NAME, /* behind its first character */
    CHUNK_TRAILER_VALUE,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF,
    CHUNK_ENDED,
};
/* Zeroed: before the first chunk. */
struct chunks {
    enum chunk_place place;
    uint64_t left; /* bytes of the chunk that have not been taken; while its size is read: it */
    unsigned line_size; /* of this line; of all trailer fields */
};

enum chunk_result {
    CHUNK_MORE,      /* the input has no byte of the body, nor its end */
    CHUNK_RUN,       /* bytes of the body follow */
    CHUNK_END,       /* of the body; what follows is the next request */
    CHUNK_MALFORMED, /* 400 */
    CHUNK_TOO_LARGE, /* a size beyond 63 bits: 413 */
};
/* Passes over framing at the begin of the input.
 *
 * ret_framing  its bytes: they are done with
 * ret_run      CHUNK_RUN: so many bytes of the body lie behind it; what is taken of them is
 *              reported by chunks_took(), the rest is to be given again */
enum chunk_result chunks_next(struct chunks *chunks, struct bytes input, size_t *ret_framing,
                              size_t *ret_run);
void chunks_took(struct chunks *chunks, size_t bytes);

#endif
