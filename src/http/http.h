/* An HTTP/1.1 server: exchanges of a request and a response. rfc: 9112 2; decision: 232
 *
 * The application passes a set of functions (struct http_application); the server calls them on its
 * worker threads:
 *
 *   head()   once the header section is parsed
 *   body()   for each run of body bytes, if head() wanted the body
 *   end()    once the body is complete; at once if there is no body
 *   done()   when the exchange has ended, with a response or a dropped connection
 *
 * Waiting. Workers must never block. To wait, a function
 *   1. calls exchange_suspend(),
 *   2. then arms a waiter that calls exchange_resume(),
 *   3. then returns HTTP_WAIT.
 * The same function is called again after the resume, except that end() follows if body() waited
 * after consuming the last byte.
 *
 * The server itself
 *   - keeps the target raw, undecoded
 *   - limits the size of header sections, and refuses malformed ones: 400, 413, 414, 417, 431, 501,
 *   505
 *   - responds to HEAD without a body
 *   - sends 100 for `Expect: 100-continue` only when head() wants the body, otherwise the final
 *   response at once
 *   - reads and discards a refused body that was not announced with Expect, if it is at most
 *   discard_max_bytes; otherwise it sends the response first and closes the connection
 *   (net/cut.c)
 *   - lets the application respond with 503 (server_is_busy) on a connection beyond the limit
 *   (net/net.h), and closes it
 *   - supports pipelining and keep-alive */
#ifndef LAGRA_HTTP_HTTP_H
#define LAGRA_HTTP_HTTP_H

#include "base/arena.h"
#include "base/ids.h"
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
    struct bytes name;         /* of a request: lower case; of a response: as sent */
    struct bytes value;        /* trimmed */
    struct bytes name_as_sent; /* request only: metadata preserves its case */
};

#define HTTP_LENGTH_UNKNOWN UINT64_MAX

/* All memory belongs to the exchange's arena or the connection; valid until done(). */
struct request {
    enum http_method method;
    struct bytes method_text;
    /* host[:port] of the request: from a trusted proxy, else from the target, else from Host; ptr
     * NULL means HTTP/1.0 without Host */
    struct bytes authority;
    struct bytes path;  /* raw, from the first '/', without '?' */
    struct bytes query; /* raw, without '?'; ptr NULL if there was no '?' */
    const struct http_header *headers;
    size_t header_count;
    uint64_t content_length; /* 0 without body; HTTP_LENGTH_UNKNOWN if chunked */
    size_t head_bytes;
    bool expects; /* Expect: 100-continue, and a body */
    /* The client's address: "192.0.2.1:5000". Behind a trusted proxy (net.h), the client named by
     * the proxy, "unknown:0" if without address. */
    struct bytes peer;
    bool secure;        /* received over TLS, by us or by a trusted proxy */
    bool is_forwarded;  /* has proxy headers, trusted or not; use only to refuse, never to grant */
    void *listener_tag; /* of the listener that received it */
    /* The server that forwarded it with an introduction (struct http_introduction):
     * "192.0.2.1:5000"; ptr NULL if none */
    struct bytes via;
    /* Incarnation under which the resource was placed in this cell (service/placement.h); 0 if none
     * was named */
    uint64_t placement;
    /* The server that forwarded it can read pieces of the store from their files, so that a large
     * body may be described instead (response.stands_for). */
    bool takes_pieces;
    /* x-ms-request-id, if it was chosen before the request reached the service; otherwise zeros */
    struct guid id;
};

/* Returns the header section as received, from the method to the empty line. */
static inline struct bytes request_head(const struct request *request)
{
    return bytes_of(request->method_text.ptr, request->head_bytes);
}

/* Returns the value of the first header with this name (in lower case, not empty); ptr NULL if
 * absent. */
struct bytes request_find_header(const struct request *request, struct bytes name);
/* Inline, so that the length of a literal is known at compile time. */
static inline struct bytes request_header(const struct request *request, const char *name)
{
    return request_find_header(request, bytes_from_string(name));
}

/* ---- response ---- */

/* A body that is generated while it is sent. */
struct body_source {
    /* Reads 1..max bytes from position `at` of the body, in order. Called on the worker.
     *
     * returns  the number of bytes
     *          BODY_WAIT    after exchange_suspend() and arming: called again after the resume
     *          BODY_FAILED  drops the connection, so that the body does not look complete */
    long (*read)(struct body_source *source, uint64_t at, char *to, size_t max);
    /* For a body in a file (NULL means always ready): checks whether 1..max bytes from position
     * `at` can be sent from it now, correct and without waiting for a disk. Called before each
     * part. Returns the results of read(). */
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
    struct http_header *headers; /* names as sent */
    enum body_kind body_kind;
    struct bytes body; /* BODY_BYTES: arena or static, until done() */
    int fd;            /* BODY_FILE: not owned, remains open until done() */
    uint64_t fd_offset;
    /* BODY_SOURCE, BODY_FILE (or NULL): released by the application in done() */
    struct body_source *source;
    uint64_t body_length; /* BODY_FILE, BODY_SOURCE; for HEAD: the length for GET */
    /* Nonzero: the body describes another one of this length, which the server that forwarded the
     * request sends to its client. The exchange ends with that server's last receipt (receipt.h);
     * exchange_sent() and the limits for slow clients then refer to the described body. Only if
     * request.takes_pieces. */
    uint64_t stands_for;
};

/* Initializes an empty response with this arena. */
void response_init(struct response *response, struct arena *arena);
/* Adds a header.
 *
 * name   static or in the arena
 * value  in the arena; without control characters: external values are checked before being stored.
 *        A header that cannot be sent is omitted. decision: 241 */
void response_header(struct response *response, struct bytes name, struct bytes value);
void response_header_string(struct response *response, const char *name, const char *value);
/* Returns the header with that name, ignoring case, or NULL. */
const struct http_header *response_find_header(const struct response *response, struct bytes name);
/* Returns true if the text contains a control character other than `allowed`. Header values may
 * contain tabs; ' ' allows none. */
bool http_has_control(struct bytes text, char allowed);
/* Returns the reason phrase of a status: "Accepted". Static. */
struct bytes http_reason(int status);

/* ---- exchange ---- */

struct exchange {
    unsigned magic;
    struct arena *arena;
    struct request request;
    struct response response;
    /* For head() and body(): only respond with 503. */
    bool server_is_busy;
    /* For end(): other exchanges of this worker will run before round() is called. */
    bool others_follow;
    void *application; /* the application's state for this exchange */
    void *guide;       /* state of an application that delegates the exchange to another, or NULL */
    /* exchange_pass_on(); NULL means the server's application */
    const struct http_application *passed_to;
    const struct tenure *tenure; /* exchange_answers_by(); NULL if not needed */
    atomic_uint *counted_in;     /* decremented when the exchange ends, or NULL */
    struct bytes introduction;   /* as received; empty without http_application.introduce */
};

/* Makes the response depend on a tenure: its bytes are sent only while the tenure holds; otherwise
 * the connection is closed. Call before reading anything that the response depends on. Called on
 * the worker. */
static inline void exchange_answers_by(struct exchange *exchange, const struct tenure *tenure)
{
    exchange->tenure = tenure;
}

/* Charges the memory of a complete response to the shares of its account and client
 * (base/memory_budget.h), before it waits for a client that may not read it. Called on the worker.
 * scratch  the mark for exchange_drop_scratch(), or NULL if that will not be called
 * returns  false if it is too much: the response must not be sent, unless it is that of a write */
bool exchange_charge(struct exchange *exchange, const struct arena_mark *scratch);
/* Frees everything allocated after the mark, except a large body in memory and the response's
 * headers. Call just before HTTP_RESPOND; done() must not use the freed memory. Called on the
 * worker. */
void exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark);

/* Marks the connection as authenticated. When the server is full, unauthenticated connections are
 * closed first. Called on the worker. */
void exchange_authenticate(struct exchange *exchange);
/* Assigns the connection to an account, identified by its address, for fair scheduling: accounts
 * take turns, regardless of their number of connections, and each has a share of the memory budget.
 * Called on the worker. */
void exchange_serves_for(struct exchange *exchange, const void *whose);

/* Reserves one of the few slots for responses sent from a file (BODY_FILE), until the exchange
 * ends. Not needed if the application has that file open anyway. May be called repeatedly. Called
 * on the worker. */
bool exchange_take_file(struct exchange *exchange);

/* Drops the connection after the response, without announcing it: for tests of clients. Called on
 * the worker. */
void exchange_cut_behind(struct exchange *exchange);

/* How much of an exchange's response was sent: in done(), and while it is being sent. */
struct exchange_sent {
    uint64_t body_bytes;
    size_t head_bytes; /* 0 if no response was started */
    bool is_whole;     /* the entire response was passed to the socket */
};
struct exchange_sent exchange_sent(const struct exchange *exchange);

/* Starts remembering a resume. Called on the worker, inside head(), body(), end() or a source's
 * read(). */
void exchange_suspend(struct exchange *exchange);
/* Resumes the exchange; once per suspend. Thread-safe. */
void exchange_resume(struct exchange *exchange);

enum http_step {
    HTTP_RESPOND,   /* exchange->response is complete */
    HTTP_WANT_BODY, /* head() and body() only: continue reading */
    HTTP_WAIT,      /* suspended: call the same function again after the resume */
    HTTP_CUT,       /* close the connection without a response */
};

/* Describes the client of a request forwarded by another server. Precedes the header section. */
struct http_introduction {
    size_t size; /* size in bytes */
    bool client_is_known;
    uint8_t client[ADDRESS_SIZE];
    uint16_t port;
    bool is_tls;       /* the client connected over TLS */
    bool is_forwarded; /* like request.is_forwarded */
    bool expects; /* the other server sends the body only after a 100 response, as with Expect */
    bool takes_pieces;   /* like request.takes_pieces */
    uint64_t placement;  /* like request.placement */
    struct guid request; /* like request.id */
    struct bytes
        authority; /* requested by the client, if not in the header section; ptr NULL if it is */
};
enum http_introduced { INTRODUCTION_PART, INTRODUCTION_WHOLE, INTRODUCTION_MALFORMED };
/* Maximum size. */
#define INTRODUCTION_MAX 512u

/* Returns the connection of the exchange, for connection_open(). Called on its worker. */
struct connection *exchange_connection(struct exchange *exchange);
/* Ends an exchange whose body() wants more and is not suspended, as if body() had returned
 * HTTP_RESPOND or HTTP_CUT now. Called on the worker, outside of the exchange's own functions. */
void exchange_end_body(struct exchange *exchange, enum http_step step);

struct http_application {
    /* Reads an introduction from the start of the input. If not NULL, every request must follow an
     * introduction; otherwise the connection is closed. Only trusted peers may connect
     * (net_listen.key). Their connections stay open even if a request asks to close. */
    enum http_introduced (*introduce)(struct bytes input, struct http_introduction *ret_said);
    enum http_step (*head)(struct exchange *exchange);
    /* Consumes 0..data.len bytes of data; 0 only with HTTP_WAIT or HTTP_RESPOND.
     *
     * returns  HTTP_WANT_BODY continue
     *          HTTP_RESPOND    discard the rest, then send the response
     *          HTTP_WAIT, HTTP_CUT */
    enum http_step (*body)(struct exchange *exchange, struct bytes data, size_t *ret_taken);
    enum http_step (*end)(struct exchange *exchange);
    void (*done)(struct exchange *exchange);
    /* Called on a worker after every runnable exchange has run once, outside of all exchanges, to
     * do work batched across exchanges. NULL if none exists. */
    void (*round)(void);
};

/* Delegates this exchange to another application, whose functions are called from here on, except
 * round(). Called in head(), which returns the other head()'s result; exchange->application is
 * NULL.
 *
 * tag  request.listener_tag */
enum http_step exchange_pass_on(struct exchange *exchange,
                                const struct http_application *application, void *tag);

/* ---- server ---- */

struct http_limits {
    struct net_limits net;          /* a request starts with its complete header section */
    size_t connection_memory_bytes; /* header section of a request */
    /* Maximum size of a refused body that is read before the response. For a larger one the
     * response is sent at once, and the connection closes lingeringly (net.linger_..). */
    uint64_t discard_max_bytes;
    /* concurrent responses for which the application may open a file, which the kernel sends */
    unsigned answer_files_max;
};
extern const struct http_limits http_limits_default;

/* Idle outgoing connections that a worker may keep. */
#define HTTP_OUTGOING_IDLE_MAX 16u
/* Lowers net.connections_max, and with it answer_files_max and net.outgoing_max (unless 0), until
 * `servers` servers with these limits need at most `descriptors` descriptors: for their
 * connections, those beyond the limit being refused or closed, response files, and the servers'
 * own. Returns false if not even CONNECTIONS_LEAST of each fit. */
#define CONNECTIONS_LEAST      8u
bool http_limits_fit(struct http_limits *limits, unsigned servers, unsigned descriptors);
/* Returns the minimum number of descriptors. */
unsigned http_limits_least(const struct http_limits *limits, unsigned servers);

struct http_server;
/* Starts one listener with its own workers and acceptor. Main thread only.
 *
 * tag      request.listener_tag
 * returns  NULL on failure, with *ret_problem: a message for the operator, valid until the next
 *          call */
struct http_server *http_start(const struct net_listen *listen, const struct http_limits *limits,
                               const struct http_application *application, void *tag,
                               const char **ret_problem);
/* Like net_renew_certificate(). */
bool http_renew_certificate(struct http_server *server, const char *cert_pem, const char *key_pem,
                            const char **ret_problem);
/* Like net_worker_connections(). */
int http_worker_connections(struct http_server *server, unsigned worker);
uint16_t http_port(const struct http_server *server);
/* Stops accepting; waits at most grace_s for exchanges in progress, then drops the others. Returns
 * after the last one has ended, so anything they wait for must still be running. Main thread
 * only. */
void http_stop(struct http_server *server, unsigned grace_s);
/* Like net_cut_outgoing(). */
void http_cut_outgoing(struct http_server *server, uint64_t first, uint64_t end,
                       enum cut_which which);
/* Like net_await_none(). */
bool http_await_none(struct http_server *server, unsigned ms);

/* ---- ranges ---- */

enum range_result {
    RANGE_ALL, /* no header, or one to be ignored (not of the form bytes=a-[b]) */
    RANGE_PART,
    RANGE_UNSATISFIABLE, /* starts past the end: 416 */
};
/* Parses "bytes=a-b" or "bytes=a-"; Azure supports neither suffix ranges nor lists. rfc: 9110 14.2;
 * rest: Specifying-the-Range-Header */
enum range_result range_parse(struct bytes header, uint64_t size, uint64_t *ret_offset,
                              uint64_t *ret_length);

#endif
