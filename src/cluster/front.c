/* See front.h. */
#include "cluster/front.h"

#include "base/errors.h"

/* A take-over takes about this long, and the SDKs' own pauses are shorter. */
#define RETRY_AFTER "3"
#define PATH_LIVE   "/-/live"
#define PATH_READY  "/-/ready"

static enum http_step respond(struct exchange *exchange, int status, const char *type,
                              struct bytes body)
{
    struct response *response = &exchange->response;

    response->status = status;
    response_header_string(response, "Server", "Lagra/" LAGRA_VERSION);
    response_header_string(response, "Content-Type", type);
    response->body_kind = BODY_BYTES;
    response->body = body;
    return HTTP_RESPOND;
}

/* rest: Status-and-Error-Codes2 */
static enum http_step refuse(struct exchange *exchange, bool is_json)
{
    static const char *const code = "ServerBusy";
    const char *message = error_message(E_ServerBusy);
    struct bytes body;

    response_header_string(&exchange->response, "x-ms-error-code", code);
    response_header_string(&exchange->response, "Retry-After", RETRY_AFTER);
    if (is_json) {
        body = arena_printf(exchange->arena,
                            "{\"odata.error\":{\"code\":\"%s\",\"message\":{\"lang\":\"en-US\","
                            "\"value\":\"%s\"}}}",
                            code, message);
        return respond(exchange, error_status(E_ServerBusy), "application/json", body);
    }
    body = arena_printf(exchange->arena,
                        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s"
                        "</Code><Message>%s</Message></Error>",
                        code, message);
    return respond(exchange, error_status(E_ServerBusy), "application/xml", body);
}

static enum http_step stand_by(struct exchange *exchange, const struct front_door *door)
{
    const struct request *request = &exchange->request;
    bool is_get = request->method == METHOD_GET || request->method == METHOD_HEAD;

    if (is_get && bytes_is(request->path, PATH_LIVE))
        return respond(exchange, 200, "text/plain", bytes_from_string("live\n"));
    if (is_get && bytes_is(request->path, PATH_READY))
        return respond(exchange, 503, "text/plain",
                       bytes_from_string("the front end stands by: it owns no cell\n"));
    return refuse(exchange, door->is_json);
}

static enum http_step on_head(struct exchange *exchange)
{
    const struct front_door *door = exchange->request.listener_tag;

    if (!atomic_load(&door->front->serves))
        return stand_by(exchange, door);
    exchange_answers_by(exchange, door->front->tenure);
    return exchange_pass_on(exchange, door->application, door->tag);
}

/* Nothing that stands by wants a body. */
static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    (void)exchange;
    *ret_taken = data.len;
    return HTTP_RESPOND;
}

static enum http_step on_end(struct exchange *exchange)
{
    (void)exchange;
    return HTTP_RESPOND;
}

static void on_done(struct exchange *exchange)
{
    (void)exchange;
}

void front_serve(struct front *front, const struct tenure *tenure)
{
    front->tenure = tenure;
    atomic_store(&front->serves, true);
}

struct http_application front_application_for(const struct http_application *service)
{
    return (struct http_application){
        .head = on_head,
        .body = on_body,
        .end = on_end,
        .done = on_done,
        .round = service->round, /* it is of a worker, not of an exchange */
    };
}
