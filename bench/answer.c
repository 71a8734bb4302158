/* A small incremental reader of HTTP/1.1 answers: Content-Length or chunked. */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>

void answer_begin(struct answer *answer)
{
    answer->part = IN_HEAD;
    answer->head_length = 0;
    answer->status = 0;
    answer->left = 0;
    answer->body_bytes = 0;
    answer->chunked = false;
    answer->bad = false;
    answer->etag[0] = '\0';
    answer->lease_id[0] = '\0';
    answer->start_length = 0;
}

static void keep(char *to, size_t size, struct bytes value)
{
    snprintf(to, size, "%.*s", BYTES_ARG(value));
}

static void read_header(struct answer *answer, struct bytes line)
{
    struct bytes name, value;

    bytes_cut(line, ':', &name, &value);
    value = bytes_trim(value);
    if (bytes_is_nocase(name, "content-length"))
        bytes_parse_u64(value, UINT64_MAX, &answer->left);
    else if (bytes_is_nocase(name, "transfer-encoding"))
        answer->chunked = bytes_is_nocase(value, "chunked");
    else if (bytes_is_nocase(name, "etag"))
        keep(answer->etag, sizeof answer->etag, value);
    else if (bytes_is_nocase(name, "x-ms-lease-id"))
        keep(answer->lease_id, sizeof answer->lease_id, value);
}

static void read_head(struct answer *answer)
{
    struct bytes rest = bytes_of(answer->head, answer->head_length);
    struct bytes line;

    bytes_cut(rest, '\n', &line, &rest);
    answer->bad = line.len < 12 || memcmp(line.ptr, "HTTP/1.", 7) != 0;
    if (answer->bad)
        return;
    answer->status = (int)strtol(line.ptr + 9, NULL, 10);
    while (rest.len > 0) {
        bytes_cut(rest, '\n', &line, &rest);
        if (line.len > 0 && line.ptr[line.len - 1] == '\r')
            line.len--;
        read_header(answer, line);
    }
    if (answer->status == 304 || answer->status == 204)
        answer->left = 0;
    answer->part = answer->chunked ? IN_CHUNK_SIZE : answer->left > 0 ? IN_BODY : COMPLETE;
    answer->head_length = 0;
}

/* Collects up to and including `end`; true when it is there. */
static bool collect(struct answer *answer, const char *end, const char *data, size_t length,
                    size_t *ret_taken)
{
    size_t end_length = strlen(end);

    for (size_t i = 0; i < length; i++) {
        if (answer->head_length == ANSWER_HEAD_MAX - 1) {
            answer->bad = true;
            break;
        }
        answer->head[answer->head_length++] = data[i];
        answer->head[answer->head_length] = '\0';
        if (answer->head_length >= end_length &&
            memcmp(answer->head + answer->head_length - end_length, end, end_length) == 0) {
            *ret_taken = i + 1;
            return true;
        }
    }
    *ret_taken = length;
    return false;
}

static size_t take_body(struct answer *answer, const char *data, size_t length,
                        enum answer_part next)
{
    size_t taken = answer->left < length ? (size_t)answer->left : length;
    size_t room = START_MAX - answer->start_length;
    size_t kept = taken < room ? taken : room;

    memcpy(answer->start + answer->start_length, data, kept);
    answer->start_length += kept;
    answer->left -= taken;
    answer->body_bytes += taken;
    if (answer->left == 0)
        answer->part = next;
    return taken;
}

static void read_chunk_size(struct answer *answer)
{
    answer->left = strtoull(answer->head, NULL, 16);
    answer->head_length = 0;
    answer->part = answer->left > 0 ? IN_CHUNK : IN_TRAILER;
}

static size_t take_part(struct answer *answer, const char *data, size_t length)
{
    size_t taken = 0;

    switch (answer->part) {
    case IN_HEAD:
        if (collect(answer, "\r\n\r\n", data, length, &taken))
            read_head(answer);
        return taken;
    case IN_BODY:
        return take_body(answer, data, length, COMPLETE);
    case IN_CHUNK:
        return take_body(answer, data, length, IN_CHUNK_END);
    case IN_CHUNK_SIZE:
        if (collect(answer, "\r\n", data, length, &taken))
            read_chunk_size(answer);
        return taken;
    case IN_CHUNK_END:
    case IN_TRAILER:
        if (collect(answer, "\r\n", data, length, &taken)) {
            answer->head_length = 0;
            answer->part = answer->part == IN_TRAILER ? COMPLETE : IN_CHUNK_SIZE;
        }
        return taken;
    case COMPLETE:
        break;
    }
    return 0;
}

size_t answer_take(struct answer *answer, const char *data, size_t length)
{
    size_t taken = 0;

    while (taken < length && answer->part != COMPLETE && !answer->bad)
        taken += take_part(answer, data + taken, length - taken);
    return taken;
}
