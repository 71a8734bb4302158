/* Response helpers and the session check, shared by all parts of the console. */
#include "base/clock.h"
#include "console/console_private.h"
#include "console/guard.h"

struct session console_session(struct console *console, const struct exchange *exchange,
                               bool is_asked_for)
{
    struct bytes cookie = guard_cookie(exchange->arena, &exchange->request);
    struct session copy = { .is_taken = false };
    uint64_t now_ms = clock_monotonic_ms();
    struct session *session;

    lock_acquire(&console->lock);
    session = console_session_find(&console->sessions, cookie, now_ms);
    if (session && is_asked_for)
        session->asked_ms = now_ms;
    if (session)
        copy = *session;
    lock_release(&console->lock);
    return copy;
}

/* ---- responses ---- */

static void begin_answer(struct response *response, int status)
{
    response->status = status;
    response_header_string(response, "Server", "Lagra/" LAGRA_VERSION);
    guard_answer(response);
}

enum http_step console_answer(struct exchange *exchange, int status, const char *type,
                              struct bytes body)
{
    struct response *response = &exchange->response;

    begin_answer(response, status);
    response_header_string(response, "Content-Type", type);
    if (!response_find_header(response, bytes_from_string("Cache-Control")))
        response_header_string(response, "Cache-Control", "no-store");
    response->body_kind = BODY_BYTES;
    response->body = body;
    return HTTP_RESPOND;
}

enum http_step console_answer_unchanged(struct exchange *exchange)
{
    begin_answer(&exchange->response, 304);
    exchange->response.body_kind = BODY_NONE;
    return HTTP_RESPOND;
}

enum http_step console_refuse(struct exchange *exchange, int status, const char *code,
                              const char *why)
{
    struct json_writer out;
    struct text text;

    text_init(&text, exchange->arena, 128);
    out = (struct json_writer){ .to = &text };
    json_write_begin(&out, '{');
    json_write_member(&out, "code", bytes_from_string(code));
    json_write_member(&out, "error", bytes_from_string(why));
    json_write_end(&out, '}');
    return console_answer(exchange, status, "application/json", text_bytes(&text));
}

bool api_has_token(const struct session *session, const struct request *request)
{
    return session->is_taken && bytes_equal_secret(bytes_of(session->token, SECRET_SIZE - 1),
                                                   request_header(request, "x-lagra-console"));
}

bool api_is_timed(const struct request *request)
{
    return request_header(request, "x-lagra-console-timer").ptr;
}

enum http_step api_fail(struct api_call *call, int status, const char *code, const char *why)
{
    return console_refuse(call->exchange, status, code, why);
}

enum http_step api_answer(struct api_call *call)
{
    json_write_end(&call->out, '}');
    return console_answer(call->exchange, 200, "application/json", text_bytes(&call->answer));
}
