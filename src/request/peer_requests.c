/* See peer_requests.h. */
#include "request/peer_requests.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

/* Number of bytes of a stream that are read at a time. */
#define CHUNK_BYTES ((size_t)256 << 10)

/* A request while it is received and executed. */
struct peer_exchange {
    struct pool_job job;
    struct exchange *exchange;
    const struct peer_requests *requests;
    const struct peer_handler *handler;
    struct text body;
    struct text response;
    int status;
    bool is_done;
    /* Members used by a streamed response: */
    struct body_source source; /* its bytes follow those of `response` */
    struct peer_stream *stream;
    char *chunk; /* CHUNK_BYTES */
    size_t chunk_at, chunk_length;
    bool has_failed;
};

static struct peer_exchange *of_job(struct pool_job *job)
{
    return (struct peer_exchange *)(void *)((char *)job - offsetof(struct peer_exchange, job));
}

static enum http_step respond(struct exchange *exchange, int status, struct bytes body)
{
    struct response *response = &exchange->response;

    response->status = status;
    response->body_kind = body.len > 0 ? BODY_BYTES : BODY_NONE;
    response->body = body;
    return HTTP_RESPOND;
}

static const struct peer_handler *find_handler(const struct peer_requests *requests,
                                               const struct request *request)
{
    for (size_t i = 0; i < requests->count; i++)
        if (request->method == METHOD_POST && !request->query.ptr &&
            bytes_is(request->path, requests->handlers[i].path))
            return &requests->handlers[i];
    return NULL;
}

static enum http_step on_head(struct exchange *exchange)
{
    const struct peer_requests *requests = exchange->request.listener_tag;
    const struct peer_handler *handler = find_handler(requests, &exchange->request);
    struct peer_exchange *p;

    if (!handler)
        return respond(exchange, 404, bytes_of("", 0));
    if (exchange->request.content_length > handler->body_max) /* or unknown */
        return respond(exchange, 413, bytes_of("", 0));
    p = arena_alloc(exchange->arena, sizeof *p);
    p->exchange = exchange;
    p->requests = requests;
    p->handler = handler;
    text_init(&p->body, exchange->arena, (size_t)exchange->request.content_length);
    exchange->application = p;
    return HTTP_WANT_BODY;
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct peer_exchange *p = exchange->application;

    *ret_taken = data.len;
    if (!p)
        return HTTP_RESPOND;
    text_add(&p->body, data);
    return HTTP_WANT_BODY;
}

static void run(struct pool_job *job)
{
    struct peer_exchange *p = of_job(job);
    struct exchange *exchange = p->exchange;
    void *context = p->requests->context;
    struct bytes body = text_bytes(&p->body);

    p->status =
        p->handler->run_stream
            ? p->handler->run_stream(context, body, exchange->arena, &p->response, &p->stream)
            : p->handler->run(context, body, exchange->arena, &p->response);
    p->is_done = true;
    exchange_resume(exchange); /* may already be freed by the worker */
}

/* ---- a stream ---- */

static void read_chunk(struct pool_job *job)
{
    struct peer_exchange *p = of_job(job);
    struct exchange *exchange = p->exchange;

    p->chunk_at = p->chunk_length = 0;
    p->has_failed = !p->stream->read(p->stream, p->chunk, CHUNK_BYTES, &p->chunk_length) ||
                    p->chunk_length == 0;
    exchange_resume(exchange); /* may already be freed by the worker */
}

static long read_stream(struct body_source *source, uint64_t at, char *to, size_t max)
{
    struct peer_exchange *p =
        (struct peer_exchange *)(void *)((char *)source - offsetof(struct peer_exchange, source));
    struct bytes from = text_bytes(&p->response);

    if (p->has_failed)
        return BODY_FAILED;
    if (at >= from.len && p->chunk_at == p->chunk_length) {
        p->job.run = read_chunk;
        exchange_suspend(p->exchange);
        decision_pool_submit(p->requests->pool, &p->job);
        return BODY_WAIT;
    }
    from = at < from.len ? bytes_of(from.ptr + at, from.len - (size_t)at)
                         : bytes_of(p->chunk + p->chunk_at, p->chunk_length - p->chunk_at);
    if (from.len > max)
        from.len = max;
    memcpy(to, from.ptr, from.len);
    if (at >= p->response.len)
        p->chunk_at += from.len;
    return (long)from.len;
}

static enum http_step respond_stream(struct peer_exchange *p)
{
    struct response *response = &p->exchange->response;

    p->chunk = xmalloc(CHUNK_BYTES);
    p->source.read = read_stream;
    response->status = p->status;
    response->body_kind = BODY_SOURCE;
    response->source = &p->source;
    response->body_length = p->response.len + p->stream->length;
    return HTTP_RESPOND;
}

static enum http_step on_end(struct exchange *exchange)
{
    struct peer_exchange *p = exchange->application;

    if (!p)
        return HTTP_RESPOND;
    if (p->is_done && !exchange_charge(exchange, NULL))
        return respond(exchange, 503, bytes_of("", 0));
    if (p->is_done && p->stream)
        return respond_stream(p);
    if (p->is_done)
        return respond(exchange, p->status, text_bytes(&p->response));
    text_init(&p->response, exchange->arena, 0);
    p->job.run = run;
    exchange_suspend(exchange);
    decision_pool_submit(p->requests->pool, &p->job);
    return HTTP_WAIT;
}

static void on_done(struct exchange *exchange)
{
    struct peer_exchange *p = exchange->application;

    if (!p)
        return;
    if (p->stream)
        p->stream->close(p->stream);
    free(p->chunk);
}

const struct http_application peer_requests_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
};
