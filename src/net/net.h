/* TCP servers for any protocol, with or without TLS: an acceptor, connection slots, workers and
 * deadlines. This module knows no protocol; http/ and others are built on it.
 *
 * A protocol is a small table of functions (struct net_protocol), which are called on a worker, in
 * the connection's turn, and must never block:
 *
 *   begin()    once, before the first turn, when the client's address is known
 *   turn()     bytes may have arrived, the socket may accept bytes again, or the connection was
 *              posted
 *   posted()   after connection_post(), possibly by another thread; a turn follows
 *   round()    after the turns of a round; does work batched across connections
 *   end()      once, before the socket is closed, if begin() was called
 *
 * In its turn, a protocol receives and sends (net/connection.h), and sets the phase, which
 * determines what the client must do next. The acceptor closes connections whose client misses the
 * deadline.
 *
 * The server itself
 *   - assigns each connection to the worker with the fewest connections
 *   - at the connection limit, closes idle connections for new ones, unauthenticated ones first. If
 *     none is idle, it passes the new connection to the protocol as refused; the protocol sends a
 *     refusal and closes it
 *   - does the same among the connections of one address, if that has a limit
 *   - lets proxies report their clients with the PROXY protocol (struct net_proxies)
 *   - performs the TLS handshake
 *   - closes idle and slow connections
 *   - closes a connection in two steps if its client is still sending (cut.c) */
#ifndef LAGRA_NET_NET_H
#define LAGRA_NET_NET_H

#include "base/address.h"

struct connection;
struct net_server;

struct net_limits {
    unsigned workers; /* 0 means one per core */
    unsigned connections_max;
    unsigned connections_per_address_max; /* 0 means no separate limit */
    unsigned outgoing_max;      /* connections opened by the protocols (connection_open()) */
    unsigned stranger_s;        /* time limit for authentication; 0 means none */
    unsigned idle_s;            /* time limit for starting a request */
    unsigned body_stall_s;      /* maximum pause between bytes of the rest of a request */
    unsigned body_rate_min;     /* minimum average rate in bytes per second, checked ... */
    unsigned body_rate_grace_s; /* ... once the rest of the request has taken this long */
    /* maximum time for which the client receives no byte of its response */
    unsigned answer_stall_s;
    unsigned answer_rate_min; /* minimum rate in bytes per second in each interval ... */
    unsigned answer_rate_s;   /* ... of this length */
    /* Limits on the bytes read from a client after its last response, which are read only so that
     * it can receive that response. */
    uint64_t linger_max_bytes;
    unsigned linger_s;
    unsigned linger_stall_s; /* maximum pause between bytes */
};

/* Result of a connection's turn, or of a step of the turn. */
enum turn {
    TURN_GOES_ON, /* there is more to do */
    TURN_WAITS,   /* waits for the socket, or to be posted */
    TURN_ENDS,    /* close the connection; it must not be posted any more */
    /* like TURN_ENDS, but the client may still be sending and must be able to read its last
     * response */
    TURN_LINGERS,
    TURN_SENT, /* a response was sent; internal to a protocol, never returned by turn() */
};

/* Maximum number of steps in a connection's turn (connection_turn_steps()): while all ready
 * connections belong to one account, and while several accounts take turns. For example, a step
 * sends 128 KiB of a response or handles a message of 1 MiB. */
#define TURN_STEPS_MAX    32
#define TURN_STEPS_BESIDE 4

struct net_protocol {
    const char *name; /* for thread names: "http" */
    /* size of a struct that starts with a struct connection; zeroed before begin() */
    size_t connection_bytes;
    /* Creates the state that a worker shares among its connections (connection_worker_state());
     * NULL if the protocol needs none. Main thread. */
    void *(*worker_state_new)(void);
    void (*worker_state_free)(void *state);
    void (*begin)(struct connection *connection);
    enum turn (*turn)(struct connection *connection);
    void (*posted)(struct connection *connection);
    void (*round)(void *worker_state); /* NULL if nothing is batched */
    void (*end)(struct connection *connection);
};

/* Return the number of threads and of workers of a server with these limits. */
unsigned net_threads(const struct net_limits *limits);
unsigned net_workers(const struct net_limits *limits);
/* Returns the maximum number of descriptors that the server has open: for its connections, for
 * those it is refusing or closing, and for itself. Makes no system call if the number of workers is
 * set. */
unsigned net_descriptors(const struct net_limits *limits);

/* A secret shared by both ends of a connection and used instead of certificates: TLS 1.3 with a
 * pre-shared key and a fresh key exchange, in which each end proves that it has the secret. rfc:
 * 8446 2.2; decision: 948 */
#define NET_KEY_BYTES 32u
/* Two while a secret is being replaced */
#define NET_KEYS_MAX  2u
struct net_secrets {
    unsigned count;
    uint8_t of[NET_KEYS_MAX][NET_KEY_BYTES]; /* the first is used to connect; all are accepted */
};
struct net_key;
/* Creates the credentials for both directions. `name` and the id of the secret are sent in clear;
 * the name must be the same at both ends. Returns NULL and *ret_problem (static) on failure. Main
 * thread. */
struct net_key *net_key_new(const char *name, const struct net_secrets *secrets,
                            const char **ret_problem);
/* Replaces the secrets for new connections. Existing connections stay open
 * (connection_key_is_valid()). Returns false with *ret_problem (static) and changes nothing on
 * failure. Thread-safe. */
bool net_key_renew(struct net_key *key, const struct net_secrets *secrets,
                   const char **ret_problem);
/* Returns the ids of the current secrets; 0 for none. Thread-safe. */
void net_key_ids(struct net_key *key, uint32_t ids[NET_KEYS_MAX]);
/* Returns the id of a secret: the first bytes of its SHA-256. Never 0. */
uint32_t net_key_id(const uint8_t secret[NET_KEY_BYTES]);
/* Frees the credentials, once no connection uses them. Does nothing for NULL. */
void net_key_free(struct net_key *key);

/* Addresses of proxies. Both lists may contain the same address. */
struct net_proxies {
    /* Proxies that are trusted to report their clients within the protocol (HTTP headers). The
     * limit per address applies to their clients, not to the proxies. */
    struct address_list trusted;
    /* Proxies whose connections start with a PROXY protocol header, before any TLS, and then count
     * as connections of the client in the header. A connection without the header is closed. The
     * server never guesses whether there is a header: behind a proxy that sends none, a client
     * could send one itself. source: proxy-protocol.txt 2, decision: 363 */
    struct address_list introducing;
};

struct net_listen {
    const char *host;     /* numeric or a name; "0.0.0.0", "::1", "localhost" */
    uint16_t port;        /* 0 means any free port */
    const char *cert_pem; /* contents, not path; NULL without TLS */
    const char *key_pem;
    /* used instead of a certificate, to serve only peers that have the key; or NULL */
    struct net_key *key;
    /* path of a Unix socket (net/local.h) to listen on, in place of all other members; or NULL */
    const char *local_path;
    const struct net_proxies *proxies; /* outlives the server; or NULL */
};

/* Starts one listener with its own workers and acceptor. `context` is passed to the protocol
 * (connection_context()). On failure returns NULL and *ret_problem, a message for the operator that
 * is valid until the next call. Main thread. */
struct net_server *net_start(const struct net_listen *listen, const struct net_limits *limits,
                             const struct net_protocol *protocol, void *context,
                             const char **ret_problem);
/* Replaces the certificate and key for new connections; existing connections keep theirs. The
 * server must use TLS. On failure returns false with *ret_problem like net_start(), and changes
 * nothing. Main thread. */
bool net_renew_certificate(struct net_server *server, const char *cert_pem, const char *key_pem,
                           const char **ret_problem);
/* Returns the number of connections of a worker, or -1 if there is no worker with this number.
 * Thread-safe. */
int net_worker_connections(struct net_server *server, unsigned worker);
uint16_t net_port(const struct net_server *server);
/* Returns true once net_stop() has been called; no request may be started after that.
 * Thread-safe. */
bool net_is_stopping(const struct net_server *server);
/* Closes connections opened by the server that have a tag in [first, end). An idle connection that
 * is just being claimed for a request is not closed. Thread-safe. */
enum cut_which { CUT_IDLE, CUT_ALL };
void net_cut_outgoing(struct net_server *server, uint64_t first, uint64_t end,
                      enum cut_which which);
/* Waits up to `ms` until the server has no connections. Returns false if it still has some. Main
 * thread. */
bool net_await_none(struct net_server *server, unsigned ms);
/* Stops accepting connections, gives requests in progress up to grace_s to end, and closes the
 * remaining connections. Returns when the last connection is closed, so everything that they wait
 * for must still be running. Main thread. */
void net_stop(struct net_server *server, unsigned grace_s);

#endif
