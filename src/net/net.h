/* Servers of connections over TCP, plain or with TLS, of whatever protocol: an acceptor, places for
 * connections, workers, deadlines. This room knows no protocol; http/ and others stand on it.
 *
 * A protocol is a small table of functions (struct net_protocol). They are called on a worker, for a
 * connection that has its turn, and never block:
 *
 *   begin()    once, before the first turn, when it is known whose connection it is
 *   turn()     there may be something to do: bytes arrived, the socket takes bytes again, it was posted
 *   posted()   connection_post() was called, perhaps by another thread; a turn follows
 *   round()    all connections that were ready have had their turn: what they left to be done for several of
 *              them at once
 *   end()      once, before the socket is closed, if begin() was called
 *
 * In its turn a protocol receives and sends (net/connection.h), and says by what phase it left the
 * connection in what the client owes now: the acceptor closes who is late with that.
 *
 * What a server does itself:
 *   - each connection goes to the worker that has the fewest
 *   - of too many connections, idle ones are closed for new ones: first those on which nobody was
 *     authenticated. If none is idle, a new one is passed to the protocol as refused, to be answered so
 *     and closed
 *   - the same among the connections of one address, if there is a limit for that
 *   - a proxy may introduce its client, by the PROXY protocol (struct net_proxies)
 *   - the handshake of TLS
 *   - idle and slow connections are cut
 *   - a connection may close by and by, when its client is still sending (linger.c) */
#ifndef LAGRA_NET_NET_H
#define LAGRA_NET_NET_H

#include "base/address.h"

struct connection;
struct net_server;

struct net_limits {
    unsigned workers; /* 0: one a core */
    unsigned connections_max;
    unsigned connections_per_address_max; /* 0: as many as in all */
    unsigned outgoing_max;  /* connections that its protocols open (connection_open()) */
    unsigned stranger_s;    /* without authentication for so long: closed; 0: that may stay so */
    unsigned idle_s;        /* a connection that does not begin a request for so long is closed */
    unsigned body_stall_s;  /* no byte of the rest of it for so long: closed */
    unsigned body_rate_min; /* bytes a second on average ... */
    unsigned body_rate_grace_s; /* ... once the rest has taken so long */
    unsigned answer_stall_s;    /* the client took no byte of its answer for so long: closed */
    unsigned answer_rate_min;   /* bytes a second in every stretch of ... */
    unsigned answer_rate_s;     /* ... so long: else closed */
    /* Of what a client still sends after its last answer so much is read, for so long, that it can
     * read that answer. */
    uint64_t linger_max_bytes;
    unsigned linger_s;
    unsigned linger_stall_s; /* nothing came for so long: closed */
};

/* What a turn of a connection, or a step of one, came to. */
enum turn {
    TURN_GOES_ON, /* there is more to do */
    TURN_WAITS,   /* for the socket, or to be posted */
    TURN_ENDS,    /* the connection is to be closed: nobody may post it any more */
    TURN_LINGERS, /* so too, but its client may still be sending, and is to read its last answer */
    TURN_SENT,    /* an answer is sent: inside of a protocol only, never what its turn() returns */
};

/* Steps that turn() takes of one connection before the next one's turn (connection_turn_steps()): while all serve the same, and
 * while others have turns too. A step may be 128 KiB of an answer, or a message of a MiB. */
#define TURN_STEPS_MAX    32
#define TURN_STEPS_BESIDE 4

struct net_protocol {
    const char *name;        /* of its threads: "http" */
    size_t connection_bytes; /* of a struct that begins with a struct connection; it comes zeroed */
    /* What a worker keeps for all its connections (connection_worker_state()); NULL: nothing. Main
     * thread. */
    void *(*worker_state_new)(void);
    void (*worker_state_free)(void *state);
    void (*begin)(struct connection *connection);
    enum turn (*turn)(struct connection *connection);
    void (*posted)(struct connection *connection);
    void (*round)(void *worker_state); /* NULL: nothing is left so */
    void (*end)(struct connection *connection);
};

/* Threads of a server with these limits. */
unsigned net_threads(const struct net_limits *limits);
unsigned net_workers(const struct net_limits *limits);
/* The most descriptors that it has open: its connections, those beyond the limit that are being refused
 * or closed, and its own. Cheap if the number of workers is set. */
unsigned net_descriptors(const struct net_limits *limits);

/* A secret that both ends of a connection have, in place of certificates: TLS 1.3 with a pre-shared key and a fresh key
 * exchange, so that each end knows that the other has the secret too. rfc: 8446 2.2; decision: 948 */
#define NET_KEY_BYTES 32u
struct net_key;
/* Creates the credentials of both directions.
 *
 * name     sent in clear; both ends must have the same
 * returns  NULL and *ret_problem (static). Main thread. */
struct net_key *net_key_new(const char *name, const uint8_t secret[NET_KEY_BYTES],
                            const char **ret_problem);
/* Frees them, once no connection uses them any more. NULL: nothing. */
void net_key_free(struct net_key *key);

/* Peers that stand before their clients. Both may name the same. */
struct net_proxies {
    /* What they say of their clients within the protocol (HTTP's headers) is believed. A limit for one address is
     * for their clients, not for them. */
    struct address_list trusted;
    /* Their connections begin with a header of the PROXY protocol, before TLS too, and are from then on those of the
     * client that it names; one that begins otherwise is closed. A header is not guessed at: who is passed through
     * by a proxy that writes none could write one. source: proxy-protocol.txt 2, decision: 363 */
    struct address_list introducing;
};

struct net_listen {
    const char *host;     /* numeric or a name; "0.0.0.0", "::1", "localhost" */
    uint16_t port;        /* 0: any free one */
    const char *cert_pem; /* contents, not path; NULL: without TLS */
    const char *key_pem;
    struct net_key
        *key; /* in place of a certificate: only peers that have it are served; NULL: none */
    const char
        *local_path; /* not NULL: a Unix socket there (net/local.h), in the place of all else */
    const struct net_proxies *proxies; /* as long as the server; NULL: none */
};

/* Starts one listener with its own workers and acceptor.
 *
 * context  the protocol's, see connection_context()
 * returns  NULL on failure, and *ret_problem: words for the operator, valid until the next call.
 * Main thread. */
struct net_server *net_start(const struct net_listen *listen, const struct net_limits *limits,
                             const struct net_protocol *protocol, void *context,
                             const char **ret_problem);
/* From now on connections begin with this certificate and key; those under way go on with theirs. Of a server
 * with TLS. False, and nothing is changed: *ret_problem as of net_start(). Main thread. */
bool net_renew_certificate(struct net_server *server, const char *cert_pem, const char *key_pem,
                           const char **ret_problem);
/* How many connections a worker has, by its number; -1: there is no such worker. Any thread. */
int net_worker_connections(struct net_server *server, unsigned worker);
uint16_t net_port(const struct net_server *server);
/* Whether net_stop() was called: no request is to be begun any more. Any thread. */
bool net_is_stopping(const struct net_server *server);
/* Closes connections that the server has opened with a tag in [first, end). An idle one either carries a request or is
 * closed, never both. Thread-safe. */
enum cut_which { CUT_IDLE, CUT_ALL };
void net_cut_outgoing(struct net_server *server, uint64_t first, uint64_t end,
                      enum cut_which which);
/* Waits until the server has no connections, for at most `ms`. Returns false if it still has some. Main thread. */
bool net_await_none(struct net_server *server, unsigned ms);
/* Accepts no more; lets requests under way end for at most grace_s; cuts the others. Returns when
 * the last connection is closed, so what they wait for must still be running. Main thread. */
void net_stop(struct net_server *server, unsigned grace_s);

#endif
