/* Incremental decoder for chunked bodies (rfc: 9112 7.1). Lines must end with CR LF, and only
 * extensions may follow a chunk size. Extensions and trailer fields are checked, limited and
 * discarded.
 *
 * Pure. Internal to http/. Thread-safe. */
#ifndef LAGRA_HTTP_CHUNKS_H
#define LAGRA_HTTP_CHUNKS_H

#include "base/bytes.h"

/* Maximum length of a chunk size with its extensions */
#define CHUNK_LINE_MAX    4096u
/* Maximum length of all trailer fields together */
#define CHUNK_TRAILER_MAX (16u * 1024u)

enum chunk_place {
    CHUNK_SIZE_FIRST, /* at the first digit of a chunk size */
    CHUNK_SIZE,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_LINE,         /* at the start of a trailer field or of the final CR LF */
    CHUNK_TRAILER_NAME, /* after its first character */
    CHUNK_TRAILER_VALUE,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF,
    CHUNK_ENDED,
};
/* Initially zeroed. */
struct chunks {
    enum chunk_place place;
    uint64_t left;      /* unread bytes of the chunk, or the size while it is being read */
    unsigned line_size; /* length of the chunk size line, or of all trailer fields so far */
};

enum chunk_result {
    CHUNK_MORE,      /* need more input */
    CHUNK_RUN,       /* body bytes follow */
    CHUNK_END,       /* end of the body; the next request follows */
    CHUNK_MALFORMED, /* 400 */
    CHUNK_TOO_LARGE, /* 413: chunk size of 2^63 or more */
};
/* Skips framing at the start of the input.
 *
 * ret_framing  number of framing bytes skipped
 * ret_run      with CHUNK_RUN: number of body bytes that follow. Call chunks_took() with the number
 *              consumed, and pass the others again */
enum chunk_result chunks_next(struct chunks *chunks, struct bytes input, size_t *ret_framing,
                              size_t *ret_run);
void chunks_took(struct chunks *chunks, size_t bytes);

#endif
