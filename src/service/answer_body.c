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

/* Damage that is found before the head goes out. */
static void fail_reading(struct work *work, enum store_result result)
{
    enum error e = decision_fail_store(&work->decision, result);

    answer_error(&work->answer, e, &work->problem);
}

static void sum_header(struct answer *a, const char *name, const void *sum, size_t size)
{
    answer_header(a, name, base64_encode(a->arena, bytes_of(sum, size)));
}

/* Content-MD5 / x-ms-content-crc64 of the range. rest: Get-Blob "x-ms-range-get-content-md5" */
static void sum_range(struct answer *a, struct bytes range)
{
    if (a->content.md5) {
        uint8_t md5[MD5_SIZE];

        md5_of(range, md5);
        sum_header(a, "Content-MD5", md5, sizeof md5);
    }
    if (a->content.crc64) {
        uint64_t crc = crc64(0, range.ptr, range.len);

        sum_header(a, "x-ms-content-crc64", &crc, sizeof crc);
    }
}

/* A small body, or one whose sum goes into the head, is read whole first. */
static enum state read_whole(struct work *work)
{
    struct answer *a = &work->answer;
    size_t length = (size_t)a->content.length;

    if (!work->body_bytes)
        work->body_bytes = arena_bytes(a->arena, length);
    while (work->body_read < length) {
        size_t count = 0;
        enum store_result result =
            content_reader_read(work->reader, work->body_bytes + work->body_read,
                                length - work->body_read, pause_arm(&work->pause), &count);

        if (result == STORE_WAIT)
            return wait_for_bytes(work);
        if (result) {
            fail_reading(work, result);
            return RESPOND;
        }
        work->body_read += count;
    }
    a->response->body_kind = BODY_BYTES;
    a->response->body = bytes_of(work->body_bytes, length);
    sum_range(a, a->response->body);
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
    struct answer *a = &work->answer;
    struct piece_file file;
    bool in_file = false;
    enum store_result result =
        content_reader_begin(work->reader, pause_arm(&work->pause), &file, &in_file);

    if (result == STORE_WAIT)
        return wait_for_bytes(work);
    if (result) {
        fail_reading(work, result);
        return RESPOND;
    }
    a->response->body_length = a->content.length;
    if (in_file) {
        a->response->body_kind = BODY_FILE;
        a->response->fd = file.fd;
        a->response->fd_offset = file.offset;
    } else {
        work->body = (struct content_body){ .source.read = read_while_sending, .work = work };
        a->response->body_kind = BODY_SOURCE;
        a->response->source = &work->body.source;
    }
    return RESPOND;
}

enum state answer_body(struct work *work)
{
    struct decision *d = &work->decision;
    struct answer *a = &work->answer;

    if (!a->content.wanted || a->content.length == 0 || work->call.request->method == METHOD_HEAD)
        return RESPOND;
    if (!work->reader) {
        work->reader = content_reader_open(d->store, d->before, a->arena, &a->content.content,
                                           a->content.offset, a->content.length);
        d->before = NULL; /* the reader's now */
    }
    if (a->content.length <= SMALL_BODY_MAX || a->content.md5 || a->content.crc64)
        return read_whole(work);
    return read_large(work);
}
