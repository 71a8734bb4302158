/* See net.h. */
#include "net.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "files_private.h"
#include "scheduler.h"
#include "world.h"

#define NET_FIRST   512
#define NODES_MAX   256
#define WATCHES_MAX 128
#define BACKLOG_MAX 64
#define PIPE_MAX    65536u

/* Bytes one way. */
struct pipe {
    unsigned char *bytes; /* a ring of `room` */
    size_t room, at, used;
    uint64_t total; /* that ever came in */
    bool ended;     /* no more will */
};

struct link {
    struct pipe up, down; /* to the server, to the client */
    int fd;               /* the server's; -1: closed, or not accepted yet */
    bool is_accepted, is_closed;
    bool is_reset;   /* by the client */
    bool wants_room; /* the server's last write found none */
};

struct watch {
    int fd;
    uint32_t events;
    epoll_data_t data;
    bool is_pending; /* an edge that was not told yet */
};

enum node_kind { NODE_FREE, NODE_LISTENER, NODE_LINK, NODE_EVENT, NODE_EPOLL };
struct node {
    enum node_kind kind;
    struct link *link;
    bool reads_no_more;
    uint64_t count; /* of an eventfd */
    struct watch watches[WATCHES_MAX];
    unsigned watch_count;
};

static struct node nodes[NODES_MAX];
static struct link *backlog[BACKLOG_MAX];
static unsigned backlog_count;
static int listener = -1;
static char server_waits; /* its address: what epoll_wait() and poll() wait for */

static struct node *node_of(int fd)
{
    return fd >= NET_FIRST && fd < NET_FIRST + NODES_MAX && nodes[fd - NET_FIRST].kind != NODE_FREE
               ? &nodes[fd - NET_FIRST]
               : NULL;
}

bool net_owns(int fd)
{
    return node_of(fd) != NULL;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

static int new_node(enum node_kind kind)
{
    for (int i = 0; i < NODES_MAX; i++) {
        if (nodes[i].kind == NODE_FREE) {
            nodes[i] = (struct node){ .kind = kind };
            return NET_FIRST + i;
        }
    }
    return fail(EMFILE);
}

/* ---- who waits ---- */

static uint32_t ready(const struct node *node)
{
    const struct link *link = node->link;
    uint32_t events = 0;

    if (node->kind == NODE_LISTENER)
        return backlog_count > 0 ? EPOLLIN : 0;
    if (node->kind == NODE_EVENT)
        return EPOLLOUT | (node->count > 0 ? EPOLLIN : 0);
    if (node->kind != NODE_LINK)
        return 0;
    if (link->up.used > 0 || link->up.ended || link->is_reset || node->reads_no_more)
        events |= EPOLLIN;
    if (link->up.ended || link->is_reset || node->reads_no_more)
        events |= EPOLLRDHUP;
    if (link->down.used < link->down.room * 2 / 3 || link->is_reset || link->down.ended)
        events |= EPOLLOUT;
    if (link->is_reset)
        events |= EPOLLERR | EPOLLHUP;
    if ((link->up.ended || node->reads_no_more) && link->down.ended)
        events |= EPOLLHUP;
    return events;
}

/* An edge of the descriptor: who watches it is told once more. */
static void notify(int fd)
{
    for (int i = 0; i < NODES_MAX; i++) {
        for (unsigned w = 0; nodes[i].kind == NODE_EPOLL && w < nodes[i].watch_count; w++) {
            if (nodes[i].watches[w].fd == fd)
                nodes[i].watches[w].is_pending = true;
        }
    }
    sched_wake(WAIT_EVENT, &server_waits, UINT_MAX);
}

static void notify_client(struct link *link)
{
    sched_wake(WAIT_EVENT, link, UINT_MAX);
}

/* ---- pipes ---- */

static size_t pipe_put(struct pipe *pipe, const unsigned char *from, size_t size)
{
    size_t done = 0;

    while (done < size && pipe->used < pipe->room) {
        size_t end = (pipe->at + pipe->used) % pipe->room;
        size_t some = end < pipe->at ? pipe->at - end : pipe->room - end;

        if (some > size - done)
            some = size - done;
        if (some > pipe->room - pipe->used)
            some = pipe->room - pipe->used;
        memcpy(pipe->bytes + end, from + done, some);
        pipe->used += some;
        done += some;
    }
    pipe->total += done;
    return done;
}

static size_t pipe_take(struct pipe *pipe, unsigned char *to, size_t size, bool keeps)
{
    size_t at = pipe->at, left = pipe->used, done = 0;

    while (done < size && left > 0) {
        size_t some = pipe->room - at;

        if (some > left)
            some = left;
        if (some > size - done)
            some = size - done;
        memcpy(to + done, pipe->bytes + at, some);
        at = (at + some) % pipe->room;
        left -= some;
        done += some;
    }
    if (!keeps) {
        pipe->at = at;
        pipe->used = left;
    }
    return done;
}

static void pipe_begin(struct pipe *pipe)
{
    pipe->room = 2048u << world_draw(STREAM_SYSTEM, 6);
    if (pipe->room > PIPE_MAX)
        pipe->room = PIPE_MAX;
    pipe->bytes = malloc(pipe->room);
}

/* ---- the client's end ---- */

struct link *net_connect(void)
{
    struct link *link;

    sched_point();
    if (listener < 0 || backlog_count == BACKLOG_MAX)
        return NULL;
    link = calloc(1, sizeof *link);
    link->fd = -1;
    pipe_begin(&link->up);
    pipe_begin(&link->down);
    backlog[backlog_count++] = link;
    notify(listener);
    return link;
}

bool net_send(struct link *link, const void *from, size_t size)
{
    const unsigned char *at = from;

    while (size > 0) {
        size_t put;

        sched_point();
        if (link->is_closed || link->up.ended)
            return false;
        put = pipe_put(&link->up, at, size);
        at += put;
        size -= put;
        if (put > 0 && link->fd >= 0)
            notify(link->fd);
        if (size > 0)
            sched_wait(WAIT_EVENT, link, 0);
    }
    return true;
}

size_t net_receive(struct link *link, void *to, size_t size)
{
    sched_point();
    while (link->down.used == 0 && !link->down.ended && !link->is_closed)
        sched_wait(WAIT_EVENT, link, 0);
    size = pipe_take(&link->down, to, size, false);
    if (link->wants_room && link->down.used < link->down.room * 2 / 3 && link->fd >= 0) {
        link->wants_room = false;
        notify(link->fd);
    }
    return size;
}

bool net_has_ended(const struct link *link)
{
    return link->is_closed || link->down.ended;
}

void net_end_sending(struct link *link)
{
    link->up.ended = true;
    if (link->fd >= 0)
        notify(link->fd);
    sched_point();
}

void net_abort(struct link *link)
{
    link->is_reset = true;
    link->up.ended = true;
    if (link->fd >= 0)
        notify(link->fd);
    else
        notify(listener);
    while (!link->is_closed)
        sched_wait(WAIT_EVENT, link, 0);
    free(link->up.bytes);
    free(link->down.bytes);
    free(link);
}

/* ---- the server's end ---- */

int net_listen(void)
{
    listener = new_node(NODE_LISTENER);
    return listener;
}

static void close_link(struct link *link)
{
    link->is_closed = true;
    link->down.ended = true;
    link->fd = -1;
    notify_client(link);
}

int net_close(int fd)
{
    struct node *node = node_of(fd);

    sched_point();
    if (node->kind == NODE_LISTENER) {
        listener = -1;
        while (backlog_count > 0)
            close_link(backlog[--backlog_count]);
    }
    for (int i = 0; i < NODES_MAX; i++) {
        for (unsigned w = 0; nodes[i].kind == NODE_EPOLL && w < nodes[i].watch_count;) {
            if (nodes[i].watches[w].fd == fd)
                nodes[i].watches[w] = nodes[i].watches[--nodes[i].watch_count];
            else
                w++;
        }
    }
    if (node->link)
        close_link(node->link);
    node->kind = NODE_FREE;
    node->link = NULL;
    return 0;
}

CALL(int, accept4, int fd, void *ret_address, socklen_t *size, int flags)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct link *link;
    int made;

    (void)flags;
    sched_point();
    if (!node_of(fd) || node_of(fd)->kind != NODE_LISTENER)
        return fail(EBADF);
    if (backlog_count == 0)
        return fail(EAGAIN);
    made = new_node(NODE_LINK);
    if (made < 0)
        return made;
    link = backlog[0];
    memmove(backlog, backlog + 1, --backlog_count * sizeof backlog[0]);
    node_of(made)->link = link;
    link->fd = made;
    link->is_accepted = true;
    address.sin_port = htons((uint16_t)(10000 + made));
    memcpy(ret_address, &address, sizeof address);
    *size = sizeof address;
    return made;
}

ssize_t recv(int fd, void *to, size_t size, int flags)
{
    struct node *node = node_of(fd);
    struct link *link;

    sched_point();
    if (!node || node->kind != NODE_LINK)
        return fail(EBADF);
    link = node->link;
    if (link->is_reset)
        return fail(ECONNRESET);
    if (node->reads_no_more)
        return 0;
    if (link->up.used == 0)
        return link->up.ended ? 0 : fail(EAGAIN);
    size = pipe_take(&link->up, to, size, flags & MSG_PEEK);
    if (!(flags & MSG_PEEK))
        notify_client(link);
    return (ssize_t)size;
}

static ssize_t put(int fd, const void *from, size_t size)
{
    struct node *node = node_of(fd);
    struct link *link = node->link;
    size_t done;

    if (link->is_reset)
        return fail(ECONNRESET);
    if (link->down.ended)
        return fail(EPIPE);
    done = pipe_put(&link->down, from, size);
    link->wants_room = done < size;
    if (done > 0)
        notify_client(link);
    return done > 0 || size == 0 ? (ssize_t)done : fail(EAGAIN);
}

ssize_t send(int fd, const void *from, size_t size, int flags)
{
    (void)flags;
    sched_point();
    return node_of(fd) ? put(fd, from, size) : fail(EBADF);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t sum = 0;

    (void)flags;
    sched_point();
    if (!node_of(fd))
        return fail(EBADF);
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        ssize_t done = put(fd, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);

        if (done < 0)
            return sum > 0 ? sum : done;
        sum += done;
        if ((size_t)done < message->msg_iov[i].iov_len)
            break;
    }
    return sum;
}

/* Less than was asked for says that the socket has no room. */
ssize_t sendfile64(int fd, int from, off64_t *at, size_t size)
{
    static unsigned char bytes[16384];
    size_t sum = 0;

    sched_point();
    if (!node_of(fd))
        return fail(EBADF);
    while (sum < size) {
        size_t some = size - sum < sizeof bytes ? size - sum : sizeof bytes;
        ssize_t got = files_peek(from, bytes, some, *at), done;

        if (got <= 0)
            return sum > 0 ? (ssize_t)sum : got;
        done = put(fd, bytes, (size_t)got);
        if (done < 0)
            return sum > 0 ? (ssize_t)sum : done;
        sum += (size_t)done;
        *at += done;
        if (done < got)
            break;
    }
    return (ssize_t)sum;
}

int shutdown(int fd, int how)
{
    struct node *node = node_of(fd);

    sched_point();
    if (!node || node->kind != NODE_LINK)
        return fail(ENOTCONN);
    if (how != SHUT_WR)
        node->reads_no_more = true;
    if (how != SHUT_RD)
        node->link->down.ended = true;
    notify(fd);
    notify_client(node->link);
    return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    (void)level;
    (void)name;
    (void)value;
    (void)size;
    return node_of(fd) ? 0 : fail(EBADF);
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict size)
{
    const struct node *node = node_of(fd);
    struct tcp_info info = { .tcpi_state = 1 };

    if (!node)
        return fail(EBADF);
    memset(value, 0, *size);
    if (level == IPPROTO_TCP && name == TCP_INFO && node->link && *size >= sizeof info) {
        info.tcpi_bytes_acked = node->link->down.total;
        memcpy(value, &info, sizeof info);
    }
    return 0;
}

/* ---- descriptors that wake, and sets of descriptors ---- */

int eventfd(unsigned count, int flags)
{
    int fd = new_node(NODE_EVENT);

    (void)flags;
    if (fd >= 0)
        node_of(fd)->count = count;
    return fd;
}

ssize_t net_read(int fd, void *to, size_t size)
{
    struct node *node = node_of(fd);

    sched_point();
    if (node->kind == NODE_LINK)
        return recv(fd, to, size, 0);
    if (node->count == 0)
        return fail(EAGAIN);
    memcpy(to, &node->count, sizeof node->count);
    node->count = 0;
    return sizeof node->count;
}

ssize_t net_write(int fd, const void *from, size_t size)
{
    struct node *node = node_of(fd);
    uint64_t count;

    if (node->kind == NODE_LINK)
        return send(fd, from, size, 0);
    memcpy(&count, from, sizeof count);
    node->count += count;
    notify(fd);
    sched_point();
    return sizeof count;
}

int epoll_create1(int flags)
{
    (void)flags;
    return new_node(NODE_EPOLL);
}

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    struct node *node = node_of(set);
    unsigned i = 0;

    sched_point();
    if (!node || !node_of(fd))
        return fail(EBADF);
    while (i < node->watch_count && node->watches[i].fd != fd)
        i++;
    if (operation == EPOLL_CTL_DEL) {
        if (i == node->watch_count)
            return fail(ENOENT);
        node->watches[i] = node->watches[--node->watch_count];
        return 0;
    }
    if (operation == EPOLL_CTL_ADD) {
        if (i < node->watch_count)
            return fail(EEXIST);
        if (i == WATCHES_MAX)
            return fail(ENOSPC);
        node->watch_count++;
    } else if (i == node->watch_count) {
        return fail(ENOENT);
    }
    node->watches[i] = (struct watch){
        .fd = fd, .events = event->events, .data = event->data, .is_pending = true
    };
    sched_wake(WAIT_EVENT, &server_waits, UINT_MAX);
    return 0;
}

static int collect(struct node *set, struct epoll_event *events, int max)
{
    int count = 0;

    for (unsigned i = 0; i < set->watch_count && count < max; i++) {
        struct watch *watch = &set->watches[i];
        uint32_t is = ready(node_of(watch->fd)) & (watch->events | EPOLLERR | EPOLLHUP);

        if (is == 0 || ((watch->events & EPOLLET) && !watch->is_pending))
            continue;
        watch->is_pending = false;
        events[count++] = (struct epoll_event){ .events = is, .data = watch->data };
    }
    return count;
}

static uint64_t deadline_of(int timeout_ms)
{
    return timeout_ms < 0 ? 0 : world->now_ns + (uint64_t)timeout_ms * 1000000 + 1;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
    struct node *set = node_of(fd);
    uint64_t deadline = deadline_of(timeout_ms);

    sched_point();
    if (!set)
        return fail(EBADF);
    for (;;) {
        int count = collect(set, events, max);

        if (count > 0 || timeout_ms == 0)
            return count;
        if (!sched_wait(WAIT_EVENT, &server_waits, deadline))
            return collect(set, events, max);
    }
}

static int look(struct pollfd *asked, nfds_t count)
{
    int found = 0;

    for (nfds_t i = 0; i < count; i++) {
        const struct node *node = node_of(asked[i].fd);

        uint32_t wanted = (uint32_t)(unsigned short)asked[i].events | EPOLLHUP;

        asked[i].revents = node ? (short)(ready(node) & wanted) : 0;
        found += asked[i].revents != 0;
    }
    return found;
}

int poll(struct pollfd *asked, nfds_t count, int timeout_ms)
{
    uint64_t deadline = deadline_of(timeout_ms);

    sched_point();
    for (;;) {
        int found = look(asked, count);

        if (found > 0 || timeout_ms == 0)
            return found;
        if (!sched_wait(WAIT_EVENT, &server_waits, deadline))
            return look(asked, count);
    }
}
