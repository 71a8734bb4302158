/* Unix sockets: between processes of one user on this machine. A path may be longer than a socket's address
 * holds (108 bytes): it is then reached through its folder's descriptor. man: unix(7), proc(5) */
#ifndef LAGRA_NET_LOCAL_H
#define LAGRA_NET_LOCAL_H

#include <stdbool.h>

/* Makes a listening socket that its owner alone may open (mode 0600). A socket that lies there already is
 * replaced: the caller knows, by a lock, that nobody serves it. Another file is not.
 *
 * returns  its descriptor; -1 and *ret_problem, words for the operator. Main thread. */
int local_listen(const char *path, const char **ret_problem);
/* Removes it from its folder. Main thread. */
void local_remove(const char *path);

/* The path as it fits a socket's address, for who connects: itself, or through its folder, which stays open
 * as long as the process lives. False: errno. */
#define LOCAL_PATH_SIZE 108
bool local_path(const char *path, char ret_path[LOCAL_PATH_SIZE]);

/* Is the process at the other end of this user, or root's? Whoever passed the socket's mode: for a folder
 * whose file system keeps no modes. Any thread. */
bool local_peer_is_ours(int fd);

#endif
