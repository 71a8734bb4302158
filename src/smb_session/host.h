/* The interface between SMB connections and their environment: the options of the service, and the
 * owner of a connection (smb/connection.h), which has its socket. */
#ifndef LAGRA_SMB_SESSION_HOST_H
#define LAGRA_SMB_SESSION_HOST_H

#include "auth/auth.h"
#include "base/ids.h"
#include "base/tenure.h"
#include "service/decide_pool.h"
#include "store/store.h"

/* Result of smb_referrer.find(). */
enum smb_referred {
    SMB_REFERRED,
    SMB_NOT_REFERRED,     /* the share is served here, or does not exist */
    SMB_REFERRAL_UNKNOWN, /* currently unknown, because another front end cannot be reached */
};
/* Finds the front ends of a cluster that serve the shares of other cells. */
struct smb_referrer {
    /* Returns whether shares may be served elsewhere, which NEGOTIATE announces. Thread-safe. */
    bool (*refers)(struct smb_referrer *referrer);
    /* Finds the host to which clients of the account are referred for a share. The name may be
     * anything that a client sends. Called on a thread of the pool. *ret_host: in the arena */
    enum smb_referred (*find)(struct smb_referrer *referrer, struct bytes account,
                              struct bytes share, struct arena *arena, struct bytes *ret_host);
    struct decision_pool *pool; /* its threads wait for other front ends */
};

struct smb_options {
    /* --smbAllowUnencrypted; otherwise sessions that cannot encrypt are rejected */
    bool allow_unencrypted;
    /* --smbEnforceAcls; otherwise clients that log on with an account key are superusers */
    bool enforce_acls;
    /* Maximum delay of a logon after too many failures, in seconds. 0 means that it is rejected at
     * once. */
    unsigned logon_patience_s;
    /* Index of the File service, under which Storage Analytics counts SMB commands. */
    unsigned counted_as;
    /* Packets are sent only while the tenure is valid; when it is lost, the connection is closed.
     * May be NULL. */
    const struct tenure *tenure;
    struct smb_referrer *referrer; /* of a cluster, or NULL */
    /* test builds only: every decision waits once, as if nothing were in memory */
    bool always_wait;
};

struct smb_service;

/* Creates a service. The arguments must outlive it. Called at startup.
 *
 * store, pool  both NULL if clients can only connect to IPC$, to be referred to shares */
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

/* Returns an arena for the next message, charged to the memory budget. */
struct arena *smb_message_arena(const struct smb_connection *connection);

#endif
