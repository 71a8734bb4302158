/* Starts and stops the admin socket (admin/admin.h) in the data directory. Main thread. */
#ifndef LAGRA_SERVER_ADMIN_SOCKET_H
#define LAGRA_SERVER_ADMIN_SOCKET_H

#include "admin/admin.h"
#include "server/options.h"
#include "check/names.h"

struct admin_socket {
    struct admin admin;
    struct backup_hold backup;
    struct resource_names names; /* for describing the findings of a scrub */
    char *path;
    struct http_server *server; /* or NULL if it is not served */
};

/* Descriptors and threads reserved for the socket. */
#define ADMIN_DESCRIPTORS 32u
#define ADMIN_THREADS     7u

/* Returns the path of the socket in a data directory, allocated by malloc(). */
char *admin_socket_path(const char *location);
/* Serves the socket, unless data is kept in memory. If the file system does not support sockets,
 * the server runs without one and logs a warning. The caller has set the members of socket->admin,
 * except its pool and location, and holds the lock of the data directory.
 * Returns  false, after printing why on stderr, if a thread cannot be started. */
bool admin_socket_start(const struct options *options, struct admin_socket *socket);
/* Stops the socket, even if it was not started, before the objects that its operations use are
 * freed. */
void admin_socket_stop(struct admin_socket *socket);
/* Expires an abandoned backup. Called about every second. */
void admin_socket_poll(struct admin_socket *socket);
/* Adds a listener to the output of `lagra status`. */
void admin_socket_add_listener(struct admin_socket *socket, const struct admin_listener *listener);

#endif
