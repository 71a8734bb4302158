/* A small incremental reader of HTTP/1.1 answers: Content-Length or chunked. */
#include "answer.h"

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
    size_t kept = value.len < size ? value.len : size - 1;

    memcpy(to, value.ptr, kept);
    to[kept] = '\0';
}

/* Of a line without its end. */
static void read_header(struct answer *answer, struct bytes line)
{
    struct bytes name, value;

    /* What begins otherwise is none of them. */
    if (line.len == 0 || !strchr("CcEeTtXx", line.ptr[0]))
        return;
    bytes_cut(line, ':', &name, &value);
    if (bytes_is_nocase(name, "content-length"))
        bytes_parse_u64(bytes_trim(value), UINT64_MAX, &answer->left);
    else if (bytes_is_nocase(name, "transfer-encoding"))
        answer->chunked = bytes_is_nocase(bytes_trim(value), "chunked");
    else if (bytes_is_nocase(name, "etag"))
        keep(answer->etag, sizeof answer->etag, bytes_trim(value));
    else if (bytes_is_nocase(name, "x-ms-lease-id"))
        keep(answer->lease_id, sizeof answer->lease_id, bytes_trim(value));
}

/* head: with its final empty line. */
static void read_head(struct answer *answer, struct bytes head)
{
    struct bytes rest = head;
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
}

/* Takes bytes up to and including `end`, and returns all of them since the last end; ptr NULL: it
 * is not there yet. What comes in one piece is not copied. */
static struct bytes collect(struct answer *answer, const char *end, const char *data, size_t length,
                            size_t *ret_taken)
{
    size_t end_length = strlen(end), before = answer->head_length, from;
    size_t room = ANSWER_HEAD_MAX - before, added = length < room ? length : room;
    const char *found;

    if (before == 0 && (found = memmem(data, length, end, end_length))) {
        *ret_taken = (size_t)(found - data) + end_length;
        return bytes_of(data, *ret_taken);
    }
    memcpy(answer->head + before, data, added);
    from = before < end_length ? 0 : before - end_length;
    found = memmem(answer->head + from, before + added - from, end, end_length);
    if (found) {
        size_t whole = (size_t)(found - answer->head) + end_length;

        *ret_taken = whole - before;
        answer->head_length = 0;
        return bytes_of(answer->head, whole);
    }
    answer->head_length = before + added;
    answer->bad = added < length;
    *ret_taken = added;
    return (struct bytes){ NULL, 0 };
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

static void read_chunk_size(struct answer *answer, struct bytes line)
{
    answer->left = strtoull(line.ptr, NULL, 16);
    answer->part = answer->left > 0 ? IN_CHUNK : IN_TRAILER;
}

static size_t take_part(struct answer *answer, const char *data, size_t length)
{
    struct bytes text;
    size_t taken = 0;

    switch (answer->part) {
    case IN_HEAD:
        text = collect(answer, "\r\n\r\n", data, length, &taken);
        if (text.ptr)
            read_head(answer, text);
        return taken;
    case IN_BODY:
        return take_body(answer, data, length, COMPLETE);
    case IN_CHUNK:
        return take_body(answer, data, length, IN_CHUNK_END);
    case IN_CHUNK_SIZE:
        text = collect(answer, "\r\n", data, length, &taken);
        if (text.ptr)
            read_chunk_size(answer, text);
        return taken;
    case IN_CHUNK_END:
    case IN_TRAILER:
        text = collect(answer, "\r\n", data, length, &taken);
        if (text.ptr)
            answer->part = answer->part == IN_TRAILER ? COMPLETE : IN_CHUNK_SIZE;
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
