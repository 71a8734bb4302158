/* Structures of a server, its connections and its exchanges. Internal to http/.
 *
 *   http_server --- a server of connections (net/net.h) --- one exchange at a time on each
 *
 * Everything in an exchange happens on its connection's worker, except exchange_resume().
 *
 * Invariants:
 * (1) An exchange starts when its header section is complete or refused (exchange_begin) and ends
 *     once, in exchange_over. If head() was called, exchange_over calls done().
 * (2) While an exchange is paused, its worker does not touch the connection: it does not call the
 *     application, read, send or close. */
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
    _Atomic unsigned answer_files; /* responses that hold a slot of exchange_take_file() */
};

#define WORKER_SPARES 16 /* arenas cached for reuse */

/* State of a worker, shared by all its connections. */
struct http_worker {
    const struct http_application *application; /* NULL before the worker's first connection */
    /* buffer of ANSWER_HEAD_BYTES for response headers */
    char *head;
    struct date_text date;
    unsigned spare_count;
    struct arena *spares[WORKER_SPARES]; /* see exchange_begin() */
};

struct http_connection {
    struct connection net; /* must be first */
    struct http_server *server;
    struct http_worker *worker;
    struct live *live;     /* NULL between two exchanges */
    struct head_scan scan; /* scan of the header section at the start of the input */
    bool is_paused;        /* invariant 2; cleared when the worker learns of the resume */
    /* size of the introduction at the start of the input, 0 if not read yet */
    size_t introduction;
};

/* Callbacks for net/. */
extern const struct net_protocol http_protocol;

/* ---- exchanges (exchange.c) ---- */

/* Stages of an exchange, each of which may wait: head, body, end, response */
enum stage {
    STAGE_HEAD,    /* head() is next or must be called again */
    STAGE_BODY,    /* the application reads the body */
    STAGE_DISCARD, /* the response is ready; the rest of the body is discarded first */
    STAGE_END,     /* end() is next or must be called again */
    STAGE_ANSWER,  /* the response is being sent */
    STAGE_RECEIPT, /* the forwarding server sends the body that the response describes */
};

struct live {
    struct exchange exchange; /* must be first: the public part */
    struct http_connection *connection;
    struct arena_mark fresh;     /* mark of the empty arena */
    struct memory_holder holder; /* holder of the memory in `charged` */
    size_t charged;              /* unread input charged to the memory budget */
    enum stage stage;
    bool known;         /* head() was called, so done() must be called */
    bool expects;       /* Expect: 100-continue, and a body */
    bool is_announced;  /* http_introduction.expects */
    bool has_file;      /* counted in server->answer_files */
    bool closes;        /* close the connection after the response */
    bool is_cut_behind; /* close after the response, without sending Connection: close */
    bool is_early;      /* ended by exchange_end_body() */
    enum http_step early_step;
    bool unread;          /* the client may still be sending: close lingeringly */
    bool is_sent;         /* the entire response was sent */
    bool keeps_1_0;       /* an HTTP/1.0 client requested keep-alive */
    uint64_t body_left;   /* body bytes not consumed yet, if the body has a length */
    struct chunks chunks; /* of a chunked body */
    uint64_t discarded;   /* body bytes discarded */
    struct bytes unsent;  /* unsent bytes of the response's header section or of a 100 response */
    uint64_t sent;        /* bytes of the response body */
    uint64_t passed_on;   /* bytes of the described body reported by receipts */
    size_t head_bytes;    /* size of the response's header section */
    char *block;          /* BODY_SOURCE: bytes read but not sent yet; otherwise NULL */
    size_t block_at, block_size;
    _Atomic bool suspended; /* between exchange_suspend() and exchange_resume() */
};

/* Runs the next step of a connection. Called on its worker. */
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
/* Sets the client and protocol from the headers of a trusted proxy. Returns 0, or the status of a
 * refusal. Called on the worker. */
int live_read_forwarded(struct live *live);
/* Sets the client from the introduction. Returns 0, or the status of a refusal. Called on the
 * worker. */
int live_read_introduction(struct live *live);
/* Ends the exchange, if there is one. Called on its worker. */
void exchange_over(struct http_connection *connection);

/* Charges unread input to the memory budget. Returns false if the budget cannot cover it and the
 * exchange's arena. Called on the worker. */
bool live_charge(struct live *live);
/* Asserts the invariants of an exchange and its connection. Called on its worker. */
void assert_live(const struct live *live);

/* ---- answer.c ---- */

/* Starts sending exchange->response. Returns TURN_SENT once all of it has been sent. Called on the
 * worker. */
enum turn answer_begin(struct live *live);
/* Continues sending. */
enum turn answer_step(struct live *live);
/* Sends a response without body and closes the connection. */
enum turn answer_refuse(struct live *live, int status);
/* Sends the rest of the header section (live->unsent). Returns TURN_GOES_ON once all of it has been
 * sent. */
enum turn answer_flush(struct live *live);
/* Sends "100 Continue". */
enum turn answer_continue(struct live *live);
/* Releases the response's resources at the end of the exchange. */
void answer_over(struct live *live);

/* ---- response_head.c ---- */

/* Copies the headers, including everything they point to, into another arena. Called on the
 * worker. */
void response_copy_headers(struct response *response, struct arena *to);

#endif
