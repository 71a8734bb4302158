/* Unix sockets between processes of one user on this machine. A path may be longer than a socket
 * address allows (108 bytes); it is then reached through the descriptor of its directory.
 * man: unix(7), proc(5) */
#ifndef LAGRA_NET_LOCAL_H
#define LAGRA_NET_LOCAL_H

#include <stdbool.h>

/* Creates a listening socket that only its owner may open (mode 0600). Replaces an existing
 * socket; the caller holds a lock that proves that no process serves it. Does not replace any other
 * file. Returns its descriptor, or -1 and *ret_problem, a message for the operator. Main thread. */
int local_listen(const char *path, const char **ret_problem);
/* Removes the socket from its directory. Main thread. */
void local_remove(const char *path);

/* Returns a path that fits a socket address, for clients: the path itself, or one through the
 * descriptor of its directory, which remains open until the process ends. Returns false with
 * errno. */
#define LOCAL_PATH_SIZE 108
bool local_path(const char *path, char ret_path[LOCAL_PATH_SIZE]);

/* Returns true if the peer's process runs as this user or as root. Needed because some file
 * systems store no modes, so that the socket's mode does not protect it. Thread-safe. */
bool local_peer_is_ours(int fd);

#endif
