/* Blob content as response body. Small bodies are read first. Large ones are sent from their file,
 * or read piece by piece while they are sent. */
#include "request/request_private.h"

#include <assert.h>

#include "base/crc.h"
#include "base/encode.h"
#include "http/structured_body.h"
#include "service/blob_key.h"

static enum state load_map(struct flow *flow)
{
    flow->map_result = content_reader_load(flow->reader);
    return BODY;
}

/* Waits after the reader returned STORE_WAIT. */
static enum state wait_for_bytes(struct flow *flow)
{
    if (content_reader_lacks_map(flow->reader))
        return flow_to_pool(flow, load_map);
    return flow_wait(flow);
}

/* Reports damage that was found before the response headers were sent. */
static enum state fail_reading(struct flow *flow, enum store_result result)
{
    flow->work.error = decision_fail_store(&flow->work.decision, result);
    return DURABLE;
}

static void sum_header(struct answer *a, const char *name, const void *sum, size_t size)
{
    answer_header(a, name, base64_encode(a->arena, bytes_of(sum, size)));
}

/* Adds Content-MD5 and x-ms-content-crc64 of the range. rest: Get-Blob
 * "x-ms-range-get-content-md5" */
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

/* Copies complete content into a structured body. */
static struct bytes structured_of(struct arena *arena, struct bytes content)
{
    struct structured_writer writer;
    size_t length = (size_t)structured_length(content.len), at = 0, count;
    char *to = arena_bytes(arena, length);

    structured_writer_init(&writer, content.len);
    while (at < length) {
        count = structured_write_frame(&writer, to + at, length - at);
        at += count;
        count = structured_write_room(&writer, content.len);
        memcpy(to + at, content.ptr, count);
        structured_write_content(&writer, bytes_of(content.ptr, count));
        content = bytes_from(content, count);
        at += count;
    }
    return bytes_of(to, length);
}

static enum store_result read_on(struct flow *flow, char *to, size_t max, size_t *ret_count)
{
    return content_reader_read(flow->reader, to, max, flow_arm(flow), ret_count);
}

/* Reads the complete body first if it is small or a header needs its checksum. */
static enum state read_whole(struct flow *flow)
{
    struct answer *a = &flow->work.answer;
    size_t length = (size_t)a->content.length;

    if (!flow->body_bytes)
        flow->body_bytes = arena_bytes(a->arena, length);
    while (flow->body_read < length) {
        size_t count = 0;
        enum store_result result =
            read_on(flow, flow->body_bytes + flow->body_read, length - flow->body_read, &count);

        if (result == STORE_WAIT)
            return wait_for_bytes(flow);
        if (result)
            return fail_reading(flow, result);
        assert(count > 0 && count <= length - flow->body_read);
        flow->body_read += count;
    }
    a->response->body_kind = BODY_BYTES;
    a->response->body = bytes_of(flow->body_bytes, length);
    sum_range(a, a->response->body);
    if (a->call->is_structured)
        a->response->body = structured_of(a->arena, a->response->body);
    return RESPOND;
}

static long read_while_sending(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct flow *flow = ((struct content_body *)source)->flow;
    size_t count = 0;
    enum store_result result;

    (void)at; /* the reader reads in order, and so does the caller */
    if (flow->map_result)
        return BODY_FAILED;
    result = read_on(flow, to, max, &count);
    if (result == STORE_WAIT && content_reader_lacks_map(flow->reader)) {
        flow_run_in_pool(flow, load_map);
        return BODY_WAIT;
    }
    if (result == STORE_WAIT) {
        flow_wait(flow);
        return BODY_WAIT;
    }
    return result ? BODY_FAILED : (long)count;
}

static long read_structured(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct structured_writer *writer = ((struct content_body *)source)->structured;
    size_t framed = structured_write_frame(writer, to, max);
    long count;

    if (framed > 0)
        return (long)framed;
    count = read_while_sending(source, at, to, structured_write_room(writer, max));
    if (count > 0)
        structured_write_content(writer, bytes_of(to, (size_t)count));
    return count;
}

static long is_file_ready(struct body_source *source, uint64_t at, size_t max)
{
    struct flow *flow = ((struct content_body *)source)->flow;
    enum store_result result = content_reader_check(flow->reader, at, max, flow_arm(flow));

    if (result == STORE_WAIT) {
        flow_wait(flow);
        return BODY_WAIT;
    }
    return result ? BODY_FAILED : (long)max;
}

/* Sends a large body from its file if it is stored in one; otherwise reads it while it is sent. */
static enum state read_large(struct flow *flow)
{
    struct answer *a = &flow->work.answer;
    struct piece_file file;
    bool is_structured = a->call->is_structured;
    bool may_file = !flow->fault && !is_structured && exchange_take_file(flow->exchange);
    bool in_file = false;
    enum store_result result;

    result = content_reader_begin(flow->reader, flow_arm(flow), may_file ? &file : NULL, &in_file);
    if (result == STORE_WAIT)
        return wait_for_bytes(flow);
    if (result)
        return fail_reading(flow, result);
    assert(!in_file || may_file);
    a->response->body_length = a->content.length;
    flow->body =
        (struct content_body){ .source = { .read = read_while_sending, .is_ready = is_file_ready },
                               .flow = flow };
    a->response->source = &flow->body.source;
    if (is_structured) {
        flow->body.source.read = read_structured;
        flow->body.structured = arena_alloc(a->arena, sizeof *flow->body.structured);
        structured_writer_init(flow->body.structured, a->content.length);
        a->response->body_length = structured_length(a->content.length);
    }
    if (in_file) {
        a->response->body_kind = BODY_FILE;
        a->response->fd = file.fd;
        a->response->fd_offset = file.offset;
    } else {
        a->response->body_kind = BODY_SOURCE;
    }
    return RESPOND;
}

/* Lets the forwarding front end read a large body from the files of this cell, if it can; otherwise
 * sends the body. */
static enum state list_or_read_large(struct flow *flow)
{
    enum store_result result = STORE_OK;

    switch (answer_list(flow, &result)) {
    case LIST_DONE:
        return RESPOND;
    case LIST_WAITS:
        return wait_for_bytes(flow);
    case LIST_FAILED:
        return fail_reading(flow, result);
    case LIST_NONE:
        break;
    }
    return read_large(flow);
}

/* Opens a reader on the state that the decision used; that state remains readable until the last
 * byte is sent. */
static void open_reader(struct flow *flow)
{
    struct decision *d = &flow->work.decision;
    const struct answer_content *content = &flow->work.answer.content;

    assert(d->before && !flow->reader);
    read_view_set_access(d->before, d->access); /* a decision in the pool might block */
    flow->reader = content_reader_open(d->store, d->before, d->arena, &content->content,
                                       content->offset, content->length);
    if (d->content_key)
        content_reader_set_key(flow->reader, d->content_key->key);
    decision_take_snapshot(d); /* now owned by the reader */
}

enum state answer_body(struct flow *flow)
{
    const struct answer_content *content = &flow->work.answer.content;

    assert(flow->state == BODY);
    if (!content->wanted || flow->work.call.request->method == METHOD_HEAD ||
        (content->length == 0 && !flow->work.call.is_structured))
        return RESPOND;
    if (content->length == 0)
        return read_whole(flow);
    if (!flow->reader)
        open_reader(flow);
    if (flow->map_result)
        return fail_reading(flow, flow->map_result);
    if (content->length <= SMALL_BODY_MAX || content->md5 || content->crc64)
        return read_whole(flow);
    return list_or_read_large(flow);
}

/* ---- memory of a response ---- */

/* Returns the mark before the memory that is no longer needed once the response is rendered: left
 * over from attempts, or a body that was refused while it arrived. Returns NULL if there is none,
 * or if a reader uses it. */
static const struct arena_mark *scratch_of(const struct flow *flow)
{
    if (flow->reader)
        return NULL;
    if (flow->intake.was_refused)
        return &flow->intake.before;
    return flow->work.decision.attempts > 0 ? &flow->work.decision.attempt : NULL;
}

/* Charges the response, whose memory is held until the client has read it. If the budget is
 * exhausted, a read fails with ServerBusy. A write has already been done, so it is reported; its
 * response is short. */
void answer_charge_memory(struct flow *flow)
{
    const struct operation *operation = flow->work.call.operation;

    if (!exchange_charge(flow->exchange, scratch_of(flow)) && operation &&
        operation->rights.effect == READS)
        answer_error(&flow->work.answer, E_ServerBusy, &flow->work.problem);
}

/* Frees memory left over from the attempts, or a refused body. Keeps the response, and everything
 * while a reader uses it. */
void answer_drop_scratch(struct flow *flow)
{
    const struct arena_mark *scratch = scratch_of(flow);

    if (!scratch)
        return;
    deciding_end(&flow->work.decision);
    exchange_drop_scratch(flow->exchange, *scratch);
}
