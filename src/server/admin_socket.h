/* The admin socket as the program starts and stops it (admin/admin.h), in the data folder. Main thread. */
#ifndef LAGRA_SERVER_ADMIN_SOCKET_H
#define LAGRA_SERVER_ADMIN_SOCKET_H

#include "admin/admin.h"
#include "server/options.h"
#include "check/resource_name.h"

struct admin_socket {
    struct admin admin;
    struct backup_hold backup;
    struct place_names names; /* of what a scrub finds */
    char *path;
    struct http_server *server; /* NULL: not served */
};

/* Descriptors and threads that are set aside for it. */
#define ADMIN_DESCRIPTORS 32u
#define ADMIN_THREADS     7u

/* The socket's path in a data folder, from malloc. */
char *admin_socket_path(const char *location);
/* Serves it, if there is a folder. Where the file system has no sockets the server runs without, and says so in the log.
 * What `socket->admin` says must be set, but for its pool and location. The lock of a data folder is held.
 * returns false, after saying why on stderr, when there is no thread for it */
bool admin_socket_start(const struct options *options, struct admin_socket *socket);
/* Also of one that was not started. Before what it asks is given back. */
void admin_socket_stop(struct admin_socket *socket);
/* Ends what nobody asks for any longer. Every second or so. */
void admin_socket_look(struct admin_socket *socket);
/* One more that `lagra status` shows. */
void admin_socket_add_listener(struct admin_socket *socket, const struct admin_listener *listener);

#endif
