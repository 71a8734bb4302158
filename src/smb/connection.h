/* An SMB connection as a machine of messages: whole messages in, frames out, woken by posts. It knows no
 * socket, so that unit tests, fuzzers and the simulator drive it as smb/server.c does. README.md has the
 * way of a message through it, its states and its invariants.
 *
 *     machine = smb_connection_new(service, host, peer)
 *     smb_connection_take(machine, message, ..)  each whole message, without its 4 bytes of length
 *     host->send(host, packet)                   a frame to be sent, with its 4 bytes of length
 *     host->post(host)                           from any thread: call smb_connection_run() soon
 *     smb_connection_sent(machine, size)         so many bytes of frames have left
 *     smb_connection_end(machine)                the socket is gone, or is to go
 *     host->ended(host)                          nothing refers to the machine any more: free it
 *
 * All functions of a machine are called by one thread at a time, its owner's; only host->post() comes from
 * others. None of them waits for a disk, a lock of a client, or another machine. */
#ifndef LAGRA_SMB_CONNECTION_H
#define LAGRA_SMB_CONNECTION_H

#include "auth/auth.h"
#include "base/ids.h"
#include "base/tenure.h"
#include "service/decide_pool.h"
#include "store/store.h"

/* ---- what all connections share ---- */

struct smb_options {
    /* --smbAllowUnencrypted: else a session that cannot encrypt is refused */
    bool allow_unencrypted;
    bool enforce_acls; /* --smbEnforceAcls: else who logs on with a key is a superuser */
    /* So long a logon waits where too many have failed; 0: it is refused at once. */
    unsigned logon_patience_s;
    /* Storage Analytics counts commands as requests of this service: the File service's place in the process. */
    unsigned counted_as;
    /* Packets are sent only while it holds, else the connection is closed; NULL: it is not needed. */
    const struct tenure *tenure;
    bool always_wait; /* test builds: decide as if nothing were in memory at first */
};

struct smb_service;

/* Everything passed in stays the caller's, and outlives the service. Start-up. */
struct smb_service *smb_service_new(const struct smb_options *options, struct store *store,
                                    const struct accounts *accounts, struct decide_pool *pool);
/* Starts the thread that closes handles whose clients did not come back. returns false: it could not be started.
 * Without it they stay until somebody is in their way. Start-up. */
bool smb_service_start(struct smb_service *service);
/* Returns the tenure of its options. */
const struct tenure *smb_service_tenure(const struct smb_service *service);
/* No connection may be left. Ends that thread. */
void smb_service_free(struct smb_service *service);

/* ---- one connection ---- */

/* A frame on its way out: `size` bytes from `bytes` on, which begin with the four bytes of length.
 * ms-smb2: 2.1 "Transport" */
struct smb_packet {
    struct smb_packet *next; /* of whose it is */
    uint8_t *bytes;
    size_t size;
    struct arena *arena; /* that it lies in */
};
void smb_packet_free(struct smb_packet *packet);

/* What a machine asks of its owner. */
struct smb_host {
    uint8_t address[16]; /* of the client; IPv4 as mapped into IPv6 */
    uint8_t local[16];   /* that it has connected to, so too */
    bool is_forwarded;   /* a proxy introduced the client */
    /* The frame is the host's from now on. Owner's thread. */
    void (*send)(struct smb_host *host, struct smb_packet *packet);
    /* smb_connection_run() is to be called, once however many posts came before. Any thread; short. */
    void (*post)(struct smb_host *host);
    /* Somebody was authenticated on it for the first time, for this account. Owner's thread. */
    void (*authenticated)(struct smb_host *host, const struct account *account);
    /* Says by which thread its machine is run: equal of those that one thread runs. Any thread. */
    const void *(*place)(const struct smb_host *host);
    /* Has the machine run by the thread of this place from then on that it is posted. Owner's thread. */
    void (*move)(struct smb_host *host, const void *place);
    /* After smb_connection_end(): the last request and the last handle are gone. The machine is not
     * touched any more, and may be freed once this has returned. Owner's thread. */
    void (*ended)(struct smb_host *host);
};

struct smb_connection;

/* The longest message that is taken, once somebody is authenticated and before. A longer one ends the
 * connection before it is received. ms-smb2: 3.3.5.2 */
#define SMB_MESSAGE_MAX           ((size_t)(1u << 20) + (64u << 10))
#define SMB_MESSAGE_MAX_UNTRUSTED ((size_t)128 << 10)

/* peer: "203.0.113.7:53412", as lists of handles show it; copied */
struct smb_connection *smb_connection_new(struct smb_service *service, struct smb_host *host,
                                          struct bytes peer);
/* Only after host->ended(), or when no message was ever taken. */
void smb_connection_free(struct smb_connection *connection);

/* The longest message that may come next. */
size_t smb_connection_message_max(const struct smb_connection *connection);
/* Returns an arena for the next message, which is charged to the memory budget. */
struct arena *smb_message_arena(const struct smb_connection *connection);
/* Whether another message may be passed now: not while too much of what came before is in work, or waits
 * to be sent. To be asked again after smb_connection_run() and smb_connection_sent(). */
bool smb_connection_has_room(const struct smb_connection *connection);

/* Takes a message.
 *
 * arena    in which its bytes lie, may be changed, and is the machine's from now on, whatever is returned; it may
 *          grow to SMB_MESSAGE_ARENA_MAX (limits.h). NULL: they are copied
 * returns false: the connection is to be closed (a message that is no SMB, a broken signature of the
 *         transform, ids outside the window: ms-smb2 3.3.5.2); the owner calls smb_connection_end() */
bool smb_connection_take(struct smb_connection *connection, struct bytes message,
                         struct arena *arena);
/* Goes on with what was woken. returns as smb_connection_take() */
bool smb_connection_run(struct smb_connection *connection);
void smb_connection_sent(struct smb_connection *connection, size_t size);

/* Takes no more messages: cancels what is parked, and closes all handles, sessions and trees by and by;
 * then host->ended() is called, perhaps within this call. Nothing is sent any more. */
void smb_connection_end(struct smb_connection *connection);

#endif
