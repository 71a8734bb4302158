/* An SMB connection as a state machine: it receives complete messages, sends frames and is woken by
 * posts. It has no socket, so unit tests, fuzzers and the simulator drive it like smb/server.c.
 * README.md describes the path of a message, the states and the invariants.
 *
 *     machine = smb_connection_new(service, host, peer)
 *     smb_connection_take(machine, message, ..)  pass a complete message, without its 4-byte length
 *     host->send(host, packet)                   send a frame, with its 4-byte length
 *     host->post(host)                           from any thread: call smb_connection_run() soon
 *     smb_connection_sent(machine, size)         `size` bytes of frames have been sent
 *     smb_connection_end(machine)                the socket is closed, or about to be
 *     host->ended(host)                          the machine may be freed
 *
 * A machine is called by one thread at a time, its owner's; only host->post() is called by other
 * threads. No function waits for a disk, for another client's lock, or for another machine. */
#ifndef LAGRA_SMB_CONNECTION_H
#define LAGRA_SMB_CONNECTION_H

#include "auth/auth.h"
#include "base/ids.h"
#include "base/tenure.h"
#include "service/decide_pool.h"
#include "store/store.h"

/* ---- shared by all connections ---- */

struct smb_options {
    /* --smbAllowUnencrypted; otherwise sessions that cannot encrypt are rejected */
    bool allow_unencrypted;
    /* --smbEnforceAcls; otherwise clients that log on with an account key are superusers */
    bool enforce_acls;
    /* Maximum delay of a logon after too many failures, in seconds. 0: rejected at once. */
    unsigned logon_patience_s;
    /* Index of the File service, under which Storage Analytics counts SMB commands. */
    unsigned counted_as;
    /* Packets are sent only while it is valid; the connection is closed when it is lost. May be
     * NULL. */
    const struct tenure *tenure;
    bool always_wait; /* test builds: each decision first waits as if nothing were in memory */
};

struct smb_service;

/* Creates a service. The arguments must outlive it. Called at startup. */
struct smb_service *smb_service_new(const struct smb_options *options, struct store *store,
                                    const struct accounts *accounts, struct decision_pool *pool);
/* Starts the thread that closes durable handles whose clients did not reconnect. Returns false on
 * failure. Without the thread, such handles remain until they conflict with another open. Called at
 * startup. */
bool smb_service_start(struct smb_service *service);
/* Returns the tenure passed in the options. */
const struct tenure *smb_service_tenure(const struct smb_service *service);
/* Stops the thread. No connection may exist. */
void smb_service_free(struct smb_service *service);

/* ---- one connection ---- */

/* An outgoing frame: `size` bytes starting at `bytes`, including the four bytes of length. ms-smb2:
 * 2.1 "Transport" */
struct smb_packet {
    struct smb_packet *next; /* in its owner's list */
    uint8_t *bytes;
    size_t size;
    struct arena *arena; /* holds the bytes */
};
void smb_packet_free(struct smb_packet *packet);

/* Callbacks of the connection's owner. */
struct smb_host {
    uint8_t address[16]; /* of the client; IPv4 mapped into IPv6 */
    uint8_t local[16];   /* local address, in the same form */
    bool is_forwarded;   /* the client's address was supplied by a proxy */
    /* Sends a frame, which the host then owns. Called on the owner's thread. */
    void (*send)(struct smb_host *host, struct smb_packet *packet);
    /* Requests one call of smb_connection_run(); several posts may be merged. Thread-safe and
     * short. */
    void (*post)(struct smb_host *host);
    /* Reports the first successful authentication on the connection. Called on the owner's
     * thread. */
    void (*authenticated)(struct smb_host *host, const struct account *account);
    /* Returns an identifier of the thread that runs the machine. Thread-safe. */
    const void *(*place)(const struct smb_host *host);
    /* Moves the machine to the thread identified by `place`, starting with its next post. Called on
     * the owner's thread. */
    void (*move)(struct smb_host *host, const void *place);
    /* Reports, after smb_connection_end(), that the last request has ended and the last handle is
     * closed. The machine is no longer used and may be freed after the callback. Called on the
     * owner's thread. */
    void (*ended)(struct smb_host *host);
};

struct smb_connection;

/* Maximum size of a message after and before authentication. A longer message ends the connection
 * before it is received. ms-smb2: 3.3.5.2 */
#define SMB_MESSAGE_MAX           ((size_t)(1u << 20) + (64u << 10))
#define SMB_MESSAGE_MAX_UNTRUSTED ((size_t)128 << 10)

/* peer: as shown in lists of handles, for example "203.0.113.7:53412"; copied */
struct smb_connection *smb_connection_new(struct smb_service *service, struct smb_host *host,
                                          struct bytes peer);
/* Frees the connection, after host->ended() or if no message was ever passed. */
void smb_connection_free(struct smb_connection *connection);

/* Returns the maximum size of the next message. */
size_t smb_connection_message_max(const struct smb_connection *connection);
/* Returns an arena for the next message, charged to the memory budget. */
struct arena *smb_message_arena(const struct smb_connection *connection);
/* Returns whether another message may be passed now. Returns false while too many bytes of earlier
 * messages are in progress or unsent; ask again after smb_connection_run() and
 * smb_connection_sent(). */
bool smb_connection_has_room(const struct smb_connection *connection);

/* Processes a message.
 *
 * arena    holds the message, which may be modified; always owned by the machine afterwards; may
 *          grow to SMB_MESSAGE_ARENA_MAX (limits.h). NULL: the message is copied
 *
 * Returns false if the connection must be closed (not an SMB message, a transform header with a
 * wrong signature, message ids outside the window: ms-smb2 3.3.5.2); the owner then calls
 * smb_connection_end(). */
bool smb_connection_take(struct smb_connection *connection, struct bytes message,
                         struct arena *arena);
/* Resumes woken requests. Returns false like smb_connection_take(). */
bool smb_connection_run(struct smb_connection *connection);
void smb_connection_sent(struct smb_connection *connection, size_t size);

/* Stops accepting messages, cancels parked requests, and closes handles, sessions and tree connects
 * step by step, sending nothing. Finally calls host->ended(), possibly before it returns. */
void smb_connection_end(struct smb_connection *connection);

#endif
