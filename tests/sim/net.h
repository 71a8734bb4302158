/* Sockets of the simulated world: connections between the clients of the simulator and the server's
 * own acceptor and workers, which call accept4, recv, sendmsg, sendfile, epoll_wait and the like
 * under the C library's names. Bytes lie in two pipes of bounded size; an end that is shut, closed
 * or reset shows as it does on Linux. Descriptors are small numbers of their own. */
#ifndef LAGRA_SIM_NET_H
#define LAGRA_SIM_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- a client's end ---- */

struct link;

/* port: of who listens; 0: of whoever does. NULL: nobody listens. */
struct link *net_connect(uint16_t port);
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

int net_listen(uint16_t port);
bool net_owns(int fd);
int net_close(int fd);
ssize_t net_read(int fd, void *to, size_t size);
ssize_t net_write(int fd, const void *from, size_t size);

/* ---- front ends, which are processes ---- */

/* Has the sockets of all processes that are forked from now on lie in the world. */
void net_begin(void);
/* The calling process is that of a front end. */
void net_enter_process(unsigned front);
/* Closes what a process has left that was killed, as the kernel does. */
void net_end_process(unsigned front);
/* Is there a connection between front ends that only one of them has closed, or that was cut? */
bool net_is_half_open(void);
/* Is there anything that a client has not read yet? */
bool net_has_unread(void);
/* Address of its machine. */
static inline uint32_t net_address(unsigned front)
{
    return 10u << 24 | front;
}

#endif
