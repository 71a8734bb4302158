/* Inside of the net room: how a server and its connections hang together.
 *
 *   net_server --- connections, admitted by its acceptor
 *              --- workers: each a thread with one epoll set
 *
 * Threads. "Acceptor": one thread a server; it accepts, chooses the worker of each connection, and
 * cuts connections that are late. "Worker": the thread that serves the connection; the protocol's
 * functions are called on it. The acceptor sees a connection only through the lists (under lock) and
 * through the atomic fields of its progress.
 *
 * Invariants:
 * (1) A protocol's begin() and end() are called once for each connection, by its worker; neither for one that
 *     ended before its PROXY header was there.
 * (2) A connection is listed from its accept until just before its socket is closed, so the socket
 *     of a listed connection may be shut down under the lock. */
#ifndef LAGRA_NET_PRIVATE_H
#define LAGRA_NET_PRIVATE_H

#include "base/arena.h"
#include "base/lock.h"
#include "net/connection.h"
#include "net/lanes.h"

struct sockaddr;

/* Connections beyond the limit, in each way: to be refused, and shut down but not yet closed. */
static inline unsigned overflow_connections(const struct net_limits *limits)
{
    return limits->connections_max < 512 ? 1 + limits->connections_max / 8 : 64;
}

struct connection_list {
    struct connection *first; /* the oldest */
    struct connection *last;
};

/* A thread, its epoll set, and what it needs for the connection that has its turn. */
struct worker {
    /* From any thread: connections that are new, or were posted, the last first. */
    _Alignas(64) _Atomic(struct connection *) posted;
    _Atomic unsigned posters; /* threads inside worker_post() */
    _Atomic bool ends;        /* set when there are no connections any more */
    _Alignas(64) struct net_server *server;
    pthread_t thread;
    int set;              /* epoll */
    int wake;             /* an eventfd, watched by its edges, so never read */
    unsigned connections; /* under server->lock: handed to it */
    /* Touched by its thread only. */
    struct lanes lanes; /* of those that have a turn */
    char *input;        /* CONNECTION_INPUT_BYTES */
    char *block;        /* CONNECTION_BLOCK_BYTES */
    char *tls_input;    /* CONNECTION_INPUT_BYTES, for tls_receive(); NULL before its first call */
    void *state;        /* the protocol's */
};

#define ADDRESS_BUCKETS 1024u

struct net_server {
    const struct net_protocol *protocol;
    void *context; /* the protocol's */
    struct net_limits limits;
    const struct net_proxies *proxies; /* NULL: none */
    bool is_local; /* constant, as is the next: serves this user's processes alone */
    bool is_tls;
    bool has_key;    /* its peers have the key, and speak for clients */
    struct tls *tls; /* that new connections begin with; under lock */
    uint16_t port;
    unsigned worker_count;
    struct worker *workers;
    struct lock lock;       /* RANK_CONNECTIONS */
    pthread_cond_t changed; /* the last connection left; the acceptor ends */
    /* Under lock. */
    struct connection_list untrusted; /* nobody on it has been authenticated yet */
    struct connection_list trusted;
    struct connection *addresses[ADDRESS_BUCKETS]; /* only if the limit for an address is set */
    unsigned connection_count;                     /* listed: admitted, giving way, refused */
    unsigned evicted_count;
    unsigned refused_count;
    unsigned outgoing_count; /* of the listed ones */
    bool acceptor_ends;
    bool acceptor_waits; /* for room: until connections_may_grow() */
    pthread_t acceptor;
    int listener; /* -1: closed; changed by the acceptor, under lock */
    /* The acceptor's. */
    int wake;                   /* an eventfd, see acceptor_wake() */
    unsigned next_worker;       /* where the search for the least loaded begins */
    _Atomic unsigned lingering; /* connections that wait for their clients to close */
    _Atomic bool stopping;      /* accept no more, begin nothing */
};

/* ---- connections (connections.c) ---- */

/* Whether a connection may be accepted now. Acceptor. */
bool connections_may_grow(struct net_server *server);
/* Finds room and a worker for an accepted socket and lists it, perhaps only to be refused.
 *
 * returns  NULL if there is no room even for a refusal: the socket is still the caller's
 * Acceptor. */
struct connection *connection_admit(struct net_server *server, int fd,
                                    const struct sockaddr *address);
/* Lists an outgoing connection. Returns false if there are too many. Worker. */
bool connection_list_outgoing(struct connection *connection);
struct proxy_header;
/* The connection is that of the client that the header names, if it names one, and may be refused as one of its
 * address. returns false: there is no room even for a refusal. Worker. */
bool connection_introduce(struct connection *connection, const struct proxy_header *header);
/* Makes room by cutting an idle connection, if there is one. Acceptor. */
bool connections_make_room(struct net_server *server);
/* Another worker serves it from now on. Worker. */
void connection_change_worker(struct connection *connection, struct worker *to);
/* Just before the socket is closed; frees it. Worker. */
void connection_remove(struct connection *connection);

/* ---- cutting them (cut.c) ---- */

/* Shuts down the sockets of connections that are late; their workers then close them. Acceptor. */
void connections_sweep(struct net_server *server);
/* Shuts down the sockets of idle connections, or of all. */
void connections_cut(struct net_server *server, enum cut_which which);

/* ---- how many are left (connections.c) ---- */

/* Waits until no connection is left, at most timeout_ms. Returns whether none is. */
bool connections_wait_none(struct net_server *server, int timeout_ms);
unsigned connections_count(struct net_server *server);

/* ---- progress and lateness (limits.c) ---- */

uint64_t monotonic_ms(void);
/* It has its last answer; what still comes is counted as of a body. Worker. */
void connection_awaits_close(struct connection *connection);
/* An outgoing connection waits to be accepted. Worker. */
void connection_awaits_peer(struct connection *connection);
/* Like connection_claim(), to close it. Any thread, under server->lock. */
bool connection_claim_to_close(struct connection *connection);
/* Why the connection is to be cut now, or NULL. Under server->lock. Acceptor. */
const char *connection_timeout_reason(struct connection *connection, uint64_t now_ms);

/* ---- the acceptor (acceptor.c) ---- */

/* Starts the thread. returns NULL, or words for the operator. Main thread. */
const char *acceptor_start(struct net_server *server);
/* From its return on no connection is accepted, and the port is free. Main thread. */
void acceptor_accept_no_more(struct net_server *server);
/* Ends and joins the thread: no connection may be left. Main thread. */
void acceptor_stop(struct net_server *server);

/* ---- workers (worker.c) ---- */

/* Begins to serve a connection that the worker has opened itself, and gives it a turn when its socket is ready. Returns
 * false after closing it. Worker. */
bool worker_adopt(struct worker *worker, struct connection *connection);
/* Starts the thread. returns NULL, or words for the operator. Main thread. */
const char *worker_start(struct worker *worker, struct net_server *server);
/* Ends and joins the thread, if it was started: no connection may be left. Main thread. */
void worker_stop(struct worker *worker);

/* ---- connections to other servers (outgoing.c) ---- */

/* Returns a socket that is being connected to the peer, and never blocks; -1 if that is not possible. Thread-safe. */
int outgoing_connect(const struct net_peer *peer);

/* ---- both threads: names, waking (wake.c) ---- */

/* This thread is one of the server's: its name says so. */
void thread_is(const struct net_server *server, const char *role);
/* Something that the acceptor waits for may have come: a stop, its end, room. Any thread. */
void acceptor_wake(struct net_server *server);
/* Any thread. */
void worker_wake(struct worker *worker);
/* A new connection, or one that was posted: its turn comes. Any thread. */
void worker_post(struct worker *worker, struct connection *connection);
/* This thread is the worker's: what it posts itself it finds without being woken. */
void worker_is_current(const struct worker *worker);
/* Returns what was posted since, in its order, linked by next_posted; NULL: nothing. Worker. */
struct connection *worker_take_posted(struct worker *worker);
/* Returns once nobody is inside worker_post(), with no connection left that could be posted. Main
 * thread. */
void worker_await_posters(struct worker *worker);

/* ---- the ends of a transport (transport.c), TLS (tls.c) ---- */

/* Once, when the connection's turns begin. returns false: it cannot be served. Worker. */
bool transport_begin(struct connection *connection);
/* The PROXY header that the connection begins with. returns 1: *ret_header is set, and what follows it comes next;
 * TRANSPORT_WAITS, TRANSPORT_FAILED. Worker. */
ssize_t transport_receive_header(struct connection *connection, struct proxy_header *ret_header);
/* Before the socket is closed, or in the place of that for now. Worker. */
enum transport_end {
    TRANSPORT_CUT,
    TRANSPORT_ORDERLY,     /* the client is to see the end of what was sent */
    TRANSPORT_HALF_CLOSED, /* so too, and what it still sends can be received from the socket */
};
void transport_end(struct connection *connection, enum transport_end how);

struct tls;
/* Certificate and key, checked. returns NULL and *ret_problem: words for the operator. */
struct tls *tls_new(const char *cert_pem, const char *key_pem, const char **ret_problem);
/* One holder less; the last one frees it. NULL: nothing. */
void tls_give(struct tls *tls);
/* Credentials of a shared key. Holds them for one more connection or server. */
struct tls *tls_of_key(struct net_key *key);
bool tls_begin(struct connection *connection);
void tls_end(struct connection *connection, bool orderly);
/* Goes on with the handshake. returns 1: it is over; TRANSPORT_WAITS, TRANSPORT_FAILED */
ssize_t tls_handshake(struct connection *connection);
ssize_t tls_receive(struct connection *connection, char *to, size_t size);
ssize_t tls_send(struct connection *connection, const struct iovec *parts, size_t count);

/* ---- input.c ---- */

/* Keeps what is left, until the next turn, in memory of the connection's own. */
void input_keep(struct input *input);
void input_free(struct input *input);

/* ---- linger.c ---- */

/* Closes our side alone, where the client may still be sending. returns false: there is no room for
 * that, or no time; close it. Worker. */
bool linger_begin(struct connection *connection);
/* returns TURN_ENDS when the client has closed, or has sent all that is read. */
enum turn linger_step(struct connection *connection);
/* Before the socket is closed, whether it lingered or not. */
void linger_end(struct connection *connection);

/* ---- listener.c ---- */

/* A listening socket. returns the descriptor, or -1 and *ret_problem. Main thread. */
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem);

#endif
