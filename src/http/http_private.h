/* Inside of the http room: how a server, its connections and its exchanges hang together.
 *
 *   http_server --- a server of connections (net/net.h) --- one exchange at a time on each
 *
 * Everything of an exchange happens on the worker of its connection, except exchange_resume().
 *
 * Invariants:
 * (1) An exchange begins when its head is complete or refused (exchange_begin) and ends in
 *     exchange_over, once. The application's done() is called there if head() ever was.
 * (2) While an exchange is paused its worker leaves the connection alone: the application is not
 *     called, nothing is read or sent, and it is not closed. */
#ifndef LAGRA_HTTP_PRIVATE_H
#define LAGRA_HTTP_PRIVATE_H

#include "http/answer_head.h"
#include "http/chunks.h"
#include "http/head.h"
#include "net/connection.h"

/* ---- servers, connections (server.c, turns.c) ---- */

struct http_server {
    struct net_server *net;
    const struct http_application *application;
    struct http_limits limits;
    void *tag;
    _Atomic unsigned answer_files; /* answers for which exchange_take_file() said yes */
};

#define WORKER_SPARES 16 /* arenas */

/* What a worker keeps for all its connections. */
struct http_worker {
    const struct http_application *application; /* NULL: it had no connection yet */
    char *head;                                 /* ANSWER_HEAD_BYTES: of an answer */
    struct date_text date;
    unsigned spare_count;
    struct arena *spares[WORKER_SPARES]; /* see exchange_begin() */
};

struct http_connection {
    struct connection net; /* first: a connection of ours is always inside such a one */
    struct http_server *server;
    struct http_worker *worker;
    struct live *live;     /* NULL: between two exchanges */
    struct head_scan scan; /* of the head at the begin of the input */
    bool is_paused;        /* private invariant 2; until the worker hears of the resume */
    size_t introduction;   /* size of the one at the start of the input, 0 if it was not read yet */
};

/* What net/ calls. */
extern const struct net_protocol http_protocol;

/* ---- exchanges (exchange.c) ---- */

/* head -> (body)* -> end -> answer; every arrow may be a wait. */
enum stage {
    STAGE_HEAD,    /* head() is next, or again */
    STAGE_BODY,    /* the application wants the body */
    STAGE_DISCARD, /* answer is ready; the rest of the body is thrown away first */
    STAGE_END,     /* end() is next, or again */
    STAGE_ANSWER,  /* the answer goes out */
};

struct live {
    struct exchange exchange; /* first: an exchange of ours is always inside a live one */
    struct http_connection *connection;
    struct arena_mark fresh;     /* the arena when the exchange began */
    struct memory_holder holder; /* of `charged` */
    size_t charged;              /* unread input, to the memory budget */
    enum stage stage;
    bool known;         /* head() was called: done() is due */
    bool expects;       /* Expect: 100-continue, and a body */
    bool is_announced;  /* http_introduction.expects */
    bool has_file;      /* counts as one of server->answer_files */
    bool closes;        /* the connection closes after the answer */
    bool is_cut_behind; /* the same, and the answer does not say so */
    bool is_early;      /* exchange_end_body() */
    enum http_step early_step;
    bool unread;          /* the client may be sending meanwhile: it closes by and by */
    bool is_sent;         /* all of the answer has gone out */
    bool keeps_1_0;       /* an HTTP/1.0 client asked for the connection to be kept */
    uint64_t body_left;   /* of a body with a length: not taken yet */
    struct chunks chunks; /* of one without */
    uint64_t discarded;   /* body bytes thrown away */
    struct bytes unsent;  /* of a head, 100 or the answer's: the socket did not take it */
    uint64_t sent;        /* of the answer's body */
    size_t head_bytes;    /* of the answer */
    char *block; /* of a source: bytes that it gave and the socket did not take; else NULL */
    size_t block_at, block_size;
    _Atomic bool suspended; /* exchange_suspend() was called, exchange_resume() not yet */
};

/* The next step of a connection, whatever it is. Worker. */
enum turn exchange_step(struct http_connection *connection);

/* Whose functions are called for it: the server's application, or whom that has passed it on to. */
static inline const struct http_application *live_application(const struct live *live)
{
    const struct http_application *other = live->exchange.passed_to;

    return other ? other : live->connection->server->application;
}

/* ---- while it lasts (live.c) ---- */

/* Begins the exchange of a connection that has none. Worker. */
struct live *exchange_begin(struct http_connection *connection);
/* Where a trusted proxy sent the request: takes from its headers who asks, and how. returns 0, or the status of a
 * refusal. Worker. */
int live_read_forwarded(struct live *live);
/* Takes whose the request is from the introduction. Returns 0 or the status of a refusal. Worker. */
int live_read_introduction(struct live *live);
/* Ends the exchange, if there is one. Worker. */
void exchange_over(struct http_connection *connection);
/* Charges the input that the application has not read to the memory budget. Returns false if the budget covers neither
 * that nor what the exchange's arena holds. Worker. */
bool live_charge(struct live *live);
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

/* ---- response.c ---- */

/* Copies the headers, and all that they point to, into another arena. Worker. */
void response_copy_headers(struct response *response, struct arena *to);

#endif
