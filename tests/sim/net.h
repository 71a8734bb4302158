/* Sockets of the simulated world: connections between the clients of the simulator and the server's
 * own acceptor and workers, which call accept4, recv, sendmsg, sendfile, epoll_wait and the like
 * under the C library's names. Bytes lie in two pipes of bounded size; an end that is shut, closed
 * or reset shows as it does on Linux. Descriptors are small numbers of their own. */
#ifndef LAGRA_SIM_NET_H
#define LAGRA_SIM_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- a client's end ---- */

struct link;

/* NULL: nobody listens. */
struct link *net_connect(void);
/* Waits for room. False: the server has closed its end. */
bool net_send(struct link *link, const void *from, size_t size);
/* Waits for bytes. 0: the server's end of them, or reset. */
size_t net_receive(struct link *link, void *to, size_t size);
/* Has the server something for us, or ended? */
bool net_has_ended(const struct link *link);
/* Sends no more, but reads on. */
void net_end_sending(struct link *link);
/* Goes away: the server is reset. Waits until it has closed its end, so all that was asked is
 * over. */
void net_abort(struct link *link);

/* ---- the server's end ---- */

int net_listen(void);
bool net_owns(int fd);
int net_close(int fd);
ssize_t net_read(int fd, void *to, size_t size);
ssize_t net_write(int fd, const void *from, size_t size);

#endif
