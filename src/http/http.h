/* An HTTP/1.1 server: exchanges of a request and a response. rfc: 9112 2; decision: 232
 *
 * The application passes a set of functions (struct http_application); the server calls them on its
 * worker threads:
 *
 *   head()   once the header section is parsed
 *   body()   with each run of body bytes, if head() wanted the body
 *   end()    once the body is complete; at once if there is no body
 *   done()   when the exchange has ended, with a response or a dropped connection
 *
 * Waiting. Workers must never block. To wait, a function
 *   1. calls exchange_suspend(),
 *   2. then arms a waiter that calls exchange_resume(),
 *   3. then returns HTTP_WAIT.
 * After the resume, the same function is called again; but if body() waited after consuming the
 * last byte, end() is called.
 *
 * The server itself
 *   - does not decode the request target
 *   - limits the size of header sections and refuses malformed ones: 400, 413, 414, 417, 431, 501,
 *     505
 *   - responds to HEAD without a body
 *   - answers `Expect: 100-continue` with 100 only when head() wants the body, otherwise with the
 *     final response
 *   - reads and discards a refused body of at most discard_max_bytes, unless it was announced with
 *     Expect; otherwise it sends the response first and closes the connection (net/cut.c)
 *   - on connections beyond the limit (net/net.h), lets the application respond with 503
 *     (server_is_busy), then closes them
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
    /* host[:port] of the request, from a trusted proxy, the target or Host, in this order; ptr NULL
     * for HTTP/1.0 without Host */
    struct bytes authority;
    struct bytes path;  /* raw, from the first '/', without '?' */
    struct bytes query; /* raw, without '?'; ptr NULL if there was no '?' */
    const struct http_header *headers;
    size_t header_count;
    uint64_t content_length; /* 0 without body; HTTP_LENGTH_UNKNOWN if chunked */
    size_t head_bytes;
    bool expects; /* Expect: 100-continue, and a body */
    /* The client's address: "192.0.2.1:5000". Behind a trusted proxy (net.h), the address that the
     * proxy reports, or "unknown:0" if it reports none. */
    struct bytes peer;
    bool secure;        /* received over TLS, by this server or by a trusted proxy */
    bool is_forwarded;  /* has proxy headers, trusted or not; use only to refuse, never to grant */
    void *listener_tag; /* of the listener that received it */
    /* Address of the server that forwarded it with an introduction (struct http_introduction):
     * "192.0.2.1:5000"; ptr NULL if none */
    struct bytes via;
    /* Incarnation of the resource's placement in this cell (service/placement.h), as sent by the
     * forwarding server; 0 if absent */
    uint64_t placement;
    /* True if the forwarding server can read the store's pieces from their files, so that the
     * response may describe a large body instead of containing it (response.described_length). */
    bool takes_pieces;
    /* x-ms-request-id if already chosen, otherwise zeros */
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
/* Inline, so that the compiler knows the length of a literal. */
static inline struct bytes request_header(const struct request *request, const char *name)
{
    return request_find_header(request, bytes_from_string(name));
}

/* ---- response ---- */

/* A body that is generated while it is being sent. */
struct body_source {
    /* Reads 1..max bytes at position `at`; positions ascend. Called on the worker.
     *
     * returns  number of bytes
     *          BODY_WAIT    after exchange_suspend() and arming; called again after the resume
     *          BODY_FAILED  drops the connection, so that the body does not look complete */
    long (*read)(struct body_source *source, uint64_t at, char *to, size_t max);
    /* For a body in a file: checks whether bytes from position `at` can be sent from the file now,
     * with correct content and without waiting for a disk. Called before each part. Returns their
     * number, 1..max, or another result of read(). NULL means always ready. */
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
    struct bytes body; /* BODY_BYTES: in the arena or static; valid until done() */
    int fd;            /* BODY_FILE: not owned; remains open until done() */
    uint64_t fd_offset;
    /* BODY_SOURCE, BODY_FILE (may be NULL): released by the application in done() */
    struct body_source *source;
    uint64_t body_length; /* BODY_FILE, BODY_SOURCE; for HEAD the length that GET would return */
    /* If not 0, the body is a description of the real body, which has this length and which the
     * forwarding server sends to its client. The exchange ends with that server's last receipt
     * (receipt.h); exchange_sent() and the limits for slow clients refer to the real body. Requires
     * request.takes_pieces. */
    uint64_t described_length;
};

/* Initializes an empty response with this arena. */
void response_init(struct response *response, struct arena *arena);
/* Adds a header.
 *
 * name   static or in the arena
 * value  in the arena. External values must be checked for control characters before they are
 *        stored; a header that cannot be sent is dropped. decision: 241 */
void response_header(struct response *response, struct bytes name, struct bytes value);
void response_header_string(struct response *response, const char *name, const char *value);
/* Returns the header with that name, ignoring case, or NULL. */
const struct http_header *response_find_header(const struct response *response, struct bytes name);
/* Returns true if the text contains a control character other than `allowed`. Header values may
 * contain tabs. Pass ' ' to allow none. */
bool http_has_control(struct bytes text, char allowed);
/* Returns the reason phrase of a status: "Accepted". Static. */
struct bytes http_reason(int status);

/* ---- exchange ---- */

struct exchange {
    unsigned magic;
    struct arena *arena;
    struct request request;
    struct response response;
    /* head() and body() may only respond with 503 */
    bool server_is_busy;
    /* for end(): other exchanges of this worker will run before round() is called */
    bool others_follow;
    void *application; /* the application's state of this exchange */
    /* state of an application that delegated the exchange to another one, or NULL */
    void *guide;
    /* set by exchange_pass_on(), or NULL for the server's application */
    const struct http_application *passed_to;
    const struct tenure *tenure; /* set by exchange_answers_by(); NULL if not needed */
    atomic_uint *counted_in;     /* decremented when the exchange ends, or NULL */
    struct bytes introduction;   /* as received; empty if the application has no introduce() */
};

/* Makes the response depend on a tenure: its bytes are sent only while the tenure holds; otherwise
 * the connection is closed. Must be called before anything that the response depends on is read.
 * Called on the worker. */
static inline void exchange_answers_by(struct exchange *exchange, const struct tenure *tenure)
{
    exchange->tenure = tenure;
}

/* Charges the memory of a complete response to the budgets of its account and client
 * (base/memory_budget.h), since the client may be slow to read it. Called on the worker.
 * scratch  mark for exchange_drop_scratch(), or NULL if that will not be called
 * returns  false if the budget is exceeded: the response must not be sent, unless it is for a
 * write */
bool exchange_charge(struct exchange *exchange, const struct arena_mark *scratch);
/* Frees everything allocated after the mark except the response's headers and a body in memory.
 * Must be called just before returning HTTP_RESPOND; done() must not use the freed memory. Called
 * on the worker. */
void exchange_drop_scratch(struct exchange *exchange, struct arena_mark mark);

/* Marks the connection as authenticated. When the server is full, unauthenticated connections are
 * closed first. Called on the worker. */
void exchange_authenticate(struct exchange *exchange);
/* Assigns the connection to an account for fair scheduling and memory budgets: accounts take turns,
 * regardless of their number of connections. The account is identified by its address. Called on
 * the worker. */
void exchange_serves_for(struct exchange *exchange, const void *whose);

/* Reserves one of the limited slots for responses sent from a file (BODY_FILE), until the exchange
 * ends. Returns false if none is free. Not needed for a file that is open anyway. May be called
 * repeatedly. Called on the worker. */
bool exchange_take_file(struct exchange *exchange);

/* Drops the connection after the response without sending Connection: close, to test clients.
 * Called on the worker. */
void exchange_cut_behind(struct exchange *exchange);

/* How much of the response was sent. For done(), and while it is being sent. */
struct exchange_sent {
    uint64_t body_bytes;
    size_t head_bytes; /* 0 if no response was started */
    bool is_whole;     /* the socket accepted the entire response */
};
struct exchange_sent exchange_sent(const struct exchange *exchange);

/* Prepares for a resume, which may arrive at any time afterwards. Called on the worker, inside
 * head(), body(), end() or a source's read(). */
void exchange_suspend(struct exchange *exchange);
/* Resumes the exchange. Must be called once per suspend. Thread-safe. */
void exchange_resume(struct exchange *exchange);

enum http_step {
    HTTP_RESPOND,   /* exchange->response is complete */
    HTTP_WANT_BODY, /* head() and body() only: continue reading */
    HTTP_WAIT,      /* suspended: call the same function again after the resume */
    HTTP_CUT,       /* close the connection without a response */
};

/* The client of a forwarded request, as sent by the forwarding server in front of the header
 * section. */
struct http_introduction {
    size_t size; /* size in bytes */
    bool client_is_known;
    uint8_t client[ADDRESS_SIZE];
    uint16_t port;
    bool is_tls;       /* the client connected over TLS */
    bool is_forwarded; /* like request.is_forwarded */
    /* the forwarding server sends the body only after a 100 response, as with Expect */
    bool expects;
    bool takes_pieces;   /* like request.takes_pieces */
    uint64_t placement;  /* like request.placement */
    struct guid request; /* like request.id */
    struct bytes
        authority; /* requested by the client, if not in the header section; ptr NULL if it is */
};
enum http_introduced { INTRODUCTION_PART, INTRODUCTION_WHOLE, INTRODUCTION_MALFORMED };
/* Maximum size of an introduction */
#define INTRODUCTION_MAX 512u

/* Returns the connection of the exchange, for connection_open(). Called on its worker. */
struct connection *exchange_connection(struct exchange *exchange);
/* Ends an exchange that is waiting for body bytes (not suspended), as if body() had returned
 * HTTP_RESPOND or HTTP_CUT. Called on the worker, outside of the exchange's own functions. */
void exchange_end_body(struct exchange *exchange, enum http_step step);

struct http_application {
    /* Reads an introduction from the start of the input. If not NULL, every request must follow an
     * introduction, or the connection is closed. Used only on listeners for trusted peers
     * (net_listen.key). Their connections stay open even if a request asks to close. */
    enum http_introduced (*introduce)(struct bytes input, struct http_introduction *ret_said);
    enum http_step (*head)(struct exchange *exchange);
    /* Consumes 0..data.len bytes of data; 0 only with HTTP_WAIT or HTTP_RESPOND.
     *
     * returns  HTTP_WANT_BODY  continue
     *          HTTP_RESPOND    discard the rest of the body, then send the response
     *          HTTP_WAIT, HTTP_CUT */
    enum http_step (*body)(struct exchange *exchange, struct bytes data, size_t *ret_taken);
    enum http_step (*end)(struct exchange *exchange);
    void (*done)(struct exchange *exchange);
    /* Does work batched across exchanges. Called on a worker, outside of all exchanges, after every
     * runnable exchange has run once. NULL if not needed. */
    void (*round)(void);
};

/* Delegates this exchange to another application, whose functions (except round()) are called from
 * now on. Called in head(), which returns the other head()'s result. exchange->application is then
 * NULL.
 *
 * tag  request.listener_tag */
enum http_step exchange_pass_on(struct exchange *exchange,
                                const struct http_application *application, void *tag);

/* ---- server ---- */

struct http_limits {
    /* a request counts as started once its header section is complete */
    struct net_limits net;
    size_t connection_memory_bytes; /* maximum size of a request's header section */
    /* Maximum size of a refused body that is read before the response is sent. For a larger one the
     * response is sent at once, and the connection closes lingeringly (net.linger_..). */
    uint64_t discard_max_bytes;
    /* concurrent responses sent from a file opened for them */
    unsigned answer_files_max;
};
extern const struct http_limits http_limits_default;

/* Maximum number of idle outgoing connections of a worker */
#define HTTP_OUTGOING_IDLE_MAX 16u
/* Lowers net.connections_max, and with it answer_files_max and net.outgoing_max (unless 0), until
 * `servers` servers with these limits need at most `descriptors` file descriptors for their
 * connections, the connections they are refusing or closing, response files and themselves. Returns
 * false if CONNECTIONS_LEAST connections per server do not fit. */
#define CONNECTIONS_LEAST      8u
bool http_limits_fit(struct http_limits *limits, unsigned servers, unsigned descriptors);
/* Returns the minimum number of file descriptors needed. */
unsigned http_limits_least(const struct http_limits *limits, unsigned servers);

struct http_server;
/* Starts a listener with its own workers and acceptor. Main thread only.
 *
 * tag      request.listener_tag
 * returns  NULL on failure; *ret_problem is then a message for the operator, valid until the next
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
/* Stops accepting connections, waits at most grace_s for exchanges in progress, and drops the
 * others. Everything that exchanges wait for must still be running. Main thread only. */
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
