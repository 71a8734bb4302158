/* Reads answers from a stream, one at a time, keeping of their bodies the first bytes alone. */
#ifndef LAGRA_BENCH_ANSWER_H
#define LAGRA_BENCH_ANSWER_H

#include "base/bytes.h"

#define ANSWER_HEAD_MAX 8192
#define ETAG_MAX        64
#define LEASE_ID_MAX    64
#define START_MAX       1024

enum answer_part { IN_HEAD, IN_BODY, IN_CHUNK_SIZE, IN_CHUNK, IN_CHUNK_END, IN_TRAILER, COMPLETE };

struct answer {
    enum answer_part part;
    char head[ANSWER_HEAD_MAX]; /* so far, also of a chunk's size line; if it comes in pieces */
    size_t head_length;
    int status;
    uint64_t left; /* of the body or chunk */
    uint64_t body_bytes;
    bool chunked;
    bool bad; /* not HTTP */
    char etag[ETAG_MAX];
    char lease_id[LEASE_ID_MAX];
    char start[START_MAX]; /* of the body */
    size_t start_length;
};

void answer_begin(struct answer *answer);
/* Takes bytes up to the end of the answer; returns how many. part is COMPLETE when it is over. */
size_t answer_take(struct answer *answer, const char *data, size_t length);

#endif
