/* The functions that a protocol (net/net.h) calls for its connections: on the connection's worker,
 * during the connection's turn, unless noted otherwise. */
#ifndef LAGRA_NET_CONNECTION_H
#define LAGRA_NET_CONNECTION_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/address.h"
#include "net/net.h"

struct iovec;
struct gnutls_session_int; /* a gnutls_session_t points to it */

/* What the client must do next, which has a deadline. */
enum phase {
    PHASE_REQUEST, /* start a request, or close: it is idle, and may be closed for a new one */
    PHASE_BODY, /* send the rest of its request; if unauthenticated, it may be closed for a new one */
    PHASE_OURS,    /* nothing: the server works or waits */
    PHASE_ANSWER,  /* receive its response */
    PHASE_CLOSE,   /* close: it has its last response (cut.c) */
    PHASE_CONNECT, /* outgoing connection: accept it, and complete the handshake */
};

/* Bytes that were received and not consumed yet: a range of a buffer. During the connection's turn it
 * is the worker's buffer. Otherwise it is the connection's own, allocated only while it has bytes. */
struct input {
    char *buffer; /* NULL: none */
    size_t from, to, capacity;
    bool is_borrowed;
};

/* The first member of a protocol's own struct. The protocol only reads the members marked "to
 * read". */
struct connection {
    unsigned magic;
    struct net_server *server;           /* to read */
    const struct net_protocol *protocol; /* the server's; of an outgoing connection its own */
    _Atomic(struct worker *) worker;     /* serves it; only its thread moves it to another worker */
    int fd;
    /* To read, from the protocol's begin() on: whose it is. Where a proxy introduced its client (net.h), the
     * client's, else the peer's. */
    char peer[ADDRESS_TEXT_MAX];
    uint8_t address[ADDRESS_SIZE];
    bool is_forwarded;     /* a proxy introduced the client */
    bool is_forwarded_tls; /* and connected to the proxy over TLS */
    bool
        speaks_for_others; /* the peer is a trusted proxy: its requests may be on behalf of others */
    bool refused;          /* to read: admitted only to be refused with a response */
    uint64_t accepted_ms;  /* constant */
    /* Constants of an outgoing connection (outgoing.c). */
    bool is_outgoing;
    uint64_t tag;
    /* Under server->lock. */
    struct connection
        *next; /* list of connections that are equally trusted, in the order they were accepted */
    struct connection *previous;
    struct connection *next_of_address; /* in a bucket of server->addresses */
    bool is_counted;                    /* it is in a bucket, as a connection of `address` */
    bool trusted;    /* set only by the worker, which reads it without the lock */
    bool is_evicted; /* its socket was shut down to make room */
    /* Written by the worker, read by the acceptor; milliseconds of the monotonic clock. */
    _Atomic int phase;
    _Atomic uint64_t since_ms;   /* start of the phase; of a body, without pauses by the server */
    _Atomic uint64_t last_ms;    /* body: the last byte arrived */
    _Atomic uint64_t body_bytes; /* body: so far */
    _Atomic bool answer_begins;  /* set by the worker, cleared by the acceptor */
    /* Used by the acceptor, for a response: bytes that the client's machine had acknowledged, and when. */
    uint64_t acked_bytes;
    uint64_t acked_ms;
    uint64_t window_bytes; /* at the start of the current interval of answer_rate_s */
    uint64_t window_ms;
    uint64_t
        paused_ms; /* start of the pause of the body, or 0 if it is not paused; worker, or the resuming thread */
    /* Used by the worker. */
    struct connection *next_posted; /* in worker->posted: written by the thread that posts it */
    struct connection *next_ready;  /* in its lane, if it is ready */
    struct gnutls_session_int *tls; /* to read; NULL: plain */
    struct tls *tls_of;             /* its certificate; held while there is a session */
    struct tls_ahead *tls_ahead;    /* during tls_receive(), or NULL */
    struct input input;             /* to use, by the functions below */
    bool awaits_header;             /* of the PROXY protocol; begin() was not called yet */
    struct worker *moves_to;        /* from the next post on, or NULL */
    bool is_moving;                 /* posted since moves_to was set: its turn moves it */
    bool is_watched;                /* in the epoll set */
    bool is_connecting;             /* an outgoing one, not yet accepted */
    bool is_dropped;                /* connection_drop() */
    bool begun;
    bool is_ready; /* in a lane, waiting for a turn */
    uint8_t lane;  /* connections of one lane share turns (lanes.h) */
    bool lingers;  /* cut.c; counts as one of server->lingering */
    /* To read: state of the socket, according to epoll and the last calls. */
    bool readable;
    bool writable;
    bool ended;          /* closed by either side: reading will reach the end */
    bool tls_is_up;      /* the handshake is complete */
    bool tls_has_unsent; /* GnuTLS has a record that the socket did not accept */
};

/* Return the argument of net_start(), and the protocol's data for the worker. */
void *connection_context(const struct connection *connection);
void *connection_worker_state(const struct connection *connection);
/* Returns the worker's buffer for bytes to send, of CONNECTION_BLOCK_BYTES, valid until the turn ends.
 * Sending a file may overwrite it. */
char *connection_block(const struct connection *connection);
/* Number of bytes received, and prepared for sending, at a time. Measured over loopback with long
 * bodies: 32 KiB cost a tenth more CPU, and larger blocks gain too little for their memory. */
#define CONNECTION_INPUT_BYTES ((size_t)128 * 1024)
#define CONNECTION_BLOCK_BYTES ((size_t)128 * 1024)

/* Returns the maximum number of steps of a turn. */
unsigned connection_turn_steps(const struct connection *connection);
/* Ends the round after this turn: round() is called before any other connection has a turn. */
bool connection_is_last(const struct connection *connection);
/* Makes the worker call posted(), and gives the connection a turn. Thread-safe while the connection
 * cannot end; must not be called again before posted() was called. */
void connection_post(struct connection *connection);
/* Returns a value that is equal for connections of the same worker. Thread-safe while the connection
 * cannot end. */
const void *connection_place(const struct connection *connection);
/* Moves the connection to the worker with that index (of the same server) at its next post, where
 * posted() is then called. The caller must post it. */
void connection_move(struct connection *connection, const void *place);
/* Sets what the connection serves (an account, for example), identified by its address. Connections
 * that serve the same share the turns of a lane (lanes.h). NULL, initially: unknown. */
void connection_serves_for(struct connection *connection, const void *whose);
/* Marks the connection as authenticated: it is closed for a new one only after all others. */
void connection_trust(struct connection *connection);

/* Returns true if the connection was authenticated with the current credentials of the key. Called
 * on its worker. */
bool connection_key_is_newest(const struct connection *connection, struct net_key *key);
/* Returns true if the peer of an accepted connection used a secret that is still accepted. Called
 * on its worker. */
bool connection_key_is_valid(const struct connection *connection);

/* ---- connections to other servers (outgoing.c) ---- */

struct net_peer {
    uint8_t address[ADDRESS_SIZE];
    uint16_t port;
    struct net_key *key; /* outlives the connection */
    uint64_t tag;        /* net_cut_outgoing() */
};
/* Opens a connection that the worker of `of` serves by another protocol, whose functions are called as
 * for an accepted connection: begin() before this returns, turn() once the peer has accepted and the
 * handshake is complete, end() also if neither happened. While it waits for a request
 * (connection_awaits_request()) it is idle, and is closed after OUTGOING_IDLE_MS or when the server
 * stops. It has no other deadlines: the kernel closes it if the peer's machine does not acknowledge.
 *
 * Returns NULL if the server has net_limits.outgoing_max of them, or no descriptors are left. Called on
 * a worker. */
struct connection *connection_open(struct connection *of, const struct net_protocol *protocol,
                                   const struct net_peer *peer);
/* The owner keeps idle connections open for longer, so that it never closes one that is about to be
 * used again. */
#define OUTGOING_IDLE_MS    20000u
#define OUTGOING_CONNECT_MS 3000u
/* Gives a connection of the same worker a turn without an event of its socket. Called on the worker. */
void connection_wake(struct connection *connection);
/* Closes a connection of the same worker in its next turn, after end(). Called on the worker. */
void connection_drop(struct connection *connection);

/* ---- proxies (connections.c) ---- */

/* Returns the trusted proxies, or NULL if there are none. */
const struct net_proxies *connection_proxies(const struct connection *connection);
/* Counts the connection of a trusted proxy as one of this address, until connection_served(). Returns
 * false, and does not count it, if the address has its maximum number. Called on the worker. */
bool connection_serves(struct connection *connection, const uint8_t address[ADDRESS_SIZE]);
void connection_served(struct connection *connection);

/* ---- progress (limits.c) ---- */

/* Record progress. connection_resumes_body() is also called by the thread that ends a pause. */
void connection_awaits_request(struct connection *connection);
void connection_awaits_body(struct connection *connection);
void connection_pauses(struct connection *connection);
void connection_resumes_body(struct connection *connection);
void connection_got_body(struct connection *connection, size_t bytes);
/* Like connection_pauses_body(), if connection_resumes_body() will not be called: the client's next
 * bytes end the pause. */
void connection_got_part(struct connection *connection, size_t bytes);
void connection_is_ours(struct connection *connection);
/* Ends the wait for a request of an idle outgoing connection. Returns false if it is being closed. */
bool connection_claim(struct connection *connection);
/* Records that the socket accepts no more of a response for now. */
void connection_awaits_taking(struct connection *connection);

/* ---- bytes of the socket (transport.c) ---- */

/* Returns true if the connection of a writable socket was established, false if it has failed. Thread-safe. */
bool transport_is_connected(int fd);
/* Results other than a number of bytes. */
#define TRANSPORT_WAITS  (-1) /* would block: the connection's readable or writable is cleared */
#define TRANSPORT_FAILED (-2)

/* returns  1..size, 0 at the end of the stream, TRANSPORT_WAITS or TRANSPORT_FAILED */
ssize_t transport_receive(struct connection *connection, char *to, size_t size);
/* Returns true if the client has closed the connection: after a reset, or if its stream has ended
 * and it has sent nothing for a second. A client that only shuts down its side of the connection
 * sends its request just before. */
bool transport_is_abandoned(const struct connection *connection);
/* Sends the parts in order. After TRANSPORT_WAITS, or if not all was sent, the next call must start
 * with the first byte that was not sent, through either function.
 *
 * follows  more will be sent at once: the kernel need not send a short packet yet
 * returns  number of bytes sent, TRANSPORT_WAITS or TRANSPORT_FAILED */
ssize_t transport_send(struct connection *connection, const struct iovec *parts, size_t count,
                       bool follows);
/* Like transport_send(), for a part of a file. Returns 0 if the file is too short. */
ssize_t transport_send_file(struct connection *connection, int fd, uint64_t offset, size_t size);

/* ---- what was received (input.c) ---- */

/* Returns the received bytes. */
static inline struct bytes input_bytes(const struct input *input)
{
    return bytes_of(input->buffer ? input->buffer + input->from : "", input->to - input->from);
}
/* Consumes the first bytes. */
void input_use(struct input *input, size_t size);
/* Receives at most `most` bytes after those in the buffer, which must have space. Returns like
 * transport_receive(). */
ssize_t input_receive(struct connection *connection, size_t most);

#endif
