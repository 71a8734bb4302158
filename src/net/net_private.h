/* Internal to net/: a server and its connections.
 *
 *   net_server --- connections, admitted by its acceptor
 *              --- workers: each a thread with one epoll set
 *
 * Threads. "Acceptor": one thread per server, which accepts connections, chooses their workers, and
 * closes connections that are late. "Worker": the thread that serves the connection and calls the
 * protocol's functions. The acceptor accesses a connection only through the lists (under the lock)
 * and through the atomic fields of its progress.
 *
 * Private invariants:
 *  (1) The worker calls a protocol's begin() and end() once for each connection. It calls neither
 *      for a connection that ended before its PROXY header was received.
 *  (2) A connection is listed from its accept until just before its socket is closed, so the socket
 *      of a listed connection may be shut down under the lock. */
#ifndef LAGRA_NET_PRIVATE_H
#define LAGRA_NET_PRIVATE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/lock.h"
#include "net/connection.h"
#include "net/lanes.h"

struct sockaddr;

/* Returns the number of connections allowed beyond the limit. It applies separately to those being
 * refused and to those shut down but not yet closed. */
static inline unsigned overflow_connections(const struct net_limits *limits)
{
    return limits->connections_max < 512 ? 1 + limits->connections_max / 8 : 64;
}

struct connection_list {
    struct connection *first; /* oldest */
    struct connection *last;
};

/* A thread, its epoll set, and its buffers for the connection in its turn. */
struct worker {
    /* new or posted connections, newest first; written by any thread */
    _Alignas(64) _Atomic(struct connection *) posted;
    _Atomic unsigned posters; /* threads inside worker_post() */
    _Atomic bool ends;        /* set once there are no more connections */
    _Alignas(64) struct net_server *server;
    pthread_t thread;
    int set;  /* epoll set */
    int wake; /* eventfd, watched edge-triggered and therefore never read */
    /* number of connections assigned to this worker; protected by server->lock */
    unsigned connections;
    /* Used only by the worker's thread. */
    struct lanes lanes; /* ready connections */
    char *input;        /* CONNECTION_INPUT_BYTES */
    char *block;        /* CONNECTION_BLOCK_BYTES */
    char *tls_input;    /* CONNECTION_INPUT_BYTES, for tls_receive(); NULL before its first call */
    void *state;        /* owned by the protocol */
    struct net_tick *ticks;
    uint64_t ticked_ms; /* when they were last run, or the first one was started */
};

#define ADDRESS_BUCKETS 1024u

struct net_server {
    const struct net_protocol *protocol;
    void *context; /* passed to the protocol */
    struct net_limits limits;
    const struct net_proxies *proxies; /* or NULL */
    bool is_local; /* serves only processes of this user; constant, like the next member */
    bool is_tls;
    struct net_key *key; /* key of peers, which forward requests for clients; or NULL */
    struct tls *tls;     /* for new connections; protected by the lock */
    uint16_t port;
    unsigned worker_count;
    struct worker *workers;
    struct lock lock; /* RANK_CONNECTIONS */
    /* signalled when the last connection is removed or the acceptor must end */
    pthread_cond_t changed;
    /* Protected by the lock. */
    struct connection_list untrusted; /* not authenticated yet */
    struct connection_list trusted;
    /* buckets by address; used only with a limit per address */
    struct connection *addresses[ADDRESS_BUCKETS];
    unsigned connection_count; /* listed connections: admitted, being closed for others, refused */
    unsigned evicted_count;
    unsigned refused_count;
    unsigned outgoing_count; /* number of listed outgoing connections */
    bool acceptor_ends;
    bool acceptor_waits; /* waits for a free slot, see connections_may_grow() */
    pthread_t acceptor;
    int listener; /* -1 if closed; changed by the acceptor, under the lock */
    /* Used by the acceptor, except for the atomic fields. */
    int wake;                   /* eventfd, see acceptor_wake() */
    unsigned next_worker;       /* start of the search for the least loaded worker */
    _Atomic unsigned lingering; /* number of connections that wait for their clients to close */
    _Atomic bool stopping;      /* accept no new connections and requests */
};

/* ---- connections (connections.c) ---- */

/* Returns true if a connection may be accepted now. Acceptor. */
bool connections_may_grow(struct net_server *server);
/* Reserves a slot and a worker for an accepted socket and lists the connection, possibly only to
 * refuse it. Returns NULL if there is no slot even for a refusal; the caller then still owns the
 * socket. Acceptor. */
struct connection *connection_admit(struct net_server *server, int fd,
                                    const struct sockaddr *address);
/* Lists an outgoing connection. Returns false if there are too many. Worker. */
bool connection_list_outgoing(struct connection *connection);
struct proxy_header;
/* Assigns the connection to the client that the header names, if any, and marks it as refused if
 * that client's address has too many connections. Returns false if there is no slot even for a
 * refusal. Worker. */
bool connection_introduce(struct connection *connection, const struct proxy_header *header);
/* Frees a slot by closing an idle connection, if there is one. Acceptor. */
bool connections_make_room(struct net_server *server);
/* Moves the connection to another worker. Worker. */
void connection_change_worker(struct connection *connection, struct worker *to);
/* Removes the connection from the lists and frees it, just before the socket is closed. Worker. */
void connection_remove(struct connection *connection);

/* ---- closing connections (cut.c) ---- */

/* Shuts down the sockets of connections that have missed a deadline; their workers then close them.
 * Acceptor. */
void connections_sweep(struct net_server *server);
/* Shuts down the sockets of idle connections, or of all connections. */
void connections_cut(struct net_server *server, enum cut_which which);

/* ---- number of connections (connections.c) ---- */

/* Waits up to timeout_ms until there are no connections. Returns false if there still are. */
bool connections_wait_none(struct net_server *server, int timeout_ms);
unsigned connections_count(struct net_server *server);

/* ---- progress and lateness (limits.c) ---- */

/* Starts the phase after the last response; bytes that arrive then are counted like body bytes.
 * Worker. */
void connection_awaits_close(struct connection *connection);
/* Starts the phase in which an outgoing connection waits to be accepted. Worker. */
void connection_awaits_peer(struct connection *connection);
/* Claims an idle connection like connection_claim(), but to close it. Thread-safe; caller holds
 * server->lock. */
bool connection_claim_to_close(struct connection *connection);
/* Returns why the connection must be closed now, or NULL. Caller holds server->lock. Acceptor. */
const char *connection_timeout_reason(struct connection *connection, uint64_t now_ms);

/* ---- the acceptor (acceptor.c) ---- */

/* Starts the thread. Returns NULL, or a message for the operator. Main thread. */
const char *acceptor_start(struct net_server *server);
/* Stops accepting connections. When it returns, the port is free. Main thread. */
void acceptor_accept_no_more(struct net_server *server);
/* Ends and joins the thread. There must be no connections. Main thread. */
void acceptor_stop(struct net_server *server);

/* ---- workers (worker.c) ---- */

/* Starts to serve a connection that the worker has opened itself; it gets a turn when its socket is
 * ready. Returns false after closing the connection on failure. Worker. */
bool worker_adopt(struct worker *worker, struct connection *connection);
/* Starts the thread. Returns NULL, or a message for the operator. Main thread. */
const char *worker_start(struct worker *worker, struct net_server *server);
/* Ends and joins the thread, if it was started. There must be no connections. Main thread. */
void worker_stop(struct worker *worker);
/* Returns the time in milliseconds until ticks are due, -1 if there are none (ticks.c). */
int worker_tick_wait(const struct worker *worker);
/* Runs the ticks if they are due. */
void worker_run_ticks(struct worker *worker);

/* ---- connections to other servers (outgoing.c) ---- */

/* Returns a non-blocking socket that is connecting to the peer, or -1 on failure. Thread-safe. */
int outgoing_connect(const struct net_peer *peer);

/* ---- names and waking of threads (wake.c) ---- */

/* Sets the name of the calling thread, from the protocol's name and the thread's role. */
void thread_is(const struct net_server *server, const char *role);
/* Wakes the acceptor, which then checks whether to stop accepting or to end, and for a free slot.
 * Thread-safe. */
void acceptor_wake(struct net_server *server);
/* Wakes the worker. Thread-safe. */
void worker_wake(struct worker *worker);
/* Schedules a turn for a connection that is new or was posted. Thread-safe. */
void worker_post(struct worker *worker, struct connection *connection);
/* Marks the calling thread as the worker's. The worker finds its own posts without being woken. */
void worker_is_current(const struct worker *worker);
/* Returns the connections posted since the last call, in order, linked by next_posted; NULL if
 * there are none. Worker. */
struct connection *worker_take_posted(struct worker *worker);
/* Waits until no thread is inside worker_post(). There must be no connection left that could be
 * posted. Main thread. */
void worker_await_posters(struct worker *worker);

/* ---- start and end of a transport (transport.c), TLS (tls.c) ---- */

/* Called once, when the connection's turns start. Returns false if it cannot be served. Worker. */
bool transport_begin(struct connection *connection);
/* Receives the PROXY header at the start of the connection. Returns 1 if *ret_header is set, and
 * leaves the bytes that follow it unread; otherwise TRANSPORT_WAITS or TRANSPORT_FAILED. Worker. */
ssize_t transport_receive_header(struct connection *connection, struct proxy_header *ret_header);
/* Ends the transport before the socket is closed, or half-closes it. Worker. */
enum transport_end {
    TRANSPORT_CUT,
    /* the client must receive everything that was sent, and the end of the stream */
    TRANSPORT_ORDERLY,
    /* like TRANSPORT_ORDERLY, but bytes can still be received from the socket */
    TRANSPORT_HALF_CLOSED,
};
void transport_end(struct connection *connection, enum transport_end how);

struct tls;
/* Loads and checks a certificate and key. Returns NULL and *ret_problem, a message for the
 * operator, on failure. */
struct tls *tls_new(const char *cert_pem, const char *key_pem, const char **ret_problem);
/* Drops a reference; the last one frees the credentials. Does nothing for NULL. */
void tls_give(struct tls *tls);
/* Returns the current credentials of a shared key, with a new reference. */
struct tls *tls_of_key(struct net_key *key);
/* Returns true if these are the current credentials. Thread-safe. */
bool tls_is_newest(const struct tls *tls, struct net_key *key);
bool tls_begin(struct connection *connection);
void tls_end(struct connection *connection, bool orderly);
/* Continues the handshake. Returns 1 when it has completed; otherwise TRANSPORT_WAITS or
 * TRANSPORT_FAILED. */
ssize_t tls_handshake(struct connection *connection);
ssize_t tls_receive(struct connection *connection, char *to, size_t size);
ssize_t tls_send(struct connection *connection, const struct iovec *parts, size_t count);

/* ---- input.c ---- */

/* Moves the remaining bytes to the connection's own memory until the next turn. */
void input_keep(struct input *input);
void input_free(struct input *input);

/* ---- cut.c ---- */

/* Closes only the server's side of a connection whose client may still be sending. Returns false if
 * that is not possible (too many such connections, or the server is stopping); close the connection
 * then. Worker. */
bool linger_begin(struct connection *connection);
/* Discards received bytes. Returns TURN_ENDS when the client has closed, or the limit is
 * reached. */
enum turn linger_step(struct connection *connection);
/* Called before the socket is closed, even if the connection did not linger. */
void linger_end(struct connection *connection);

/* ---- listener.c ---- */

/* Opens a listening socket. Returns its descriptor, or -1 and *ret_problem. Main thread. */
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem);

#endif
