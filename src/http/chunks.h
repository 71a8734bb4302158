/* Decodes the framing of a chunked body (rfc: 9112 7.1) as it arrives. Lines must end with CR LF,
 * and only extensions may follow a size; extensions and trailer fields are checked, limited and
 * discarded.
 *
 * Pure. Internal to http/. Thread-safe. */
#ifndef LAGRA_HTTP_CHUNKS_H
#define LAGRA_HTTP_CHUNKS_H

#include "base/bytes.h"

/* Maximum of a size with its extensions. */
#define CHUNK_LINE_MAX    4096u
/* Maximum of all trailer fields together. */
#define CHUNK_TRAILER_MAX (16u * 1024u)

enum chunk_place {
    CHUNK_SIZE_FIRST, /* at the first digit of a size */
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_LINE,         /* at a trailer field, or the last CR LF */
    CHUNK_TRAILER_NAME, /* after its first character */
    CHUNK_TRAILER_VALUE,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF,
    CHUNK_ENDED,
};
/* Zeroed before the first chunk. */
struct chunks {
    enum chunk_place place;
    uint64_t left;      /* unread bytes of the chunk, or the size while it is being read */
    unsigned line_size; /* size of this line, or of all trailer fields */
};

enum chunk_result {
    CHUNK_MORE,      /* the input contains neither body bytes nor the end */
    CHUNK_RUN,       /* bytes of the body follow */
    CHUNK_END,       /* end of the body; the next request follows */
    CHUNK_MALFORMED, /* 400 */
    CHUNK_TOO_LARGE, /* a size beyond 63 bits: 413 */
};
/* Skips framing at the start of the input.
 *
 * ret_framing  number of framing bytes, which are consumed
 * ret_run      CHUNK_RUN: number of body bytes after it; report consumed ones with chunks_took(),
 *              and pass the rest again */
enum chunk_result chunks_next(struct chunks *chunks, struct bytes input, size_t *ret_framing,
                              size_t *ret_run);
void chunks_took(struct chunks *chunks, size_t bytes);

#endif
