/* See peer_requests.h. */
#include "request/peer_requests.h"

#include <stddef.h>

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
};

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
    if (exchange->request.content_length > handler->body_max) /* or it is not known */
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
    struct peer_exchange *p =
        (struct peer_exchange *)(void *)((char *)job - offsetof(struct peer_exchange, job));
    struct exchange *exchange = p->exchange;

    p->status =
        p->handler->run(p->requests->context, text_bytes(&p->body), exchange->arena, &p->response);
    p->is_done = true;
    exchange_resume(exchange); /* the worker has it now: touch nothing after */
}

static enum http_step on_end(struct exchange *exchange)
{
    struct peer_exchange *p = exchange->application;

    if (!p)
        return HTTP_RESPOND;
    if (p->is_done && !exchange_charge(exchange, NULL))
        return respond(exchange, 503, bytes_of("", 0));
    if (p->is_done)
        return respond(exchange, p->status, text_bytes(&p->response));
    text_init(&p->response, exchange->arena, 0);
    p->job.run = run;
    exchange_suspend(exchange);
    decide_pool_submit(p->requests->pool, &p->job);
    return HTTP_WAIT;
}

static void on_done(struct exchange *exchange)
{
    (void)exchange;
}

const struct http_application peer_requests_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
};
