/* Relays requests of the pages to the services through the management port, so that the browser
 * needs no other port, certificate or CORS rule, and responses can be restricted (guard.h).
 * decision: 550
 *
 *   /console/data/blob/ACCOUNT/..   becomes /ACCOUNT/.. at the Blob service
 *
 * In a cluster, the request is forwarded to the owner of its cell.
 *
 * The service authenticates and authorizes it like any other request; the console's session only
 * permits relaying. */
#include <stddef.h>

#include "console/console_private.h"
#include "console/guard.h"

static const struct http_application *inner_of(const struct exchange *exchange)
{
    return ((const struct relay *)(const void *)exchange->passed_to)->inner;
}
_Static_assert(offsetof(struct relay, application) == 0,
               "a pointer to the application is a pointer to its relay");

static enum http_step guarded(struct exchange *exchange, enum http_step step)
{
    if (step == HTTP_RESPOND)
        guard_relayed(&exchange->response);
    return step;
}

static enum http_step on_head(struct exchange *exchange)
{
    return guarded(exchange, inner_of(exchange)->head(exchange));
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    return guarded(exchange, inner_of(exchange)->body(exchange, data, ret_taken));
}

static enum http_step on_end(struct exchange *exchange)
{
    return guarded(exchange, inner_of(exchange)->end(exchange));
}

static void on_done(struct exchange *exchange)
{
    inner_of(exchange)->done(exchange);
}

void relay_init(struct relay *relay, const struct http_application *inner)
{
    *relay = (struct relay){
        .application = { .head = on_head, .body = on_body, .end = on_end, .done = on_done },
        .inner = inner,
    };
}

/* Returns the endpoint for "blob/ACCOUNT/.." and the path at it, or NULL if it is not served. */
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

/* Writes the header section as if the request had been sent to the service, because it may be
 * forwarded to another server, which reads only the header section. Omits the cookie. */
static void rewrite(struct request *request, struct arena *arena)
{
    const struct bytes method = request->method_text;
    struct text head;

    text_init(&head, arena, request->head_bytes + request->authority.len);
    text_add(&head, method);
    text_add_char(&head, ' ');
    text_add(&head, request->path);
    if (request->query.ptr) {
        text_add_char(&head, '?');
        text_add(&head, request->query);
    }
    text_printf(&head, " HTTP/1.1\r\nHost: %.*s\r\n", BYTES_ARG(request->authority));
    for (size_t i = 0; i < request->header_count; i++) {
        const struct http_header *header = &request->headers[i];

        if (!bytes_is(header->name, "host") && !bytes_is(header->name, "cookie"))
            text_printf(&head, "%.*s: %.*s\r\n", BYTES_ARG(header->name_as_sent),
                        BYTES_ARG(header->value));
    }
    text_add_string(&head, "\r\n");
    request->method_text = bytes_of(head.ptr, method.len);
    request->head_bytes = head.len;
}

enum http_step relay_request(struct exchange *exchange, struct console *console)
{
    struct request *request = &exchange->request;
    const struct endpoint *endpoint;
    struct bytes path;
    unsigned port;

    endpoint = find_service(console, bytes_from(request->path, strlen(DATA_PATH)), &path);
    if (!endpoint)
        return console_refuse(exchange, 404, "NoSuchService", "This service is not served here.");
    if (!console_session(console, exchange, true).is_taken)
        return console_refuse(exchange, 401, "NotSignedIn", "You are not signed in.");
    port = atomic_load(&endpoint->all->ports[endpoint - endpoint->all->endpoints]);
    request->path = path;
    /* Makes the request look as if it had been sent to the service's port with a path-style
     * URL. */
    request->authority = arena_printf(exchange->arena, "127.0.0.1:%u", port);
    rewrite(request, exchange->arena);
    return exchange_pass_on(exchange, &console->relay.application,
                            console->options.service_tags[endpoint - endpoint->all->endpoints]);
}
