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
#include "net/stream.h"
#include "fleet.h"
#include "scheduler.h"
#include "world.h"

#define NET_FIRST     512
#define NODES_MAX     256
#define WATCHES_MAX   128
#define BACKLOG_MAX   64
#define LISTENERS_MAX 8
#define PIPE_MAX      65536u

/* Bytes one way. */
struct pipe {
    unsigned char *bytes; /* a ring of `room` */
    size_t room, at, used;
    uint64_t total; /* that ever came in */
    bool ended;     /* no more will */
};

/* The one that accepted a connection, and the one that opened it. */
enum side { ACCEPTED, OPENED, SIDES };

struct end {
    unsigned front; /* whose process it is in */
    int fd; /* -1: closed, or not accepted yet; or that of a client, which has no descriptor */
    bool is_closed;
    bool wants_room; /* its last write found none */
};

struct link {
    struct pipe up, down; /* to who accepted it, and from there */
    struct end ends[SIDES];
    bool is_stream;              /* of a front end's own requests */
    bool is_ours;                /* a client's, who opened it by net_connect() */
    bool is_reset;               /* by who opened it, or on the way */
    uint64_t cut_after;          /* bytes, both ways; 0: never */
    struct link *next, **before; /* in the list of all */
};

struct watch {
    int fd;
    uint32_t events;
    epoll_data_t data;
    bool is_pending; /* an edge that was not told yet */
};

enum node_kind { NODE_FREE, NODE_LISTENER, NODE_SOCKET, NODE_LINK, NODE_EVENT, NODE_EPOLL };
struct node {
    enum node_kind kind;
    struct link *link;
    enum side side;
    bool reads_no_more;
    uint64_t count;        /* of an eventfd */
    struct watch *watches; /* of a set */
    unsigned watch_count;
};

struct listener {
    int fd; /* 0: free */
    unsigned front;
    uint16_t port;
    struct link *backlog[BACKLOG_MAX];
    unsigned backlog_count;
};

/* Of this process, or in the world's memory for those of all front ends. */
struct net {
    struct node nodes[FRONTS_MAX + 1][NODES_MAX];
    struct listener listeners[LISTENERS_MAX];
    struct link *links;
    char server_waits[FRONTS_MAX +
                      1]; /* addresses: what epoll_wait() and poll() of a process wait for */
};

static struct net own;
static struct net *net = &own;
static unsigned front; /* of this process */

void net_begin(void)
{
    net = world->net = world_alloc(sizeof *net);
}

void net_enter_process(unsigned of_front)
{
    front = of_front;
}

static void *take_memory(size_t size)
{
    return net == &own ? calloc(1, size) : world_alloc(size);
}

static void give_memory(void *memory, size_t size)
{
    if (net == &own)
        free(memory);
    else
        world_free(memory, size);
}

static struct node *node_of(int fd)
{
    return fd >= NET_FIRST && fd < NET_FIRST + NODES_MAX &&
                   net->nodes[front][fd - NET_FIRST].kind != NODE_FREE
               ? &net->nodes[front][fd - NET_FIRST]
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
    struct node *nodes = net->nodes[front];

    for (int i = 0; i < NODES_MAX; i++) {
        if (nodes[i].kind == NODE_FREE) {
            nodes[i] = (struct node){ .kind = kind };
            return NET_FIRST + i;
        }
    }
    return fail(EMFILE);
}

static struct listener *listener_of(int fd)
{
    for (unsigned i = 0; i < LISTENERS_MAX; i++) {
        if (net->listeners[i].fd == fd && net->listeners[i].front == front)
            return &net->listeners[i];
    }
    return NULL;
}

/* ---- who waits ---- */

static struct pipe *incoming(const struct node *node)
{
    return node->side == ACCEPTED ? &node->link->up : &node->link->down;
}

static struct pipe *outgoing(const struct node *node)
{
    return node->side == ACCEPTED ? &node->link->down : &node->link->up;
}

static uint32_t ready(int fd, const struct node *node)
{
    const struct link *link = node->link;
    const struct pipe *in, *out;
    uint32_t events = 0;

    if (node->kind == NODE_LISTENER)
        return listener_of(fd)->backlog_count > 0 ? EPOLLIN : 0;
    if (node->kind == NODE_EVENT)
        return EPOLLOUT | (node->count > 0 ? EPOLLIN : 0);
    if (node->kind != NODE_LINK)
        return 0;
    in = incoming(node);
    out = outgoing(node);
    if (in->used > 0 || in->ended || link->is_reset || node->reads_no_more)
        events |= EPOLLIN;
    if (in->ended || link->is_reset || node->reads_no_more)
        events |= EPOLLRDHUP;
    if (out->used < out->room * 2 / 3 || link->is_reset || out->ended)
        events |= EPOLLOUT;
    if (link->is_reset)
        events |= EPOLLERR | EPOLLHUP;
    if ((in->ended || node->reads_no_more) && out->ended)
        events |= EPOLLHUP;
    return events;
}

/* An edge of the descriptor: who watches it is told once more. */
static void notify(unsigned of_front, int fd)
{
    struct node *nodes = net->nodes[of_front];

    for (int i = 0; i < NODES_MAX; i++) {
        for (unsigned w = 0; nodes[i].kind == NODE_EPOLL && w < nodes[i].watch_count; w++) {
            if (nodes[i].watches[w].fd == fd)
                nodes[i].watches[w].is_pending = true;
        }
    }
    sched_wake(WAIT_EVENT, &net->server_waits[of_front], UINT_MAX);
}

static void notify_end(struct link *link, enum side side)
{
    const struct end *end = &link->ends[side];

    if (side == OPENED && link->is_ours)
        sched_wake(WAIT_EVENT, link, UINT_MAX);
    else if (end->fd >= 0)
        notify(end->front, end->fd);
}

static enum side other(enum side side)
{
    return side == ACCEPTED ? OPENED : ACCEPTED;
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
    pipe->bytes = take_memory(pipe->room);
}

/* ---- connections ---- */

/* To who listens at the port. Returns NULL if nobody does. */
static struct link *new_link(uint16_t port)
{
    struct listener *listener = net->listeners;
    struct link *link;

    while (listener < net->listeners + LISTENERS_MAX &&
           (listener->fd == 0 || (port != 0 && listener->port != port)))
        listener++;
    if (listener == net->listeners + LISTENERS_MAX || listener->backlog_count == BACKLOG_MAX)
        return NULL;
    link = take_memory(sizeof *link);
    link->ends[ACCEPTED] = (struct end){ .fd = -1, .front = listener->front };
    link->ends[OPENED] = (struct end){ .fd = -1, .front = front };
    pipe_begin(&link->up);
    pipe_begin(&link->down);
    link->next = net->links;
    link->before = &net->links;
    if (link->next)
        link->next->before = &link->next;
    net->links = link;
    listener->backlog[listener->backlog_count++] = link;
    notify(listener->front, listener->fd);
    return link;
}

static void free_link(struct link *link)
{
    *link->before = link->next;
    if (link->next)
        link->next->before = link->before;
    give_memory(link->up.bytes, link->up.room);
    give_memory(link->down.bytes, link->down.room);
    give_memory(link, sizeof *link);
}

/* The connection is lost on its way. Neither side reads or writes any more. */
static void reset(struct link *link)
{
    link->is_reset = true;
    link->up.ended = link->down.ended = true;
    notify_end(link, ACCEPTED);
    notify_end(link, OPENED);
}

/* Of a connection between front ends, which is cut after some of its bytes. */
static bool is_cut(struct link *link, size_t *size)
{
    uint64_t sent = link->up.total + link->down.total;

    if (link->cut_after == 0)
        return false;
    if (sent + *size >= link->cut_after)
        *size = link->cut_after > sent ? (size_t)(link->cut_after - sent) : 0;
    return *size == 0;
}

static void close_end(struct link *link, enum side side)
{
    link->ends[side].is_closed = true;
    link->ends[side].fd = -1;
    (side == ACCEPTED ? &link->down : &link->up)->ended = true;
    notify_end(link, other(side));
    if (!link->is_ours && link->ends[other(side)].is_closed)
        free_link(link);
}

bool net_is_half_open(void)
{
    for (const struct link *link = net->links; link; link = link->next) {
        bool is_abandoned = link->is_stream && link->ends[OPENED].is_closed;

        if (is_abandoned && !link->ends[ACCEPTED].is_closed)
            return true;
        if (!link->is_ours && !link->is_stream &&
            (link->ends[ACCEPTED].is_closed || link->ends[OPENED].is_closed || link->is_reset))
            return true;
    }
    return false;
}

bool net_has_unread(void)
{
    for (const struct link *link = net->links; link; link = link->next) {
        if (link->is_ours && link->down.used > 0)
            return true;
    }
    return false;
}

/* ---- the client's end ---- */

struct link *net_connect(uint16_t port)
{
    struct link *link;

    sched_point();
    link = new_link(port);
    if (link)
        link->is_ours = true;
    return link;
}

bool net_send(struct link *link, const void *from, size_t size)
{
    const unsigned char *at = from;

    while (size > 0) {
        size_t put;

        sched_point();
        if (link->ends[ACCEPTED].is_closed || link->up.ended)
            return false;
        put = pipe_put(&link->up, at, size);
        at += put;
        size -= put;
        if (put > 0)
            notify_end(link, ACCEPTED);
        if (size > 0)
            sched_wait(WAIT_EVENT, link, 0);
    }
    return true;
}

size_t net_receive(struct link *link, void *to, size_t size)
{
    struct end *end = &link->ends[ACCEPTED];

    sched_point();
    while (link->down.used == 0 && !link->down.ended && !end->is_closed)
        sched_wait(WAIT_EVENT, link, 0);
    size = pipe_take(&link->down, to, size, false);
    if (end->wants_room && link->down.used < link->down.room * 2 / 3 && end->fd >= 0) {
        end->wants_room = false;
        notify(end->front, end->fd);
    }
    return size;
}

bool net_has_ended(const struct link *link)
{
    return link->ends[ACCEPTED].is_closed || link->down.ended;
}

void net_end_sending(struct link *link)
{
    link->up.ended = true;
    notify_end(link, ACCEPTED);
    sched_point();
}

/* It is in a backlog. */
static void notify_listener(const struct link *link)
{
    for (unsigned i = 0; i < LISTENERS_MAX; i++) {
        struct listener *listener = &net->listeners[i];

        for (unsigned at = 0; listener->fd != 0 && at < listener->backlog_count; at++) {
            if (listener->backlog[at] == link)
                notify(listener->front, listener->fd);
        }
    }
}

void net_abort(struct link *link)
{
    struct end *end = &link->ends[ACCEPTED];

    link->is_reset = true;
    link->up.ended = true;
    if (end->fd >= 0)
        notify(end->front, end->fd);
    else
        notify_listener(link);
    while (!end->is_closed)
        sched_wait(WAIT_EVENT, link, 0);
    free_link(link);
}

/* ---- the server's end ---- */

int net_listen(uint16_t port)
{
    int fd = new_node(NODE_LISTENER);

    for (unsigned i = 0; i < LISTENERS_MAX; i++) {
        struct listener *listener = &net->listeners[i];

        if (listener->fd != 0)
            continue;
        *listener = (struct listener){ .fd = fd, .front = front, .port = port };
        return fd;
    }
    return fail(EMFILE);
}

static void stop_listening(struct listener *listener)
{
    listener->fd = 0;
    while (listener->backlog_count > 0)
        close_end(listener->backlog[--listener->backlog_count], ACCEPTED);
}

static void close_node(struct node *node)
{
    struct link *link = node->link;

    if (node->kind == NODE_EPOLL)
        give_memory(node->watches, WATCHES_MAX * sizeof node->watches[0]);
    node->kind = NODE_FREE;
    node->link = NULL;
    if (link)
        close_end(link, node->side);
}

int net_close(int fd)
{
    struct node *node = node_of(fd), *nodes = net->nodes[front];

    sched_point();
    if (node->kind == NODE_LISTENER)
        stop_listening(listener_of(fd));
    for (int i = 0; i < NODES_MAX; i++) {
        for (unsigned w = 0; nodes[i].kind == NODE_EPOLL && w < nodes[i].watch_count;) {
            if (nodes[i].watches[w].fd == fd)
                nodes[i].watches[w] = nodes[i].watches[--nodes[i].watch_count];
            else
                w++;
        }
    }
    close_node(node);
    return 0;
}

void net_end_process(unsigned of_front)
{
    for (unsigned i = 0; i < LISTENERS_MAX; i++) {
        if (net->listeners[i].fd != 0 && net->listeners[i].front == of_front)
            stop_listening(&net->listeners[i]);
    }
    for (int i = 0; i < NODES_MAX; i++) {
        if (net->nodes[of_front][i].kind != NODE_FREE)
            close_node(&net->nodes[of_front][i]);
    }
}

static void write_address(unsigned of_front, int port, void *to, socklen_t *size)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

    address.sin_addr.s_addr = htonl(of_front > 0 ? net_address(of_front) : INADDR_LOOPBACK);
    memcpy(to, &address, sizeof address);
    *size = sizeof address;
}

CALL(int, accept4, int fd, void *ret_address, socklen_t *size, int flags)
{
    struct listener *listener;
    struct link *link;
    int made;

    (void)flags;
    sched_point();
    if (!node_of(fd) || node_of(fd)->kind != NODE_LISTENER)
        return fail(EBADF);
    listener = listener_of(fd);
    if (listener->backlog_count == 0)
        return fail(EAGAIN);
    made = new_node(NODE_LINK);
    if (made < 0)
        return made;
    link = listener->backlog[0];
    memmove(listener->backlog, listener->backlog + 1,
            --listener->backlog_count * sizeof listener->backlog[0]);
    node_of(made)->link = link;
    node_of(made)->side = ACCEPTED;
    link->ends[ACCEPTED].fd = made;
    write_address(link->ends[OPENED].front, 10000 + made, ret_address, size);
    return made;
}

int socket(int domain, int type, int protocol)
{
    (void)domain;
    (void)type;
    (void)protocol;
    return new_node(NODE_SOCKET);
}

static uint64_t draw_cut(void)
{
    if (!world_once_in(STREAM_FAULTS, 4))
        return 0;
    return 1 + world_draw(STREAM_FAULTS, 64u << world_draw(STREAM_FAULTS, 11));
}

/* Streams carry front ends' own requests, and idle ones are closed late. */
static _Thread_local bool opens_stream;
__typeof__(net_stream_open) __real_net_stream_open, __wrap_net_stream_open;

struct net_stream *__wrap_net_stream_open(const struct net_peer *peer, uint64_t deadline_ns)
{
    struct net_stream *stream;

    opens_stream = true;
    stream = __real_net_stream_open(peer, deadline_ns);
    opens_stream = false;
    return stream;
}

/* Of a front end to another one, at once. */
CALL(int, connect, int fd, const void *address, socklen_t size)
{
    struct node *node = node_of(fd);
    struct sockaddr_in to;
    struct link *link;

    sched_point();
    if (!node || node->kind != NODE_SOCKET || size < sizeof to)
        return fail(EBADF);
    memcpy(&to, address, sizeof to);
    link = new_link(ntohs(to.sin_port));
    if (!link)
        return fail(ECONNREFUSED);
    link->cut_after = draw_cut();
    link->is_stream = opens_stream;
    link->ends[OPENED].fd = fd;
    node->kind = NODE_LINK;
    node->link = link;
    node->side = OPENED;
    return 0;
}

ssize_t recv(int fd, void *to, size_t size, int flags)
{
    struct node *node = node_of(fd);
    struct link *link;
    struct pipe *in;
    struct end *sender;

    sched_point();
    if (!node || node->kind != NODE_LINK)
        return fail(EBADF);
    link = node->link;
    if (link->is_reset)
        return fail(ECONNRESET);
    if (node->reads_no_more)
        return 0;
    in = incoming(node);
    if (in->used == 0)
        return in->ended ? 0 : fail(EAGAIN);
    size = pipe_take(in, to, size, flags & MSG_PEEK);
    if (flags & MSG_PEEK)
        return (ssize_t)size;
    sender = &link->ends[other(node->side)];
    if (node->side == ACCEPTED && link->is_ours) {
        notify_end(link, OPENED);
    } else if (sender->wants_room && in->used < in->room * 2 / 3) {
        sender->wants_room = false;
        notify_end(link, other(node->side));
    }
    return (ssize_t)size;
}

static ssize_t put(int fd, const void *from, size_t size)
{
    struct node *node = node_of(fd);
    struct link *link = node->link;
    struct pipe *out;
    size_t done, some = size;

    if (!link)
        return fail(ENOTCONN);
    out = outgoing(node);
    if (link->is_reset)
        return fail(ECONNRESET);
    if (out->ended || link->ends[other(node->side)].is_closed)
        return fail(EPIPE);
    if (size > 0 && is_cut(link, &some)) {
        fleet_count(FLEET_CUTS);
        fleet_trouble("a connection between front ends is cut");
        reset(link);
        return fail(ECONNRESET);
    }
    done = pipe_put(out, from, some);
    link->ends[node->side].wants_room = done < size;
    if (done > 0)
        notify_end(link, other(node->side));
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
        outgoing(node)->ended = true;
    notify(front, fd);
    notify_end(node->link, other(node->side));
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
        info.tcpi_bytes_acked = outgoing(node)->total;
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
    notify(front, fd);
    sched_point();
    return sizeof count;
}

int epoll_create1(int flags)
{
    int fd = new_node(NODE_EPOLL);

    (void)flags;
    if (fd >= 0)
        node_of(fd)->watches = take_memory(WATCHES_MAX * sizeof(struct watch));
    return fd;
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
    sched_wake(WAIT_EVENT, &net->server_waits[front], UINT_MAX);
    return 0;
}

static int collect(struct node *set, struct epoll_event *events, int max)
{
    int count = 0;

    for (unsigned i = 0; i < set->watch_count && count < max; i++) {
        struct watch *watch = &set->watches[i];
        uint32_t is = ready(watch->fd, node_of(watch->fd)) & (watch->events | EPOLLERR | EPOLLHUP);

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
        if (!sched_wait(WAIT_EVENT, &net->server_waits[front], deadline))
            return collect(set, events, max);
    }
}

static int look(struct pollfd *asked, nfds_t count)
{
    int found = 0;

    for (nfds_t i = 0; i < count; i++) {
        const struct node *node = node_of(asked[i].fd);

        uint32_t wanted = (uint32_t)(unsigned short)asked[i].events | EPOLLHUP;

        asked[i].revents = node ? (short)(ready(asked[i].fd, node) & wanted) : 0;
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
        if (!sched_wait(WAIT_EVENT, &net->server_waits[front], deadline))
            return look(asked, count);
    }
}
