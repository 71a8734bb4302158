/* `lagra console`: a link with which an operator signs in to the web console. */
#include "admin/admin_private.h"

/* Returns the management port, which serves the console, or NULL if it is not served. */
static const struct admin_listener *find_listener(const struct admin *admin)
{
    for (size_t i = 0; i < admin->listener_count; i++) {
        if (strcmp(admin->listeners[i].name, "management") == 0)
            return &admin->listeners[i];
    }
    return NULL;
}

/* Returns a host name for a browser on this machine. */
static const char *host_of(const struct admin_listener *listener)
{
    if (strcmp(listener->host, "0.0.0.0") == 0 || strcmp(listener->host, "::") == 0)
        return "localhost";
    return listener->host;
}

void admin_console_link(struct admin_call *call)
{
    const struct admin_listener *listener = find_listener(call->admin);
    char link[CONSOLE_LINK_SIZE];
    const char *host;

    if (!call->admin->console || !listener) {
        admin_fail(
            call, 404, "ConsoleIsNotServed",
            "The server has no console: it requires --managementPort, and a build with npm.");
        return;
    }
    host = host_of(listener);
    console_make_link(call->admin->console, link);
    json_write_member(&call->out, "url",
                      arena_printf(call->arena,
                                   strchr(host, ':') ? "%s://[%s]:%u/console/#link=%s"
                                                     : "%s://%s:%u/console/#link=%s",
                                   listener->is_secure ? "https" : "http", host, listener->port,
                                   link));
}
