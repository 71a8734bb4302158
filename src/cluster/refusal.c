/* See refusal.h. */
#include "cluster/refusal.h"

#include "base/errors.h"

/* Approximate duration of a failover; the SDKs' own retry delays are shorter. */
#define RETRY_AFTER "3"

enum http_step refusal_respond(struct exchange *exchange, int status, const char *type,
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

enum http_step refusal_busy(struct exchange *exchange, bool is_json)
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
        return refusal_respond(exchange, error_status(E_ServerBusy), "application/json", body);
    }
    body = arena_printf(exchange->arena,
                        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s"
                        "</Code><Message>%s</Message></Error>",
                        code, message);
    return refusal_respond(exchange, error_status(E_ServerBusy), "application/xml", body);
}
