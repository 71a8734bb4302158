/* Client caching: the oplock of one open, or a lease shared by all opens with its lease key,
 * including those on other connections with the same ClientGuid. Only the open-state check
 * (opens/open_state.h) knows which caching is granted. Breaks are reported through
 * opens/break_notification.h, from any thread: the connection with the oldest open of the lease
 * sends the notification (clients.h), and the client may acknowledge it on any of its connections.
 * ms-smb2: 3.3.4.6, 3.3.4.7, 3.3.5.22
 *
 *            break reported              acknowledged or timed out
 *   HOLDS -----------------------> BREAKING -----------------------> HOLDS less
 *     ^      caching_send_breaks()    |
 *     +-------------------------------+ without acknowledgement: only read caching is lost
 *
 * All connections that share the lease wait for the acknowledgement. If the connection that sent
 * the break ends, another one acknowledges in the client's place once the break times out. */
#ifndef LAGRA_SMB_SESSION_CACHING_H
#define LAGRA_SMB_SESSION_CACHING_H

#include "base/lock.h"
#include "opens/break_notification.h"
#include "handles/handle_locks.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"

/* OplockLevel. ms-smb2: 2.2.13 */
enum oplock_level {
    OPLOCK_NONE = 0x00,
    OPLOCK_II = 0x01,
    OPLOCK_EXCLUSIVE = 0x08,
    OPLOCK_BATCH = 0x09,
    OPLOCK_LEASE = 0xFF,
};
/* Converts an OplockLevel, except OPLOCK_LEASE, to CACHING_* and back. Unknown levels count as
 * OPLOCK_NONE. */
uint8_t caching_of_level(uint8_t level);
uint8_t level_of_caching(uint8_t caching);

/* Requested oplock or lease. */
struct lease_context {
    bool is_lease;
    uint8_t version; /* 1 or 2 */
    struct guid key, parent;
    bool has_parent;
    uint8_t state; /* CACHING_* */
    uint16_t epoch;
};

/* A pending break notification. */
struct pending_break {
    uint8_t holds, to; /* CACHING_* */
    uint16_t epoch;
    instant at; /* commit time */
    bool sends;
};

struct smb_caching {
    struct break_listener listener; /* must be first: on_break() is called with it */
    struct smb_caching *next_lease;
    struct smb_connection *connection;
    uint64_t node; /* 0 before the first open */
    bool is_known; /* the client has received a grant; no break is sent before that */
    struct lease_context lease;
    bool is_breaking; /* until the client acknowledges, or the break times out */
    /* The newest break notification sent. */
    uint16_t epoch;
    uint8_t left;   /* CACHING_* remaining after it */
    instant broken; /* commit time, or 0 */
    /* acknowledges on the client's behalf after the timeout; NULL unless is_breaking */
    struct smb_request *overdue;
    unsigned breaks;         /* number of breaks */
    struct smb_open *opens;  /* opens, including pending ones; oldest first */
    struct smb_open *newest; /* last of opens */
    atomic_bool is_queued;   /* in connection->posted_breaks or connection->due */
    struct smb_caching *next_queued, **queue_link; /* queue_link: only while in connection->due */
    struct lock lock; /* protects the fields below, which any thread writes */
    bool is_pending;
    struct pending_break pending;
};

/* Attaches a pending open to the caching of its lease, creating it if necessary. The open holds a
 * reference until caching_leave(). */
void caching_join(struct smb_open *open, const struct lease_context *lease);
/* Like caching_join(), for a reconnecting open whose caching has this key in the registry
 * (opens/break_notification.h). */
void caching_join_again(struct smb_open *open, const struct lease_context *lease,
                        const struct guid *key);
/* Detaches a closed open from its caching. */
void caching_leave(struct smb_open *open);
/* Completes caching_join() once the open has been created or reconnected. Returns false if the
 * lease key is in use for another file. ms-smb2: 3.3.5.9.8 */
bool caching_granted(struct smb_open *open);
/* Allows breaks to be sent after the response to the open, which is being written. Removes from
 * *given, the grant of the commit, what a newer break that was sent earlier has revoked. */
void caching_answer(struct smb_caching *caching, struct smb_message *message,
                    struct caching_given *given);
/* Returns the lease with this key on the connection, or NULL. */
struct smb_caching *caching_find(struct smb_connection *connection, const struct guid *lease_key);
/* Returns the key, unique over all clients, that identifies the lease in the open-state check. */
struct guid caching_key(const struct smb_connection *connection, const struct guid *lease_key);
/* Records that the client's acknowledgement of break `number` was committed and leaves `keeps`. */
void caching_acknowledged(struct smb_caching *caching, unsigned number, uint8_t keeps);
/* Waits for the acknowledgement of the newest break; after the timeout, acknowledges it on the
 * client's behalf. break_overdue.c */
void break_await(struct smb_open *open);
/* Ends the wait of break_await(), if any. */
void break_await_end(struct smb_caching *caching);
/* Sends pending breaks. Returns the number of leases and oplocks checked. Called on the owner's
 * thread. */
unsigned caching_send_breaks(struct smb_connection *connection);

#endif
