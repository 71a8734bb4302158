/* Functions that a protocol (net/net.h) calls for its connections. Called on the connection's
 * worker, during the connection's turn, unless noted otherwise. */
#ifndef LAGRA_NET_CONNECTION_H
#define LAGRA_NET_CONNECTION_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/address.h"
#include "net/net.h"

struct iovec;
struct gnutls_session_int; /* a gnutls_session_t points to it */

/* What the peer must do before a deadline */
enum phase {
    /* start a request, or close; the connection is idle, and may be closed for a new one */
    PHASE_REQUEST,
    /* send the rest of its request; an unauthenticated connection may be closed for a new one */
    PHASE_BODY,
    PHASE_OURS,    /* nothing; the server is working or waiting */
    PHASE_ANSWER,  /* receive its response */
    PHASE_CLOSE,   /* close, after its last response (cut.c) */
    PHASE_CONNECT, /* outgoing connection: accept the connection and complete the handshake */
};

/* Bytes that were received but not consumed yet, as a range of a buffer. During the connection's
 * turn this is the worker's buffer, otherwise the connection's own, which is allocated only while
 * it contains bytes. */
struct input {
    char *buffer; /* or NULL */
    size_t from, to, capacity;
    bool is_borrowed;
};

/* The first member of a protocol's own struct. The protocol only reads the members marked "to
 * read". */
struct connection {
    unsigned magic;
    struct net_server *server;           /* to read */
    const struct net_protocol *protocol; /* the server's; an outgoing connection has its own */
    /* worker that serves it; only that worker's thread moves it to another one */
    _Atomic(struct worker *) worker;
    int fd;
    /* To read, from the protocol's begin() on: address of the client if a proxy introduced it
     * (net.h), else of the peer. */
    char peer[ADDRESS_TEXT_MAX];
    uint8_t address[ADDRESS_SIZE];
    bool is_forwarded;     /* a proxy introduced the client */
    bool is_forwarded_tls; /* the client connected to the proxy over TLS */
    bool
        /* the peer is a trusted proxy, which may send requests for others */
        speaks_for_others;
    bool refused;         /* to read: admitted only to receive a refusal */
    uint64_t accepted_ms; /* constant */
    /* Constants of an outgoing connection (outgoing.c). */
    bool is_outgoing;
    uint64_t tag;
    /* Protected by server->lock. */
    struct connection
        *next; /* list of connections with the same trust, in the order they were accepted */
    struct connection *previous;
    struct connection *next_of_address; /* in a bucket of server->addresses */
    bool is_counted;                    /* is in a bucket, as a connection of `address` */
    bool trusted;    /* set only by the worker, which reads it without the lock */
    bool is_evicted; /* its socket was shut down to free the slot */
    /* Written by the worker, read by the acceptor; milliseconds of the monotonic clock. */
    _Atomic int phase;
    /* start of the phase; for a body, shifted by the server's pauses */
    _Atomic uint64_t since_ms;
    _Atomic uint64_t last_ms;    /* body: time at which the last bytes arrived */
    _Atomic uint64_t body_bytes; /* body: number of bytes so far */
    _Atomic bool answer_begins;  /* set by the worker, cleared by the acceptor */
    /* Used by the acceptor during a response: bytes that the client's machine has acknowledged, and
     * when the last ones were. */
    uint64_t acked_bytes;
    uint64_t acked_ms;
    uint64_t window_bytes; /* at the start of the current interval of answer_rate_s */
    uint64_t window_ms;
    uint64_t
        /* start of the pause of the body, or 0 if it is not paused; set by the worker, cleared
         * by the thread that ends the pause */
        paused_ms;
    /* Used by the worker. */
    /* next in worker->posted; written by the thread that posts it */
    struct connection *next_posted;
    struct connection *next_ready;  /* next in its lane, if ready */
    struct gnutls_session_int *tls; /* to read; NULL without TLS */
    struct tls *tls_of;             /* its credentials; referenced while there is a session */
    struct tls_ahead *tls_ahead;    /* set during tls_receive(); otherwise NULL */
    struct mbuffer_st *tls_record;  /* decrypted record, not read to its end, or NULL */
    size_t tls_record_read;         /* bytes read of it */
    struct input input;             /* to use, by the functions below */
    /* awaits a PROXY protocol header; begin() was not called yet */
    bool awaits_header;
    struct worker *moves_to; /* worker to move to at the next post, or NULL */
    bool is_moving;          /* posted since moves_to was set; its turn moves it */
    bool is_watched;         /* in the epoll set */
    bool is_connecting;      /* outgoing connection that the peer has not accepted yet */
    bool is_dropped;         /* connection_drop() was called */
    bool begun;
    bool is_ready; /* in a lane, waiting for a turn */
    uint8_t lane;  /* connections of one lane share turns (lanes.h) */
    bool lingers;  /* lingering (cut.c); counted in server->lingering */
    /* To read: state of the socket, from epoll and the last calls. */
    bool readable;
    bool writable;
    bool ended;          /* closed by either side, so reading will reach the end of the stream */
    bool tls_is_up;      /* the handshake is complete */
    bool tls_has_unsent; /* GnuTLS holds a record that the socket did not accept */
};

/* Return the argument of net_start(), and the protocol's data for the worker. */
void *connection_context(const struct connection *connection);
void *connection_worker_state(const struct connection *connection);
/* Returns the worker's buffer for bytes to send, of CONNECTION_BLOCK_BYTES, valid until the turn
 * ends. Sending a file may overwrite it. */
char *connection_block(const struct connection *connection);
/* Maximum number of bytes received, and prepared for sending, at a time. Measured over loopback
 * with long bodies: 32 KiB cost a tenth more CPU, and larger blocks gain too little for their
 * memory. */
#define CONNECTION_INPUT_BYTES ((size_t)128 * 1024)
#define CONNECTION_BLOCK_BYTES ((size_t)128 * 1024)

/* Returns the maximum number of steps of a turn. */
unsigned connection_turn_steps(const struct connection *connection);
/* Returns true if this is the last turn of the round, so that round() is called next. */
bool connection_is_last(const struct connection *connection);
/* Makes the worker call posted() and give the connection a turn. Thread-safe while the connection
 * cannot end. Must not be called again before posted() has been called. */
void connection_post(struct connection *connection);
/* Returns a value that identifies the connection's worker. Thread-safe while the connection cannot
 * end. */
const void *connection_place(const struct connection *connection);
/* Moves the connection to another worker of the server, as returned by connection_place(), at its
 * next post; posted() is called there. The caller must post it. */
void connection_move(struct connection *connection, const void *place);
/* Sets the account (or the like) that the connection serves, identified by a pointer. Connections
 * with the same pointer share a lane (lanes.h). The initial value NULL means unknown. */
void connection_serves_for(struct connection *connection, const void *whose);
/* Marks the connection as authenticated. Such connections are closed for new ones only after all
 * others. */
void connection_trust(struct connection *connection);

/* Returns true if the connection was authenticated with the current credentials of the key. Called
 * on its worker. */
bool connection_key_is_newest(const struct connection *connection, struct net_key *key);
/* Returns true if the peer of an accepted connection used a secret that is still accepted. Called
 * on its worker. */
bool connection_key_is_valid(const struct connection *connection);

/* Calls a function of the owner about every NET_TICK_MS, on the worker of a connection, until it is
 * stopped (ticks.c). The worker sleeps no longer than that meanwhile. */
#define NET_TICK_MS 1000u
struct net_tick {
    void (*run)(struct net_tick *tick); /* may stop it */
    struct net_tick *next, **link;      /* owned by ticks.c; link is NULL while it is stopped */
};
/* Starts a tick, unless it was started. Called on the worker. */
void net_tick_start(struct connection *of, struct net_tick *tick);
/* Stops it, unless it was stopped or is zeroed. Called on the worker. */
void net_tick_stop(struct net_tick *tick);

/* ---- connections to other servers (outgoing.c) ---- */

struct net_peer {
    uint8_t address[ADDRESS_SIZE];
    uint16_t port;
    struct net_key *key; /* outlives the connection */
    uint64_t tag;        /* for net_cut_outgoing() */
};
/* Opens an outgoing connection, which the worker of `of` serves with another protocol. The
 * protocol's functions are called as for an accepted connection: begin() before this function
 * returns, turn() once the peer has accepted and the handshake is complete, end() even if that
 * never happens. While it waits for a request (connection_awaits_request()) it is idle, and is
 * closed after OUTGOING_IDLE_MS or when the server stops. It has no other deadlines; the kernel
 * closes it if the peer's machine stops acknowledging.
 *
 * Returns NULL if the server already has net_limits.outgoing_max outgoing connections or no
 * descriptors are left. Called on a worker. */
struct connection *connection_open(struct connection *of, const struct net_protocol *protocol,
                                   const struct net_peer *peer);
/* Idle time after which the connection is closed. The peer allows a longer idle time, so that it
 * never closes a connection that is about to be reused. */
#define OUTGOING_IDLE_MS    20000u
#define OUTGOING_CONNECT_MS 3000u
/* Gives a connection of the same worker a turn without an event of its socket. Called on the
 * worker. */
void connection_wake(struct connection *connection);
/* Closes a connection of the same worker in its next turn, after end(). Called on the worker. */
void connection_drop(struct connection *connection);

/* ---- proxies (connections.c) ---- */

/* Returns the trusted proxies, or NULL if none are configured. */
const struct net_proxies *connection_proxies(const struct connection *connection);
/* Counts the connection of a trusted proxy as one of this address, until connection_served().
 * Returns false without counting it if the address already has its maximum number of connections.
 * Called on the worker. */
bool connection_serves(struct connection *connection, const uint8_t address[ADDRESS_SIZE]);
void connection_served(struct connection *connection);

/* ---- progress (limits.c) ---- */

/* Record the connection's progress. connection_resumes_body() is also called by the thread that
 * ends a pause. */
void connection_awaits_request(struct connection *connection);
void connection_awaits_body(struct connection *connection);
void connection_pauses(struct connection *connection);
void connection_resumes_body(struct connection *connection);
void connection_got_body(struct connection *connection, size_t bytes);
/* Like connection_pauses(), but the client's next bytes end the pause, without a call of
 * connection_resumes_body(). */
void connection_got_part(struct connection *connection, size_t bytes);
void connection_is_ours(struct connection *connection);
/* Ends the wait for a request of an idle outgoing connection. Returns false if it is being
 * closed. */
bool connection_claim(struct connection *connection);
/* Records that a response, or a part of it that the server had to wait for, starts waiting for the
 * client. */
void connection_awaits_taking(struct connection *connection);

/* ---- bytes of the socket (transport.c) ---- */

/* Returns true if the connection of a writable socket has been established, false if it has
 * failed. Thread-safe. */
bool transport_is_connected(int fd);
/* Results other than a number of bytes */
/* would block; `readable` or `writable` of the connection is cleared */
#define TRANSPORT_WAITS  (-1)
#define TRANSPORT_FAILED (-2)

/* returns  1..size, 0 at the end of the stream, TRANSPORT_WAITS or TRANSPORT_FAILED */
ssize_t transport_receive(struct connection *connection, char *to, size_t size);
/* Returns true if the client has closed the connection: after a reset, or if its stream has ended
 * and nothing has arrived for a second. (A client that only shuts down its side of the connection
 * does so right after sending a request.) */
bool transport_is_abandoned(const struct connection *connection);
/* Sends the parts in order. After TRANSPORT_WAITS, or if only some bytes were sent, the next call
 * of this or the next function must start with the first byte that was not sent.
 *
 * follows  more will be sent at once, so the kernel need not send a short packet yet
 * returns  number of bytes sent, TRANSPORT_WAITS or TRANSPORT_FAILED */
ssize_t transport_send(struct connection *connection, const struct iovec *parts, size_t count,
                       bool follows);
/* Like transport_send(), for a part of a file. Returns 0 if the file is too short. */
ssize_t transport_send_file(struct connection *connection, int fd, uint64_t offset, size_t size);

/* ---- received data (input.c) ---- */

/* Returns the received bytes. */
static inline struct bytes input_bytes(const struct input *input)
{
    return bytes_of(input->buffer ? input->buffer + input->from : "", input->to - input->from);
}
/* Consumes the first bytes. */
void input_use(struct input *input, size_t size);
/* Consumes the first bytes, and wipes them. */
void input_wipe(struct input *input, size_t size);
/* Receives at most `most` bytes after those in the buffer, which must have space. Returns the
 * results of transport_receive(). */
ssize_t input_receive(struct connection *connection, size_t most);

#endif
