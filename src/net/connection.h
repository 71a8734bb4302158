/* What a protocol (net/net.h) does with its connections. All but connection_post() on the worker of
 * the connection, while that has its turn. */
#ifndef LAGRA_NET_CONNECTION_H
#define LAGRA_NET_CONNECTION_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/address.h"
#include "net/net.h"

struct iovec;
struct gnutls_session_int; /* a gnutls_session_t points to it */

/* What a connection owes us, so what it can be late with. */
enum phase {
    PHASE_REQUEST, /* to begin a request, or to close: it is idle, and may be closed for others */
    PHASE_BODY, /* the rest of its request: while nobody is authenticated it may be closed for others */
    PHASE_OURS,    /* nothing: we work or wait */
    PHASE_ANSWER,  /* to take its answer */
    PHASE_CLOSE,   /* to close: it has its last answer (linger.c) */
    PHASE_CONNECT, /* of an outgoing connection: to accept it, and to shake hands */
};

/* Bytes that were received and not used yet: a run of a buffer, which is the worker's while its
 * connection has its turn, else the connection's own, and there only while there is something to keep. */
struct input {
    char *buffer; /* NULL: none */
    size_t from, to, capacity;
    bool is_borrowed;
};

/* A protocol's own struct begins with one. It reads what is marked so, and writes nothing. */
struct connection {
    unsigned magic;
    struct net_server *server;           /* to read */
    const struct net_protocol *protocol; /* the server's; of an outgoing connection another one */
    _Atomic(struct worker *) worker;     /* its thread serves it, and alone makes it another's */
    int fd;
    /* To read, from the protocol's begin() on: whose it is. Where a proxy introduced its client (net.h), the
     * client's, else the peer's. */
    char peer[ADDRESS_TEXT_MAX];
    uint8_t address[ADDRESS_SIZE];
    bool is_forwarded;     /* a proxy introduced the client */
    bool is_forwarded_tls; /* and it came to the proxy by TLS */
    bool
        speaks_for_others; /* the peer is a trusted proxy: what it asks for may be on behalf of others */
    bool refused;          /* to read: admitted only to be answered so */
    uint64_t accepted_ms; /* constant */
    /* Constants of a connection that we have opened (outgoing.c). */
    bool is_outgoing;
    uint64_t tag;
    /* Under server->lock. */
    struct connection *next; /* of all that are as trusted, in the order of their accept */
    struct connection *previous;
    struct connection *next_of_address; /* in a bucket of server->addresses */
    bool is_counted;                    /* it is in one: as a connection of `address` */
    bool trusted;                       /* read by the worker without the lock: it alone sets it */
    bool is_evicted;                    /* its socket was shut down to make room */
    /* Written by the worker, read by the acceptor; milliseconds of the monotonic clock. */
    _Atomic int phase;
    _Atomic uint64_t since_ms;   /* the phase began; a body: without the time we paused it */
    _Atomic uint64_t last_ms;    /* body: the last byte came */
    _Atomic uint64_t body_bytes; /* body: so far */
    _Atomic bool answer_begins;  /* set by the worker, cleared by the acceptor */
    /* The acceptor's, of an answer: what the client's machine had acknowledged, and when. */
    uint64_t acked_bytes;
    uint64_t acked_ms;
    uint64_t window_bytes; /* at the begin of the current stretch of answer_rate_s */
    uint64_t window_ms;
    uint64_t paused_ms; /* worker or who resumes: body paused since, 0: not */
    /* The worker's. */
    struct connection *next_posted; /* in worker->posted: written by the thread that posts it */
    struct connection *next_ready;  /* in its lane, of those that have a turn */
    struct gnutls_session_int *tls; /* to read; NULL: plain */
    struct tls *tls_of;             /* its certificate; held while there is a session */
    struct tls_ahead *tls_ahead;    /* during tls_receive(), or NULL */
    struct input input;             /* to use, by the functions below */
    bool awaits_header;             /* of the PROXY protocol; the protocol does not know it yet */
    struct worker *moves_to;        /* from the next post on; NULL: it stays */
    bool is_moving;                 /* it was posted since: its turn moves it */
    bool is_watched;                /* in the epoll set */
    bool is_connecting;             /* an outgoing one, not yet accepted */
    bool is_dropped;                /* connection_drop() */
    bool begun;
    bool is_ready; /* it has a turn to come: in a lane */
    uint8_t lane;  /* lanes.h: those of one lane share turns */
    bool lingers;  /* linger.c; counts as one of server->lingering */
    /* To read: what can be done with the socket, by epoll and the last calls. */
    bool readable;
    bool writable;
    bool ended;          /* by the client's side, or by us: reading will come to an end */
    bool tls_is_up;      /* the handshake is over */
    bool tls_has_unsent; /* GnuTLS has a record that the socket did not take */
};

/* What was given to net_start(); what the protocol keeps for the worker. */
void *connection_context(const struct connection *connection);
void *connection_worker_state(const struct connection *connection);
/* Memory of the worker for bytes on their way out, of CONNECTION_BLOCK_BYTES, until the turn ends. Sending
 * a file may use it. */
char *connection_block(const struct connection *connection);
/* What is received at once, and what is made to be sent at once. Measured over loopback with long bodies:
 * 32 KiB cost a tenth more CPU, and more than this gains less than it holds. */
#define CONNECTION_INPUT_BYTES ((size_t)128 * 1024)
#define CONNECTION_BLOCK_BYTES ((size_t)128 * 1024)

/* How many steps its turn may have. */
unsigned connection_turn_steps(const struct connection *connection);
/* No connection has its turn behind this one before round() is called. */
bool connection_is_last(const struct connection *connection);
/* Has posted() called, and gives a turn. Any thread, while the connection cannot end; not again before
 * posted() was called. */
void connection_post(struct connection *connection);
/* Says which worker serves it: equal of those that have one. Any thread, while the connection cannot end. */
const void *connection_place(const struct connection *connection);
/* Is served by the worker of that place (of the same server) from its next post on: posted() is called there. To be
 * posted by the caller. */
void connection_move(struct connection *connection, const void *place);
/* What it asks for is an account's, or something else's, identified by its address: those that ask for the same share the
 * turns of a worker with one another, and not with others. NULL: nothing is known, as at the beginning. */
void connection_serves_for(struct connection *connection, const void *whose);
/* Somebody has been authenticated on it: it is closed for a new one only after all others. */
void connection_trust(struct connection *connection);

/* ---- connections to other servers (outgoing.c) ---- */

struct net_peer {
    uint8_t address[ADDRESS_SIZE];
    uint16_t port;
    struct net_key *key; /* outlives the connection */
    uint64_t tag;        /* net_cut_outgoing() */
};
/* Opens a connection that the worker of `of` serves by another protocol, whose functions are called as for an accepted one:
 * begin() before this returns, turn() once the peer has accepted and both have shaken hands, end() also if that
 * never happened. While it awaits a request (connection_awaits_request()) it counts as idle, and is closed after
 * OUTGOING_IDLE_MS or when the server stops. Otherwise the server sets it no deadlines: the kernel ends it when the
 * peer's machine does not acknowledge.
 *
 * returns  NULL if the server has net_limits.outgoing_max of them, or without descriptors. Called on a worker. */
struct connection *connection_open(struct connection *of, const struct net_protocol *protocol,
                                   const struct net_peer *peer);
/* The owner's side keeps idle connections for longer, so that it never closes one that is just being used again. */
#define OUTGOING_IDLE_MS    20000u
#define OUTGOING_CONNECT_MS 3000u
/* Gives a connection of the same worker a turn, although nothing has happened to its socket. Called on the worker. */
void connection_wake(struct connection *connection);
/* Closes a connection of the same worker, in a turn of its own soon; before that, end(). Called on the worker. */
void connection_drop(struct connection *connection);

/* ---- proxies (connections.c) ---- */

/* The proxies that are trusted; NULL: none. */
const struct net_proxies *connection_proxies(const struct connection *connection);
/* What a trusted proxy asks for on behalf of this address counts, from now on and until connection_served(), as a
 * connection of it. returns false: it has as many as one address may have, and this one does not count. Worker. */
bool connection_serves(struct connection *connection, const uint8_t address[ADDRESS_SIZE]);
void connection_served(struct connection *connection);

/* ---- progress (limits.c) ---- */

/* Marks of progress; connection_resumes_body() also by who ends a pause. */
void connection_awaits_request(struct connection *connection);
void connection_awaits_body(struct connection *connection);
void connection_pauses(struct connection *connection);
void connection_resumes_body(struct connection *connection);
void connection_got_body(struct connection *connection, size_t bytes);
/* The same, and the client is not silent: where nobody calls connection_resumes_body() for it. */
void connection_got_part(struct connection *connection, size_t bytes);
void connection_is_ours(struct connection *connection);
/* Ends the wait for a request of an idle outgoing connection. Returns false if it is being closed. */
bool connection_claim(struct connection *connection);
/* The socket takes no more of an answer for now. */
void connection_awaits_taking(struct connection *connection);

/* ---- bytes of the socket (transport.c) ---- */

/* Returns true if the connection of a writable socket was established, false if it has failed. Thread-safe. */
bool transport_is_connected(int fd);
/* Beside a count of bytes. */
#define TRANSPORT_WAITS  (-1) /* nothing now: the connection's readable or writable is cleared */
#define TRANSPORT_FAILED (-2)

/* returns  1..size, 0 at the end of the stream, TRANSPORT_WAITS or TRANSPORT_FAILED */
ssize_t transport_receive(struct connection *connection, char *to, size_t size);
/* Sends from the parts one after the other. After TRANSPORT_WAITS, and after less than all, the next
 * call is to begin with the first byte that was not sent, whichever way it goes.
 *
 * follows  more comes at once: the kernel need not send a short packet yet
 * returns  1..all of it, TRANSPORT_WAITS or TRANSPORT_FAILED */
ssize_t transport_send(struct connection *connection, const struct iovec *parts, size_t count,
                       bool follows);
/* The same with a part of a file; 0: the file is too short. */
ssize_t transport_send_file(struct connection *connection, int fd, uint64_t offset, size_t size);

/* ---- what was received (input.c) ---- */

/* What is there. */
static inline struct bytes input_bytes(const struct input *input)
{
    return bytes_of(input->buffer ? input->buffer + input->from : "", input->to - input->from);
}
/* The first bytes are done with. */
void input_use(struct input *input, size_t size);
/* Receives more behind what is there, at most `most` bytes and what there is room for: there must be
 * some. returns as transport_receive(). */
ssize_t input_receive(struct connection *connection, size_t most);

#endif
