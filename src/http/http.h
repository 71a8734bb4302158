/* An HTTP/1.1 server: exchanges of a request and a response. rfc: 9112 2;
 * decision: 232
 *
 * The application passes a set of functions (struct http_application); the server calls them on its
 * worker threads:
 *
 *   head()   once the head is parsed
 *   body()   for each run of body bytes, if head() wanted the body
 *   end()    once the body is complete; at once if there is no body
 *   done()   when the exchange is over, answered or cut
 *
 * Waiting. No worker ever blocks. Who has to wait
 *   1. calls exchange_suspend(),
 *   2. then arms a waiter that ends in exchange_resume(),
 *   3. then returns HTTP_WAIT.
 * The same function is called again after the resume; only when body() waited after it had taken
 * the last byte, end() comes next.
 *
 * What the server does itself:
 *   - the target is kept raw, undecoded
 *   - heads are limited in size, and malformed ones refused: 400, 413, 414, 417, 431, 501, 505
 *   - HEAD is answered without a body
 *   - `Expect: 100-continue` is answered 100 only when head() wants the body, else with the final
 *     answer at once
 *   - a refused body that was not announced with Expect is read and thrown away, if there is no more
 *     of it than discard_max_bytes; else the answer goes first and closes the connection (net/linger.c)
 *   - of too many connections (net/net.h), one for which there is no place is answered 503 by the
 *     application (server_is_busy) and closed
 *   - pipelining, keep-alive */
#ifndef LAGRA_HTTP_HTTP_H
#define LAGRA_HTTP_HTTP_H

#include "base/arena.h"
#include "base/tenure.h"
#include "net/net.h"

enum http_method {
    METHOD_OTHER = 0,
    METHOD_GET = 1,
    METHOD_HEAD = 2,
    METHOD_PUT = 4,
    METHOD_POST = 8,
    METHOD_DELETE = 16,
    METHOD_OPTIONS = 32,
    METHOD_PATCH = 64,
    METHOD_MERGE = 128,
};

struct http_header {
    struct bytes name;         /* of a request: lower case; of a response: as it goes out */
    struct bytes value;        /* as sent, trimmed */
    struct bytes name_as_sent; /* request only: metadata keeps its case */
};

#define HTTP_LENGTH_UNKNOWN UINT64_MAX

/* All memory is the exchange's arena or the connection's; valid until done(). */
struct request {
    enum http_method method;
    struct bytes method_text;
    /* host[:port] that it was sent to: what a trusted proxy says, else the target's, else Host; ptr NULL: HTTP/1.0
     * without any */
    struct bytes authority;
    struct bytes path;  /* raw, from the first '/', without '?' */
    struct bytes query; /* raw, without '?'; ptr NULL when there was no '?' */
    const struct http_header *headers;
    size_t header_count;
    uint64_t content_length; /* 0 without body; HTTP_LENGTH_UNKNOWN when chunked */
    size_t head_bytes;
    bool expects; /* Expect: 100-continue, and a body */
    /* The client that sent it: "192.0.2.1:5000". Behind a trusted proxy (net.h) that whom the proxy names, "unknown:0"
     * where that has no address. */
    struct bytes peer;
    bool secure; /* it came over TLS: to us, or where a trusted proxy speaks for it, to the proxy */
    bool
        is_forwarded; /* by a proxy, as it seems, which need not be a trusted one: for refusals alone */
    void *listener_tag; /* of the listener it came in by */
    /* The server that passed it on with an introduction (struct http_introduction): "192.0.2.1:5000"; ptr NULL: none */
    struct bytes via;
};

/* Returns the head as it was received, from the method to the empty line. */
static inline struct bytes request_head(const struct request *request)
{
    return bytes_of(request->method_text.ptr, request->head_bytes);
}

/* Value of the header (name in lower case, not empty); ptr NULL when absent. Of several, the
 * first. */
struct bytes request_find_header(const struct request *request, struct bytes name);
/* Inline, so that the length of a literal is known when it is compiled. */
static inline struct bytes request_header(const struct request *request, const char *name)
{
    return request_find_header(request, bytes_from_string(name));
}

/* ---- response ---- */

/* A body that is made while it is sent. */
struct body_source {
    /* Returns 1..max bytes from position `at` of the body; asked in order. Worker.
     *
     * returns  the number of bytes
     *          BODY_WAIT    after exchange_suspend() and arming: asked again after the resume
     *          BODY_FAILED  the connection is cut: never a short body that looks complete */
    long (*read)(struct body_source *source, uint64_t at, char *to, size_t max);
    /* Of a body in a file (NULL: always): whether 1..max bytes from position `at` can be sent from there now,
     * right and without waiting for a disk. Asked before each part. Returns as read(). */
    long (*is_ready)(struct body_source *source, uint64_t at, size_t max);
};
#define BODY_WAIT   0L
#define BODY_FAILED (-1L)

enum body_kind { BODY_NONE, BODY_BYTES, BODY_FILE, BODY_SOURCE };

struct response {
    struct arena *arena; /* the exchange's; the header list grows in it */
    int status;
    size_t header_count;
    size_t header_capacity;
    struct http_header *headers; /* names as they go out */
    enum body_kind body_kind;
    struct bytes body; /* BODY_BYTES: arena or static, until done() */
    int fd;            /* BODY_FILE: not owned, stays open until done() */
    uint64_t fd_offset;
    struct body_source *source; /* BODY_SOURCE, BODY_FILE (or NULL): released by the application in
                                 * done() */
    uint64_t body_length;       /* BODY_FILE, BODY_SOURCE; for HEAD: what GET would have */
};

/* Empty, with this arena. */
void response_init(struct response *response, struct arena *arena);
/* Adds a header.
 *
 * name   static or in the arena
 * value  in the arena; without control characters: what comes from outside is checked before it is
 *        stored. A header that cannot be sent does not go out. decision: 241 */
void response_header(struct response *response, struct bytes name, struct bytes value);
void response_header_string(struct response *response, const char *name, const char *value);
/* The header of that name, in any case of letters; NULL: there is none. */
const struct http_header *response_find_header(const struct response *response, struct bytes name);
/* Does the text have a control character other than `allowed`? A header's value may have tabs; ' ' allows
 * none. */
bool http_has_control(struct bytes text, char allowed);
/* What the status line says of a status: "Accepted". Static. */
struct bytes http_reason(int status);

/* ---- exchange ---- */

struct exchange {
    unsigned magic;
    struct arena *arena;
    struct request request;
    struct response response;
    /* For head() and body(): to be answered 503, and nothing else to be done. */
    bool server_is_busy;
    /* For end(): other exchanges of this worker have their turns before round() is called. */
    bool others_follow;
    void *application;                        /* the application's own state of this exchange */
    const struct http_application *passed_to; /* exchange_pass_on(); NULL: the server's own */
    const struct tenure *tenure;              /* exchange_answers_by(); NULL: it needs none */
    atomic_uint *counted_in;                  /* decremented at its end; or NULL */
    struct bytes introduction; /* as it was received; empty without http_application.introduce */
};

/* From now on bytes of the response are sent only while the tenure holds; else the connection is
 * closed. Called before anything is read that the response depends on. Worker. */
static inline void exchange_answers_by(struct exchange *exchange, const struct tenure *tenure)
{
    exchange->tenure = tenure;
}

/* The response is complete. Charges what the exchange holds to the shares of its account and its client
 * (base/memory_budget.h), before the response waits for a client that may not read it. Worker.
 * scratch  the mark for exchange_drop_scratch(), or NULL if that is not going to be called
 * returns  false if it is too much: the response is not to be sent, unless it is that of a write */
bool exchange_charge(struct exchange *exchange, const struct arena_mark *scratch);
/* Frees what was allocated after the mark, except a large body in memory and the response's
 * headers. Just before HTTP_RESPOND: done() may not use the rest any more. Worker. */
void exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark);

/* Somebody was authenticated on this connection: when the server is full, it is closed for
 * new connections only after all on which nobody was. Worker. */
void exchange_authenticate(struct exchange *exchange);
/* What is asked for on this connection is an account's, identified by its address: connections of several take turns, however
 * many each has, and each has its share of the memory budget. Worker. */
void exchange_serves_for(struct exchange *exchange, const void *whose);

/* Whether the answer may be one of the few that are sent from a file (BODY_FILE), until it is over.
 * The application need not ask, if it has that file open anyway. Any number of times. Worker. */
bool exchange_take_file(struct exchange *exchange);

/* The connection is cut behind the answer, which does not say so: for tests of clients. Worker. */
void exchange_cut_behind(struct exchange *exchange);

/* What has gone out of an exchange that is over: for done() alone. */
struct exchange_sent {
    uint64_t body_bytes;
    size_t head_bytes; /* 0: no answer was begun */
    bool is_whole;     /* all of the answer has gone to the socket */
};
struct exchange_sent exchange_sent(const struct exchange *exchange);

/* From here on a resume is remembered. Worker, inside head(), body(), end() or a source's read().
 */
void exchange_suspend(struct exchange *exchange);
/* Any thread, once for each suspend. */
void exchange_resume(struct exchange *exchange);

enum http_step {
    HTTP_RESPOND,   /* exchange->response is complete */
    HTTP_WANT_BODY, /* head() and body() only: go on reading */
    HTTP_WAIT,      /* suspended: call the same function again after the resume */
    HTTP_CUT,       /* close the connection without an answer */
};

/* The description of a client by another server that passes its request on, in front of the head. */
struct http_introduction {
    size_t size; /* bytes that it takes */
    bool client_is_known;
    uint8_t client[ADDRESS_SIZE];
    uint16_t port;
    bool is_tls;       /* the client came over TLS */
    bool is_forwarded; /* as request.is_forwarded */
    struct bytes
        authority; /* that the client asked for, if the head does not say it; ptr NULL: it does */
};
enum http_introduced { INTRODUCTION_PART, INTRODUCTION_WHOLE, INTRODUCTION_MALFORMED };
/* The most that one takes. */
#define INTRODUCTION_MAX 512u

/* Returns the connection of the exchange, for connection_open(). Called on its worker. */
struct connection *exchange_connection(struct exchange *exchange);
/* Ends an exchange whose body() wants more and is not suspended, as if body() had returned HTTP_RESPOND or HTTP_CUT now.
 * Worker, outside of the exchange's own functions. */
void exchange_end_body(struct exchange *exchange, enum http_step step);

struct http_application {
    /* Reads an introduction from the start of the input. Where this is not NULL each request follows one, and a
     * connection on which none does is closed: only peers that are trusted may connect (net_listen.key). Their
     * connections do not close with a request that asks for it. */
    enum http_introduced (*introduce)(struct bytes input, struct http_introduction *ret_said);
    enum http_step (*head)(struct exchange *exchange);
    /* Takes 0..data.len bytes of data; none only with HTTP_WAIT or HTTP_RESPOND.
     *
     * returns  HTTP_WANT_BODY  go on
     *          HTTP_RESPOND    the rest is thrown away, then the response goes
     *          HTTP_WAIT, HTTP_CUT */
    enum http_step (*body)(struct exchange *exchange, struct bytes data, size_t *ret_taken);
    enum http_step (*end)(struct exchange *exchange);
    void (*done)(struct exchange *exchange);
    /* Each exchange of a worker that could go on has had its turn: what was left to be done for several at
     * once. On that worker, outside of all exchanges. NULL: nothing is left so. */
    void (*round)(void);
};

/* From here on the functions of another application are called for this exchange, but for round(), which is the server's.
 * In head(), which returns what the other's head() returns; application is NULL.
 *
 * tag  request.listener_tag */
enum http_step exchange_pass_on(struct exchange *exchange,
                                const struct http_application *application, void *tag);

/* ---- server ---- */

struct http_limits {
    struct net_limits net;          /* a request begins with its whole head */
    size_t connection_memory_bytes; /* head of a request */
    /* Of a refused body so much is read before the answer. Where there is more, the answer goes at
     * once, and the connection closes by and by (net.linger_..). */
    uint64_t discard_max_bytes;
    unsigned answer_files_max; /* answers at a time for which the application may open a file, which
                                * the kernel sends */
};
extern const struct http_limits http_limits_default;

/* Idle outgoing connections that a worker may keep. */
#define HTTP_OUTGOING_IDLE_MAX 16u
/* Lowers net.connections_max, and answer_files_max and net.outgoing_max (unless that is 0) with it, until `servers` servers with these limits
 * need at most so many descriptors: their connections, those beyond the limit that are being
 * refused or closed, files of answers, and what the servers have open themselves. returns false
 * if not even CONNECTIONS_LEAST of each find room. */
#define CONNECTIONS_LEAST      8u
bool http_limits_fit(struct http_limits *limits, unsigned servers, unsigned descriptors);
/* How many descriptors that takes at least. */
unsigned http_limits_least(const struct http_limits *limits, unsigned servers);

struct http_server;
/* Starts one listener with its own workers and acceptor.
 *
 * tag      request.listener_tag
 * returns  NULL on failure, and *ret_problem: words for the operator, valid until the next call.
 * Main thread. */
struct http_server *http_start(const struct net_listen *listen, const struct http_limits *limits,
                               const struct http_application *application, void *tag,
                               const char **ret_problem);
/* As net_renew_certificate(). */
bool http_renew_certificate(struct http_server *server, const char *cert_pem, const char *key_pem,
                            const char **ret_problem);
/* As net_worker_connections(). */
int http_worker_connections(struct http_server *server, unsigned worker);
uint16_t http_port(const struct http_server *server);
/* Accepts no more; lets exchanges under way end for at most grace_s; cuts the others. Returns when
 * the last one is over, so what they wait for must still be running. Main thread. */
void http_stop(struct http_server *server, unsigned grace_s);
/* As net_cut_outgoing(). */
void http_cut_outgoing(struct http_server *server, uint64_t tag, enum cut_which which);
/* As net_await_none(). */
bool http_await_none(struct http_server *server, unsigned ms);

/* ---- ranges ---- */

enum range_result {
    RANGE_ALL, /* no header, or one that is to be ignored (not of the form bytes=a-[b]) */
    RANGE_PART,
    RANGE_UNSATISFIABLE, /* begins past the end: 416 */
};
/* "bytes=a-b", "bytes=a-"; Azure has no suffix ranges and no lists.
 * rfc: 9110 14.2; rest: Specifying-the-Range-Header */
enum range_result range_parse(struct bytes header, uint64_t size, uint64_t *ret_offset,
                              uint64_t *ret_length);

#endif
