/* Inside of the http room: how a server, its connections and its exchanges hang together.
 *
 *   http_server --- connections, admitted by its acceptor --- one exchange at a time on each
 *               --- workers: each a daemon of libmicrohttpd with one thread and no listening socket
 *
 * Threads. "Acceptor": one thread a server; it accepts, chooses the worker of each connection, and
 * cuts connections that are late. "Worker": the thread of libmicrohttpd that owns the connection;
 * everything of an exchange happens on it, except exchange_resume(). The acceptor sees a connection
 * only through the lists (under lock) and through the atomic fields of its progress.
 *
 * Invariants:
 * (1) An exchange begins when its request line has been read (exchange_begin) and ends in
 *     exchange_over, once. The application's done() is called there if head() ever was.
 * (2) A connection is listed from its accept until just before its socket is closed, so the socket
 *     of a listed connection that its worker has begun may be shut down under the lock.
 * (3) While an exchange is paused (suspended in MHD) the application is not called for it. */
#ifndef LAGRA_HTTP_PRIVATE_H
#define LAGRA_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "http/http.h"

/* ---- connections (connections.c) ---- */

/* What a connection owes us, so what it can be late with. */
enum phase {
    PHASE_HEAD,   /* a complete head: since its start, or since the last exchange */
    PHASE_BODY,   /* body bytes */
    PHASE_OURS,   /* nothing: we work or wait */
    PHASE_ANSWER, /* to take its answer */
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
    bool begun;                         /* by the worker: its socket is open */
    bool trusted;                       /* read by the worker without the lock: it alone sets it */
    bool gives_way;                     /* its socket was shut down to make room */
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
    uint64_t looked_ms; /* the acceptor's: for the peer, in the phase that began then */
    uint64_t paused_ms; /* worker or who resumes: body paused since, 0: not */
};

/* Connections beyond the limit, in each way: to be refused, and shut down but not yet closed. */
static inline unsigned connections_beyond(const struct http_limits *limits)
{
    return limits->connections_max < 512 ? 1 + limits->connections_max / 8 : 64;
}

struct connection_list {
    struct connection *first; /* the oldest */
    struct connection *last;
};

#define WORKER_SPARES 16 /* arenas */

/* A daemon of MHD with its one thread. */
struct worker {
    _Alignas(64) struct MHD_Daemon *daemon;
    unsigned connections; /* under server->lock: handed to it */
    /* Touched by its thread only. */
    unsigned spare_count;
    struct arena *spares[WORKER_SPARES]; /* see exchange_begin() */
};

#define ADDRESS_BUCKETS 1024u

struct http_server {
    const struct http_application *application;
    struct http_limits limits;
    void *tag;
    bool secure;
    uint16_t port;
    unsigned worker_count;
    struct worker *workers;
    struct lock lock;       /* RANK_CONNECTIONS */
    pthread_cond_t changed; /* the last connection left; the acceptor ends */
    /* Under lock. */
    struct connection_list untrusted; /* nobody on it has been authenticated yet */
    struct connection_list trusted;
    struct connection **by_fd; /* the listed connection of each descriptor */
    size_t by_fd_size;
    struct connection *addresses[ADDRESS_BUCKETS]; /* only if the limit for an address is set */
    unsigned connection_count;                     /* listed: admitted, giving way, refused */
    unsigned not_begun_count;
    unsigned giving_way_count;
    unsigned refused_count;
    bool acceptor_ends;
    bool acceptor_waits; /* for room: until connections_may_grow() */
    pthread_t acceptor;
    int listener; /* -1: closed; changed by the acceptor, under lock */
    /* The acceptor's. */
    int wake;                      /* an eventfd, see acceptor_wake() */
    unsigned next_worker;          /* where the search for the least loaded begins */
    uint64_t complained_ms;        /* about a lack of descriptors */
    _Atomic unsigned answer_files; /* answers that have a descriptor of their own */
    _Atomic unsigned resumers;     /* threads inside exchange_resume() */
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
/* The worker has taken the connection over; never NULL. Worker. */
struct connection *connection_begin(struct http_server *server, struct MHD_Connection *mhd);
/* Just before the socket is closed, or after MHD refused to take it. Worker; acceptor. */
void connection_remove(struct connection *connection);
/* Somebody has been authenticated on it: it is closed for a new one only after all others.
 * Worker. */
void connection_trust(struct connection *connection);
/* Shuts down the sockets of connections that are late; MHD then closes them. Acceptor. */
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
void connection_awaits_taking(struct connection *connection);
void connection_goes_on_taking(struct connection *connection);
/* Why the connection is to be cut now, or NULL. Under server->lock. Acceptor. */
const char *connection_lateness(struct connection *connection, uint64_t now_ms);

/* ---- the acceptor (acceptor.c) ---- */

/* Starts the thread. returns NULL, or words for the operator. Main thread. */
const char *acceptor_start(struct http_server *server);
/* From its return on no connection is accepted, and the port is free. Main thread. */
void acceptor_accept_no_more(struct http_server *server);
/* Ends and joins the thread: no connection may be left. Main thread. */
void acceptor_stop(struct http_server *server);
/* Something that the acceptor waits for may have come: a stop, its end, room. Any thread. */
void acceptor_wake(struct http_server *server);

/* ---- exchanges (exchange.c) ---- */

/* head -> (body)* -> end -> answer; every arrow may be a wait. */
enum stage {
    STAGE_BEGUN,   /* request line seen; head not complete */
    STAGE_HEAD,    /* head() is next, or again */
    STAGE_BODY,    /* the application wants the body */
    STAGE_DISCARD, /* answer is ready; the rest of the body is thrown away first */
    STAGE_END,     /* end() is next, or again */
    STAGE_QUEUED,  /* MHD has the answer */
};

/* MHD keeps the request's head, a record for each header, and the head of the answer in the
 * connection's memory. What an answer to a write takes of it at most is kept free. */
#define HEADER_RECORD_BYTES 64u
#define ANSWER_HEAD_ROOM    4096u

/* What an exchange may hold without being charged for it. */
#define MEMORY_FREE_BYTES   ((size_t)64 * 1024)

struct live {
    struct exchange exchange; /* first: an exchange of ours is always inside a live one */
    struct connection *connection;
    struct MHD_Connection *mhd;
    struct arena_mark fresh; /* the arena when the exchange began */
    struct bytes target;     /* raw, as in the request line */
    const char *target_end;  /* of the original, in MHD's buffer */
    size_t head_memory;      /* of the connection's, taken by the request's head */
    size_t charged;          /* to the budget of memory */
    enum stage stage;
    uint64_t discarded; /* body bytes thrown away */
    bool goes_first;    /* has a timeout of its own in MHD: see exchange.c, half-closed clients */
    bool known;         /* head() was called: done() is due */
    bool expects;       /* Expect: 100-continue, and a body */
    bool has_file;      /* counts as one of server->answer_files */
    bool closes;        /* the answer says Connection: close */
    _Atomic bool suspended; /* exchange_suspend() was called, exchange_resume() not yet */
};

/* MHD's own timeout of connections. */
unsigned server_timeout_s(const struct http_limits *limits);

/* Whether the connection is suspended in MHD. Worker. */
bool exchange_is_paused(const struct live *live);

/* MHD's callbacks. Worker. */
void *exchange_begin(void *server, const char *target, struct MHD_Connection *mhd);
enum MHD_Result exchange_step(void *server, struct MHD_Connection *mhd, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **state);
void exchange_over(void *server, struct MHD_Connection *mhd, void **state,
                   enum MHD_RequestTerminationCode how);

/* ---- request.c ---- */

/* Fills live->exchange.request from the parsed head.
 * returns 0, or the status of the refusal: 400, 417, 431, 501, 505. Worker. */
int request_read(struct live *live, const char *method, const char *version);

/* ---- response.c ---- */

/* Hands exchange->response to MHD. Returns what the access handler returns. Worker. */
enum MHD_Result response_send(struct live *live);
/* Once the exchange is over: gives back what its answer took of the server. */
void response_over(struct live *live);
/* Copies the headers, and all that they point to, into another arena. Worker. */
void response_copy_headers(struct response *response, struct arena *to);
/* An answer of ours, without body, closing the connection. Worker. */
enum MHD_Result response_refuse(struct live *live, int status);

/* ---- listener.c ---- */

/* A listening socket. returns the descriptor, or -1 and *ret_problem. Main thread. */
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, const char **ret_problem);

#endif
