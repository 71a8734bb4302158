/* Internal to http/: the structures of a server, its connections and its exchanges.
 *
 *   http_server --- a server of connections (net/net.h) --- one exchange at a time on each
 *
 * Everything in an exchange happens on the worker of its connection, except exchange_resume().
 *
 * Invariants:
 * (1) An exchange starts when its header section is complete or refused (exchange_begin) and ends
 *     in exchange_over, once. The application's done() is called there if head() ever was.
 * (2) While an exchange is paused its worker does not touch the connection: the application is not
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
    _Atomic unsigned answer_files; /* responses for which exchange_take_file() returned true */
};

#define WORKER_SPARES 16 /* arenas */

/* State of a worker, shared by all its connections. */
struct http_worker {
    const struct http_application *application; /* NULL before its first connection */
    char *head;                                 /* ANSWER_HEAD_BYTES, for a response header */
    struct date_text date;
    unsigned spare_count;
    struct arena *spares[WORKER_SPARES]; /* see exchange_begin() */
};

struct http_connection {
    struct connection net; /* must be first: the connection of net/ */
    struct http_server *server;
    struct http_worker *worker;
    struct live *live;     /* NULL between two exchanges */
    struct head_scan scan; /* of the header section at the start of the input */
    bool is_paused;        /* private invariant 2; until the worker learns of the resume */
    /* size of the introduction at the start of the input, 0 if not read yet */
    size_t introduction;
};

/* Callbacks for net/. */
extern const struct net_protocol http_protocol;

/* ---- exchanges (exchange.c) ---- */

/* head -> (body)* -> end -> response; every step may wait. */
enum stage {
    STAGE_HEAD,    /* head() is next, or must be repeated */
    STAGE_BODY,    /* the application reads the body */
    STAGE_DISCARD, /* response is ready; the rest of the body is discarded first */
    STAGE_END,     /* end() is next, or must be repeated */
    STAGE_ANSWER,  /* the response is being sent */
    STAGE_RECEIPT, /* the other server passes on the body that the response describes */
};

struct live {
    struct exchange exchange; /* must be first: the public part */
    struct http_connection *connection;
    struct arena_mark fresh;     /* the arena at the start of the exchange */
    struct memory_holder holder; /* that `charged` is charged to */
    size_t charged;              /* unread input charged to the memory budget */
    enum stage stage;
    bool known;         /* head() was called, so done() must be */
    bool expects;       /* Expect: 100-continue, and a body */
    bool is_announced;  /* http_introduction.expects */
    bool has_file;      /* counted in server->answer_files */
    bool closes;        /* close the connection after the response */
    bool is_cut_behind; /* like `closes`, but without Connection: close */
    bool is_early;      /* exchange_end_body() */
    enum http_step early_step;
    bool unread;          /* the client may still be sending: close lingeringly */
    bool is_sent;         /* the entire response was sent */
    bool keeps_1_0;       /* an HTTP/1.0 client requested keep-alive */
    uint64_t body_left;   /* of a body with a length: bytes not consumed yet */
    struct chunks chunks; /* of a chunked body */
    uint64_t discarded;   /* body bytes discarded */
    struct bytes unsent;  /* of a header section, for 100 or the response: bytes not sent yet */
    uint64_t sent;        /* bytes of the response body */
    uint64_t passed_on;   /* bytes of the described body, according to receipts */
    size_t head_bytes;    /* of the response */
    char *block;          /* BODY_SOURCE: bytes read but not sent yet; else NULL */
    size_t block_at, block_size;
    _Atomic bool suspended; /* between exchange_suspend() and exchange_resume() */
};

/* Runs the next step of a connection, whatever it is. Called on its worker. */
enum turn exchange_step(struct http_connection *connection);

/* Returns the application whose functions are called: the server's, or the one it delegated to. */
static inline const struct http_application *live_application(const struct live *live)
{
    const struct http_application *other = live->exchange.passed_to;

    return other ? other : live->connection->server->application;
}

/* ---- lifetime (live.c) ---- */

/* Starts the exchange of a connection that has none. Called on its worker. */
struct live *exchange_begin(struct http_connection *connection);
/* Reads the client and protocol from the headers of a trusted proxy. Returns 0, or the status of a
 * refusal. Called on its worker. */
int live_read_forwarded(struct live *live);
/* Reads the client from the introduction. Returns 0, or the status of a refusal. Called on its
 * worker. */
int live_read_introduction(struct live *live);
/* Ends the exchange, if there is one. Called on its worker. */
void exchange_over(struct http_connection *connection);
/* Charges input that the application has not read to the memory budget. Returns false if the budget
 * covers neither that nor the memory of the exchange's arena. Called on its worker. */
bool live_charge(struct live *live);
/* Asserts the invariants of an exchange and its connection. Called on its worker. */
void assert_live(const struct live *live);

/* ---- answer.c ---- */

/* Starts sending exchange->response. Returns TURN_SENT once all of it is sent. Called on its
 * worker. */
enum turn answer_begin(struct live *live);
/* Continues sending. */
enum turn answer_step(struct live *live);
/* Sends a response of the server's own, without body, and closes the connection. */
enum turn answer_refuse(struct live *live, int status);
/* Sends the rest of a header section (live->unsent). Returns TURN_GOES_ON when all of it is
 * sent. */
enum turn answer_flush(struct live *live);
/* Sends "100 Continue". */
enum turn answer_continue(struct live *live);
/* Releases the response's resources after the end of the exchange. */
void answer_over(struct live *live);

/* ---- response_head.c ---- */

/* Copies the headers, with everything they point to, into another arena. Called on its worker. */
void response_copy_headers(struct response *response, struct arena *to);

#endif
