/* Admin socket: see admin_socket.h. */
#include "server/admin_socket.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "net/local.h"

#define GRACE_S      5
#define POOL_THREADS 4

char *admin_socket_path(const char *location)
{
    return file_path(location, ADMIN_SOCKET_NAME);
}

void admin_socket_add_listener(struct admin_socket *socket, const struct admin_listener *listener)
{
    struct admin *admin = &socket->admin;

    assert(admin->listener_count < ADMIN_LISTENERS_MAX);
    if (listener->port > 0)
        admin->listeners[admin->listener_count++] = *listener;
}

/* Returns NULL after printing why on stderr. */
static struct scrubber *start_scrubber(const struct options *options, struct admin_socket *socket)
{
    struct scrub_options scrub = {
        .store = socket->admin.store,
        .location = options->location,
        .every_ms = options->scrub_every_ms,
        .rate = options->scrub_rate_mib > 0 ? (uint64_t)options->scrub_rate_mib << 20
                                            : SCRUB_RATE_DEFAULT,
        .describe = resource_name,
        .context = &socket->names,
    };
    struct scrubber *scrubber;

    socket->names = (struct resource_names){ socket->admin.store, socket->admin.accounts };
    scrubber = scrubber_start(&scrub);
    if (!scrubber)
        fprintf(stderr, "lagra: cannot start a thread for scrubs\n");
    return scrubber;
}

/* Returns false after printing why on stderr. */
static bool start_keeping(const struct options *options, struct admin_socket *socket)
{
    backup_hold_init(&socket->backup, socket->admin.store, options->location);
    socket->admin.backup = &socket->backup;
    socket->admin.scrubber = start_scrubber(options, socket);
    return socket->admin.scrubber;
}

bool admin_socket_start(const struct options *options, struct admin_socket *socket)
{
    struct http_limits limits = admin_limits();
    struct net_listen where = { .local_path = NULL };
    const char *problem = "";

    if (options->in_memory)
        return true;
    if (!start_keeping(options, socket))
        return false;
    socket->path = admin_socket_path(options->location);
    where.local_path = socket->path;
    socket->admin.location = options->location;
    socket->admin.write_options = options->write;
    socket->admin.options = options;
    socket->admin.pool = decision_pool_new(POOL_THREADS, (struct pool_shares){ .account = 0 });
    if (!socket->admin.pool) {
        fprintf(stderr, "lagra: cannot start a thread for the admin socket\n");
        return false;
    }
    socket->server = http_start(&where, &limits, &admin_application, &socket->admin, &problem);
    if (!socket->server)
        log_line(
            LOG_WARN,
            "no admin socket at %s: %s; commands such as `lagra status` cannot find the server",
            socket->path, problem);
    return true;
}

void admin_socket_stop(struct admin_socket *socket)
{
    if (socket->server) {
        http_stop(socket->server, GRACE_S);
        local_remove(socket->path);
    }
    if (socket->admin.pool)
        decision_pool_free(socket->admin.pool);
    scrubber_stop(socket->admin.scrubber);
    if (socket->admin.backup)
        backup_hold_release(&socket->backup);
    free(socket->path);
    *socket = (struct admin_socket){ .path = NULL };
}

void admin_socket_poll(struct admin_socket *socket)
{
    if (socket->admin.backup)
        backup_hold_expire(&socket->backup);
}
