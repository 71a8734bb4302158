/* Relays requests of the pages to the services through the management port, so that the browser
 * needs no other port, certificate or CORS rule, and responses are restricted (guard.h).
 * decision: 550
 *
 *   /console/data/blob/ACCOUNT/..   is to the Blob service /ACCOUNT/..
 *
 * The service authenticates and authorizes it like any other request; the session only permits
 * relaying. */
#include "console/console_private.h"
#include "console/guard.h"
#include "request/request.h"

static enum http_step guarded(struct exchange *exchange, enum http_step step)
{
    if (step == HTTP_RESPOND)
        guard_relayed(&exchange->response);
    return step;
}

static enum http_step on_head(struct exchange *exchange)
{
    return guarded(exchange, service_application.head(exchange));
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    return guarded(exchange, service_application.body(exchange, data, ret_taken));
}

static enum http_step on_end(struct exchange *exchange)
{
    return guarded(exchange, service_application.end(exchange));
}

static void on_done(struct exchange *exchange)
{
    service_application.done(exchange);
}

static const struct http_application application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
};

/* Returns the endpoint for "blob/ACCOUNT/..", if it is served, and the path there; otherwise
 * NULL. */
static const struct endpoint *find_service(const struct console *console, struct bytes rest,
                                           struct bytes *ret_path)
{
    const struct endpoint_set *all = console->options.endpoints;

    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->endpoints[i].service->name;

        if (console->options.servers[i] && bytes_has_prefix(rest, bytes_from_string(name)) &&
            rest.len > strlen(name) && rest.ptr[strlen(name)] == '/') {
            *ret_path = bytes_from(rest, strlen(name));
            return &all->endpoints[i];
        }
    }
    return NULL;
}

enum http_step relay_request(struct exchange *exchange, struct console *console)
{
    struct request *request = &exchange->request;
    const struct endpoint *endpoint;
    struct bytes path;
    unsigned port;

    endpoint = find_service(console, bytes_from(request->path, strlen(DATA_PATH)), &path);
    if (!endpoint)
        return console_refuse(exchange, 404, "NoSuchService", "There is no such service here.");
    if (!console_session(console, exchange, true).is_taken)
        return console_refuse(exchange, 401, "NotSignedIn", "Nobody is signed in.");
    port = atomic_load(&endpoint->all->ports[endpoint - endpoint->all->endpoints]);
    request->path = path;
    /* As if it had been sent there, with the account in the path. */
    request->authority = arena_printf(exchange->arena, "127.0.0.1:%u", port);
    return exchange_pass_on(exchange, &application, (void *)(uintptr_t)endpoint);
}
