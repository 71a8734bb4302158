/* Inside of the http room: how a server, its connections and its exchanges hang together.
 *
 *   http_server --- connections, admitted by its acceptor --- one exchange at a time on each
 *               --- workers: each a thread with one epoll set
 *
 * Threads. "Acceptor": one thread a server; it accepts, chooses the worker of each connection, and
 * cuts connections that are late. "Worker": the thread that serves the connection; everything of an
 * exchange happens on it, except exchange_resume(). The acceptor sees a connection only through the
 * lists (under lock) and through the atomic fields of its progress.
 *
 * Invariants:
 * (1) An exchange begins when its head is complete or refused (exchange_begin) and ends in
 *     exchange_over, once. The application's done() is called there if head() ever was.
 * (2) A connection is listed from its accept until just before its socket is closed, so the socket
 *     of a listed connection may be shut down under the lock.
 * (3) While an exchange is paused its worker leaves the connection alone: the application is not
 *     called, nothing is read or sent, and it is not closed. */
#ifndef LAGRA_HTTP_PRIVATE_H
#define LAGRA_HTTP_PRIVATE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/lock.h"
#include "http/answer_head.h"
#include "http/chunks.h"
#include "http/head.h"

struct sockaddr;
struct iovec;
struct gnutls_session_int; /* a gnutls_session_t points to it */

/* ---- what was received and not used yet (input.c) ---- */

/* A run of a buffer: the worker's while its connection has its turn, else the connection's own, which
 * is there only while there is something to keep. */
struct input {
    char *buffer; /* NULL: none */
    size_t from, to, capacity;
    bool is_borrowed;
};

/* ---- connections (connections.c) ---- */

/* What a connection owes us, so what it can be late with. */
enum phase {
    PHASE_HEAD,   /* a complete head: since its start, or since the last exchange */
    PHASE_BODY,   /* body bytes */
    PHASE_OURS,   /* nothing: we work or wait */
    PHASE_ANSWER, /* to take its answer */
    PHASE_CLOSE,  /* to close: it has its last answer (linger.c) */
};

#define PEER_TEXT_MAX 64 /* "[ipv6%scope]:port" */

struct connection {
    unsigned magic;
    struct http_server *server;
    struct worker *worker;
    int fd;
    char peer[PEER_TEXT_MAX];
    uint8_t address[16]; /* of the peer; IPv4 as mapped into IPv6 */
    bool peer_is_loopback;
    bool refused;         /* admitted only to be answered 503; constant once listed */
    uint64_t accepted_ms; /* constant */
    /* Under server->lock. */
    struct connection *next; /* of all that are as trusted, in the order of their accept */
    struct connection *previous;
    struct connection *next_of_address; /* in a bucket of server->addresses */
    bool trusted;                       /* read by the worker without the lock: it alone sets it */
    bool is_evicted;                    /* its socket was shut down to make room */
    /* Written by the worker, read by the acceptor; milliseconds of the monotonic clock. */
    _Atomic int phase;
    _Atomic uint64_t since_ms;   /* the phase began; a body: without the time we paused it */
    _Atomic uint64_t last_ms;    /* body: the last byte came */
    _Atomic uint64_t body_bytes; /* body: so far */
    _Atomic bool answer_begins;  /* set by the worker, cleared by the acceptor */
    /* The acceptor's, of an answer: what the client's machine had acknowledged, and when. */
    uint64_t acked_bytes;
    uint64_t acked_ms;
    uint64_t window_bytes; /* at the begin of the current stretch of answer_rate_s */
    uint64_t window_ms;
    uint64_t paused_ms; /* worker or who resumes: body paused since, 0: not */
    /* The worker's. */
    struct connection *next_posted; /* in worker->posted: written by the thread that posts it */
    struct connection *next_ready;  /* in the worker's list of those that have a turn */
    struct live *live;              /* NULL: between two exchanges */
    struct gnutls_session_int *tls; /* NULL: plain */
    struct input input;
    struct head_scan scan; /* of the head at the begin of the input */
    bool begun;            /* in the epoll set */
    bool is_ready;         /* in the list of those that have a turn */
    bool is_paused;        /* private invariant 3; until the worker hears of the resume */
    bool may_linger;       /* its last answer is sent, and the client may still be sending */
    bool lingers;          /* linger.c; counts as one of server->lingering */
    /* What can be done with the socket, by epoll and the last calls. */
    bool readable;
    bool writable;
    bool ended;          /* by the client's side, or by us: reading will come to an end */
    bool tls_is_up;      /* the handshake is over */
    bool tls_has_unsent; /* GnuTLS has a record that the socket did not take */
};

/* Connections beyond the limit, in each way: to be refused, and shut down but not yet closed. */
static inline unsigned overflow_connections(const struct http_limits *limits)
{
    return limits->connections_max < 512 ? 1 + limits->connections_max / 8 : 64;
}

struct connection_list {
    struct connection *first; /* the oldest */
    struct connection *last;
};

#define WORKER_SPARES      16 /* arenas */
/* What is received at once, and what a body's source is asked for at once. Measured over loopback
 * with long bodies: 32 KiB cost a tenth more CPU, and more than this gains less than it holds. */
#define WORKER_INPUT_BYTES ((size_t)128 * 1024)
#define WORKER_BLOCK_BYTES ((size_t)128 * 1024)

/* A thread, its epoll set, and what it needs for the connection that has its turn. */
struct worker {
    /* From any thread: connections that are new, or whose exchange was resumed, the last first. */
    _Alignas(64) _Atomic(struct connection *) posted;
    _Atomic unsigned posters; /* threads inside worker_post() */
    _Atomic bool ends;        /* set when there are no connections any more */
    _Alignas(64) struct http_server *server;
    pthread_t thread;
    int set;              /* epoll */
    int wake;             /* an eventfd, watched by its edges, so never read */
    unsigned connections; /* under server->lock: handed to it */
    /* Touched by its thread only. */
    struct connection *first_ready;
    struct connection *last_ready;
    char *input; /* WORKER_INPUT_BYTES */
    char *block; /* WORKER_BLOCK_BYTES: a part of a body on its way out */
    char *head;  /* ANSWER_HEAD_BYTES: of an answer */
    struct date_text date;
    unsigned spare_count;
    struct arena *spares[WORKER_SPARES]; /* see exchange_begin() */
};

#define ADDRESS_BUCKETS 1024u

struct http_server {
    const struct http_application *application;
    struct http_limits limits;
    void *tag;
    struct tls *tls; /* NULL: plain HTTP */
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
    bool acceptor_ends;
    bool acceptor_waits; /* for room: until connections_may_grow() */
    pthread_t acceptor;
    int listener; /* -1: closed; changed by the acceptor, under lock */
    /* The acceptor's. */
    int wake;                      /* an eventfd, see acceptor_wake() */
    unsigned next_worker;          /* where the search for the least loaded begins */
    _Atomic unsigned answer_files; /* answers for which exchange_take_file() said yes */
    _Atomic unsigned lingering;    /* connections that wait for their clients to close */
    _Atomic bool stopping;         /* accept no more; answers say "Connection: close" */
};

/* Whether a connection may be accepted now. Acceptor. */
bool connections_may_grow(struct http_server *server);
/* Finds room and a worker for an accepted socket and lists it, perhaps only to be refused.
 *
 * returns  NULL if there is no room even for a refusal: the socket is still the caller's
 * Acceptor. */
struct connection *connection_admit(struct http_server *server, int fd,
                                    const struct sockaddr *address);
/* Makes room by cutting an idle connection, if there is one. Acceptor. */
bool connections_make_room(struct http_server *server);
/* Just before the socket is closed; frees it. Worker. */
void connection_remove(struct connection *connection);
/* Somebody has been authenticated on it: it is closed for a new one only after all others.
 * Worker. */
void connection_trust(struct connection *connection);
/* Shuts down the sockets of connections that are late; their workers then close them. Acceptor. */
void connections_sweep(struct http_server *server);
/* Shuts down the sockets of idle connections, or of all. */
enum cut_which { CUT_IDLE, CUT_ALL };
void connections_cut(struct http_server *server, enum cut_which which);
/* Waits until no connection is left, at most timeout_ms. Returns whether none is. */
bool connections_wait_none(struct http_server *server, int timeout_ms);
unsigned connections_count(struct http_server *server);

/* ---- progress and lateness (limits.c) ---- */

uint64_t monotonic_ms(void);
/* Marks of progress. Worker; connection_resumes_body() also who resumes the exchange. */
void connection_awaits_head(struct connection *connection);
void connection_awaits_body(struct connection *connection);
void connection_resumes_body(struct connection *connection);
void connection_got_body(struct connection *connection, size_t bytes);
void connection_pauses(struct connection *connection);
void connection_is_ours(struct connection *connection);
/* The socket takes no more of an answer for now. */
void connection_awaits_taking(struct connection *connection);
/* It has its last answer; what still comes is counted as of a body. */
void connection_awaits_close(struct connection *connection);
void connection_got_rest(struct connection *connection, size_t bytes);
/* Why the connection is to be cut now, or NULL. Under server->lock. Acceptor. */
const char *connection_timeout_reason(struct connection *connection, uint64_t now_ms);

/* ---- the acceptor (acceptor.c) ---- */

/* Starts the thread. returns NULL, or words for the operator. Main thread. */
const char *acceptor_start(struct http_server *server);
/* From its return on no connection is accepted, and the port is free. Main thread. */
void acceptor_accept_no_more(struct http_server *server);
/* Ends and joins the thread: no connection may be left. Main thread. */
void acceptor_stop(struct http_server *server);

/* ---- workers (worker.c) ---- */

/* Starts the thread. returns NULL, or words for the operator. Main thread. */
const char *worker_start(struct worker *worker, struct http_server *server);
/* Ends and joins the thread, if it was started: no connection may be left. Main thread. */
void worker_stop(struct worker *worker);

/* ---- waking both (wake.c) ---- */

/* Something that the acceptor waits for may have come: a stop, its end, room. Any thread. */
void acceptor_wake(struct http_server *server);
/* Any thread. */
void worker_wake(struct worker *worker);
/* A new connection, or one whose exchange was resumed: its turn comes. Any thread. */
void worker_post(struct worker *worker, struct connection *connection);
/* This thread is the worker's: what it posts itself it finds without being woken. */
void worker_is_current(const struct worker *worker);
/* Returns what was posted since, in its order, linked by next_posted; NULL: nothing. Worker. */
struct connection *worker_take_posted(struct worker *worker);
/* Returns once nobody is inside worker_post(), with no exchange left that could be resumed. Main
 * thread. */
void worker_await_posters(struct worker *worker);

/* ---- bytes of the socket (transport.c, tls.c) ---- */

/* Beside a count of bytes. */
#define TRANSPORT_WAITS  (-1) /* nothing now: the connection's readable or writable is cleared */
#define TRANSPORT_FAILED (-2)

/* returns  1..size, 0 at the end of the stream, TRANSPORT_WAITS or TRANSPORT_FAILED. Worker. */
ssize_t transport_receive(struct connection *connection, char *to, size_t size);
/* Sends from the parts one after the other. After TRANSPORT_WAITS, and after less than all, the next
 * call is to begin with the first byte that was not sent, whichever way it goes.
 *
 * follows  more comes at once: the kernel need not send a short packet yet
 * returns  1..all of it, TRANSPORT_WAITS or TRANSPORT_FAILED. Worker. */
ssize_t transport_send(struct connection *connection, const struct iovec *parts, size_t count,
                       bool follows);
/* The same with a part of a file; 0: the file is too short. */
ssize_t transport_send_file(struct connection *connection, int fd, uint64_t offset, size_t size);
/* Once, when the connection's turns begin. returns false: it cannot be served. Worker. */
bool transport_begin(struct connection *connection);
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
void tls_free(struct tls *tls);
bool tls_begin(struct connection *connection);
void tls_end(struct connection *connection, bool orderly);
/* Goes on with the handshake. returns 1: it is over; TRANSPORT_WAITS, TRANSPORT_FAILED */
ssize_t tls_handshake(struct connection *connection);
ssize_t tls_receive(struct connection *connection, char *to, size_t size);
ssize_t tls_send(struct connection *connection, const struct iovec *parts, size_t count);

/* ---- input.c ---- */

/* What is there. */
static inline struct bytes input_bytes(const struct input *input)
{
    return bytes_of(input->buffer ? input->buffer + input->from : "", input->to - input->from);
}
/* The first bytes are done with. */
void input_use(struct input *input, size_t size);
/* Receives more behind what is there, at most `most` bytes and what there is room for: there must be
 * some. returns as transport_receive(). */
ssize_t input_receive(struct connection *connection, size_t most);
/* Keeps what is left, until the next turn, in memory of the connection's own. */
void input_keep(struct input *input);
void input_free(struct input *input);

/* ---- exchanges (exchange.c) ---- */

/* head -> (body)* -> end -> answer; every arrow may be a wait. */
enum stage {
    STAGE_HEAD,    /* head() is next, or again */
    STAGE_BODY,    /* the application wants the body */
    STAGE_DISCARD, /* answer is ready; the rest of the body is thrown away first */
    STAGE_END,     /* end() is next, or again */
    STAGE_ANSWER,  /* the answer goes out */
};

/* What a step of a connection came to. */
enum turn {
    TURN_GOES_ON, /* there is more to do */
    TURN_WAITS,   /* for the socket, or for a resume */
    TURN_ENDS,    /* the connection is to be closed */
    TURN_SENT,    /* the answer is sent: inside of exchange_step() only */
};

/* What an exchange may hold without being charged for it. */
#define MEMORY_FREE_BYTES ((size_t)64 * 1024)

struct live {
    struct exchange exchange; /* first: an exchange of ours is always inside a live one */
    struct connection *connection;
    struct arena_mark fresh; /* the arena when the exchange began */
    size_t charged;          /* to the budget of memory */
    enum stage stage;
    bool known;           /* head() was called: done() is due */
    bool expects;         /* Expect: 100-continue, and a body */
    bool has_file;        /* counts as one of server->answer_files */
    bool closes;          /* the connection closes after the answer */
    bool unread;          /* the client may be sending meanwhile: it closes by and by */
    bool keeps_1_0;       /* an HTTP/1.0 client asked for the connection to be kept */
    uint64_t body_left;   /* of a body with a length: not taken yet */
    struct chunks chunks; /* of one without */
    uint64_t discarded;   /* body bytes thrown away */
    struct bytes unsent;  /* of a head, 100 or the answer's: the socket did not take it */
    uint64_t sent;        /* of the answer's body */
    char *block; /* of a source: bytes that it gave and the socket did not take; else NULL */
    size_t block_at, block_size;
    _Atomic bool suspended; /* exchange_suspend() was called, exchange_resume() not yet */
};

/* The next step of a connection, whatever it is. Worker. */
enum turn exchange_step(struct connection *connection);

/* ---- while it lasts (live.c) ---- */

/* Begins the exchange of a connection that has none. Worker. */
struct live *exchange_begin(struct connection *connection);
/* Ends the exchange, if there is one. Worker. */
void exchange_over(struct connection *connection);
/* Charges what the exchange holds to the budget of memory; more: beside what lies in its arena. returns
 * false: there is no room. Worker. */
bool live_charge(struct live *live, size_t more);
/* Asserts how an exchange and its connection belong together. Worker. */
void assert_live(const struct live *live);

/* ---- answer.c ---- */

/* Begins to send exchange->response. returns TURN_SENT once all of it is sent. Worker. */
enum turn answer_begin(struct live *live);
/* Goes on with it. */
enum turn answer_step(struct live *live);
/* An answer of ours, without body, closing the connection. */
enum turn answer_refuse(struct live *live, int status);
/* What is left of a head (live->unsent). returns TURN_GOES_ON when all of it is sent. */
enum turn answer_flush(struct live *live);
/* Sends "100 Continue". */
enum turn answer_continue(struct live *live);
/* Once the exchange is over: gives back what its answer took. */
void answer_over(struct live *live);

/* ---- linger.c ---- */

/* Closes our side alone, where the client may still be sending. returns false: there is no room for
 * that, or no time; close it. Worker. */
bool linger_begin(struct connection *connection);
/* returns TURN_ENDS when the client has closed, or has sent all that is read. */
enum turn linger_step(struct connection *connection);
/* Before the socket is closed, whether it lingered or not. */
void linger_end(struct connection *connection);

/* ---- response.c ---- */

/* Copies the headers, and all that they point to, into another arena. Worker. */
void response_copy_headers(struct response *response, struct arena *to);

/* ---- listener.c ---- */

/* A listening socket. returns the descriptor, or -1 and *ret_problem. Main thread. */
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem);

#endif
