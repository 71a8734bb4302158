/* Inside of the http room: how a server, its connections and its exchanges hang together.
 *
 *   http_server --- list of connections (under lock) --- one exchange at a time on each
 *
 * Threads. "Worker": the thread of libmicrohttpd that owns the connection; everything of an
 * exchange happens on it, but for exchange_resume(). The sweeper (limits.c) sees connections only
 * through the list and through the atomic fields of their progress.
 *
 * Invariants:
 * (1) An exchange begins when its request line has been read (exchange_begin) and ends in
 *     exchange_over, once. The application's done() is called there if head() ever was.
 * (2) A connection is in the list from its accept until just before its socket is closed, so the
 *     socket of a listed connection may be shut down under the lock.
 * (3) While an exchange is paused (suspended in MHD) the application is not called for it. */
#ifndef LAGRA_HTTP_PRIVATE_H
#define LAGRA_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "http/http.h"

/* ---- connections and their limits (limits.c) ---- */

/* What a connection owes us, so what it can be late with. */
enum phase {
    PHASE_HEAD, /* a complete head: since its start, or since the last exchange */
    PHASE_BODY, /* body bytes */
    PHASE_OURS, /* nothing: we work, wait or answer */
};

#define PEER_TEXT_MAX 64 /* "[ipv6%scope]:port" */

struct connection {
    unsigned magic;
    struct http_server *server;
    struct worker *worker;
    struct connection *next; /* under server->lock */
    struct connection *previous;
    int fd;
    char peer[PEER_TEXT_MAX];
    bool peer_is_loopback;
    /* Written by the worker, read by the sweeper; milliseconds of the monotonic clock. */
    _Atomic int phase;
    _Atomic uint64_t since_ms;   /* the phase began; a body: without the time we paused it */
    _Atomic uint64_t last_ms;    /* body: the last byte came */
    _Atomic uint64_t body_bytes; /* body: so far */
    uint64_t paused_ms;          /* worker or who resumes: body paused since, 0: not */
};

#define WORKER_SPARES 16 /* arenas */

/* One of MHD's threads. Its own fields are touched by that thread only. */
struct worker {
    _Alignas(64) pthread_t thread; /* under server->lock */
    bool known;                    /* under server->lock: thread is set */
    unsigned spare_count;
    struct arena *spares[WORKER_SPARES]; /* see exchange_begin() */
};

struct http_server {
    struct MHD_Daemon *daemon;
    const struct http_application *application;
    struct http_limits limits;
    void *tag;
    bool secure;
    uint16_t port;
    struct lock lock;               /* RANK_CONNECTIONS */
    pthread_cond_t changed;         /* a connection left the list; stopping */
    struct connection *connections; /* under lock */
    bool sweeper_ends;              /* under lock */
    _Atomic unsigned connection_count;
    _Atomic unsigned resumers; /* threads inside exchange_resume() */
    _Atomic bool stopping;     /* answers say "Connection: close" */
    pthread_t sweeper;
    unsigned worker_count;
    struct worker *workers;
};

/* At accept, and before the socket is closed. Worker. */
struct connection *connection_add(struct http_server *server, struct MHD_Connection *mhd);
void connection_remove(struct connection *connection);
/* Marks of progress. Worker; connection_resumes_body() also who resumes the exchange. */
void connection_awaits_head(struct connection *connection);
void connection_awaits_body(struct connection *connection);
void connection_resumes_body(struct connection *connection);
void connection_got_body(struct connection *connection, size_t bytes);
void connection_pauses(struct connection *connection);
void connection_is_ours(struct connection *connection);
/* Main thread: the sweeper; and cutting for http_stop(). */
bool sweeper_start(struct http_server *server);
void sweeper_stop(struct http_server *server);
/* Shuts down the sockets of idle connections, or of all; MHD then closes them. */
enum cut_which { CUT_IDLE, CUT_ALL };
void connections_cut(struct http_server *server, enum cut_which which);
/* Waits until no connection is left, at most timeout_ms. Returns whether none is. */
bool connections_wait_none(struct http_server *server, int timeout_ms);

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

struct live {
    struct exchange exchange; /* first: an exchange of ours is always inside a live one */
    struct connection *connection;
    struct MHD_Connection *mhd;
    struct arena_mark fresh; /* the arena when the exchange began */
    struct bytes target;     /* raw, as in the request line */
    const char *target_end;  /* of the original, in MHD's buffer */
    enum stage stage;
    uint64_t discarded;     /* body bytes thrown away */
    bool known;             /* head() was called: done() is due */
    bool expects;           /* Expect: 100-continue, and a body */
    bool closes;            /* the answer says Connection: close */
    _Atomic bool suspended; /* exchange_suspend() was called, exchange_resume() not yet */
};

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
/* An answer of ours, without body, closing the connection. Worker. */
enum MHD_Result response_refuse(struct live *live, int status);

/* ---- listener.c ---- */

/* A listening socket. returns the descriptor, or -1 and *ret_problem. Main thread. */
int listener_open(const char *host, uint16_t port, uint16_t *ret_port, bool *ret_ipv6,
                  const char **ret_problem);

#endif
