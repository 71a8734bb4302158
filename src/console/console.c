/* The console: see console.h. Selects the part that serves a request, and checks that the request
 * is permitted; that part handles the rest. */
#include "console/console.h"

#include <stdlib.h>

#include "base/clock.h"
#include "console/assets.h"
#include "console/console_private.h"
#include "console/guard.h"
#include "http/site.h"
#include "request/request.h"

struct console *console_new(const struct console_options *options)
{
    struct console *console = xcalloc(1, sizeof *console);

    console->options = *options;
    relay_init(&console->relay, options->services);
    console->logons = logons_new();
    lock_init(&console->lock, RANK_CONSOLE);
    return console;
}

void console_free(struct console *console)
{
    if (!console)
        return;
    logons_free(console->logons);
    lock_destroy(&console->lock);
    explicit_bzero(&console->sessions, sizeof console->sessions);
    free(console);
}

bool console_is_built(void)
{
    return console_asset_count > 0;
}

void console_look(struct console *console)
{
    struct sample sample;

    if (!history_is_due(&console->history, clock_monotonic_ms()))
        return;
    history_measure(&console->options, &sample);
    lock_acquire(&console->lock);
    history_add(&console->history, &sample);
    lock_release(&console->lock);
}

void console_make_link(struct console *console, char ret_link[CONSOLE_LINK_SIZE])
{
    lock_acquire(&console->lock);
    link_make(&console->sessions, ret_link, clock_monotonic_ms());
    lock_release(&console->lock);
}

/* ---- head ---- */

static bool is_under(const struct request *request, const char *path)
{
    return bytes_has_prefix(request->path, bytes_from_string(path));
}

bool console_is_asked(const struct request *request)
{
    return is_under(request, CONSOLE_PATH) || bytes_is(request->path, "/") ||
           bytes_is(request->path, "/console");
}

/* Checks the host and the origin of the request. Returns false after refusing it. */
static bool check_request(struct exchange *exchange, const struct console *console,
                          enum http_step *ret_step)
{
    const struct request *request = &exchange->request;

    if (exchange->server_is_busy)
        *ret_step = console_refuse(exchange, 503, "ServerBusy", "Too many concurrent requests.");
    else if (!site_host_is_ours(exchange->arena, request, console->options.names))
        *ret_step = console_refuse(exchange, 421, "UnknownHost",
                                   "Without TLS, open the console as localhost, 127.0.0.1 or a "
                                   "name in --managementNames.");
    else if (!is_under(request, API_PATH) && !is_under(request, DATA_PATH))
        return true;
    else if (!site_is_own_page(request) || !guard_is_for_data(request))
        *ret_step = console_refuse(exchange, 403, "OtherSite",
                                   "Only pages of the console may send this request.");
    else
        return true;
    return false;
}

static enum http_step on_head(struct exchange *exchange)
{
    struct console *console = exchange->request.listener_tag;
    const struct request *request = &exchange->request;
    enum http_step step;

    if (!check_request(exchange, console, &step))
        return step;
    if (is_under(request, API_PATH))
        return api_head(exchange, console);
    return pages_answer(exchange);
}

static const struct http_application application = {
    .head = on_head,
    .body = api_body,
    .end = api_end,
    .done = api_done,
};

enum http_step console_serve(struct exchange *exchange, struct console *console)
{
    enum http_step step;

    if (!is_under(&exchange->request, DATA_PATH))
        return exchange_pass_on(exchange, &application, console);
    return check_request(exchange, console, &step) ? relay_request(exchange, console) : step;
}

bool console_admits_operator(struct exchange *exchange, struct console *console,
                             enum http_step *ret_step)
{
    struct session session;

    if (!check_request(exchange, console, ret_step))
        return false;
    session = console_session(console, exchange, !api_is_timed(&exchange->request));
    if (!api_has_token(&session, &exchange->request))
        *ret_step = console_refuse(exchange, 401, "NotSignedIn", "You are not signed in.");
    else if (session.account)
        *ret_step =
            console_refuse(exchange, 403, "NotAnOperator",
                           "Only operators may do this; lagra console prints a sign-in link.");
    else {
        guard_answer(&exchange->response);
        return true;
    }
    return false;
}

void console_round(void)
{
    service_application.round();
}
