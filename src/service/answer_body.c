/* Bytes of a blob as an answer's body: small ones are read first, large ones go from their file, or are
 * read piece by piece while they are sent. */
#include "service/service_private.h"

#include "base/crc.h"
#include "base/encode.h"

/* Bodies of answers up to this size are read before the head goes out. */
#define SMALL_BODY_MAX (64u << 10)

static enum state wait_for_bytes(struct work *work)
{
    pause_wait(&work->pause);
    return WAITING;
}

static void sum_header(struct decision *d, const char *name, const void *sum, size_t size)
{
    answer_header(d, name, base64_encode(d->arena, bytes_of(sum, size)));
}

/* Content-MD5 / x-ms-content-crc64 of the range. rest: Get-Blob "x-ms-range-get-content-md5" */
static void sum_range(struct decision *d, struct bytes range)
{
    if (d->send.md5) {
        uint8_t md5[MD5_SIZE];

        md5_of(range, md5);
        sum_header(d, "Content-MD5", md5, sizeof md5);
    }
    if (d->send.crc64) {
        uint64_t crc = crc64(0, range.ptr, range.len);

        sum_header(d, "x-ms-content-crc64", &crc, sizeof crc);
    }
}

/* A small body, or one whose sum goes into the head, is read whole first. */
static enum state read_whole(struct work *work)
{
    struct decision *d = &work->decision;
    size_t length = (size_t)d->send.length;

    if (!work->body_bytes)
        work->body_bytes = arena_bytes(d->arena, length);
    while (work->body_read < length) {
        size_t count = 0;
        enum store_result result =
            content_reader_read(work->reader, work->body_bytes + work->body_read,
                                length - work->body_read, pause_arm(&work->pause), &count);

        if (result == STORE_WAIT)
            return wait_for_bytes(work);
        if (result) {
            answer_error(d, fail_store(d, result));
            return RESPOND;
        }
        work->body_read += count;
    }
    d->response->body_kind = BODY_BYTES;
    d->response->body = bytes_of(work->body_bytes, length);
    sum_range(d, d->response->body);
    return RESPOND;
}

static long read_while_sending(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct work *work = ((struct content_body *)source)->work;
    size_t count = 0;
    enum store_result result;

    (void)at; /* asked in order, as the reader reads */
    result = content_reader_read(work->reader, to, max, pause_arm(&work->pause), &count);
    if (result == STORE_WAIT) {
        pause_wait(&work->pause);
        return BODY_WAIT;
    }
    return result ? BODY_FAILED : (long)count;
}

/* A large body: from a file when it lies in one, else read piece by piece while it is sent. */
static enum state read_large(struct work *work)
{
    struct decision *d = &work->decision;
    struct piece_file file;
    bool in_file = false;
    enum store_result result =
        content_reader_begin(work->reader, pause_arm(&work->pause), &file, &in_file);

    if (result == STORE_WAIT)
        return wait_for_bytes(work);
    if (result) {
        answer_error(d, fail_store(d, result));
        return RESPOND;
    }
    d->response->body_length = d->send.length;
    if (in_file) {
        d->response->body_kind = BODY_FILE;
        d->response->fd = file.fd;
        d->response->fd_offset = file.offset;
    } else {
        work->body = (struct content_body){ .source.read = read_while_sending, .work = work };
        d->response->body_kind = BODY_SOURCE;
        d->response->source = &work->body.source;
    }
    return RESPOND;
}

enum state answer_body(struct work *work)
{
    struct decision *d = &work->decision;

    if (!d->send.wanted || d->send.length == 0 || work->call.request->method == METHOD_HEAD)
        return RESPOND;
    if (!work->reader) {
        work->reader = content_reader_open(d->store, d->before, d->arena, &d->send.content,
                                           d->send.offset, d->send.length);
        d->before = NULL; /* the reader's now */
    }
    if (d->send.length <= SMALL_BODY_MAX || d->send.md5 || d->send.crc64)
        return read_whole(work);
    return read_large(work);
}
