/* What a client caches of files that it has open: an oplock of one open, or a lease that opens share, also those of
 * other connections with the client's GUID. What it holds is known to the gate alone (file/gate.h). What it is asked
 * to give up comes by file/break_news.h, from any thread: the connection with the oldest open of the lease has
 * the break sent (clients.h), and the client acknowledges it on whichever it likes. ms-smb2: 3.3.4.6, 3.3.4.7, 3.3.5.22
 *
 *             asked (another thread)                   acknowledged by the client, or overdue
 *   HOLDS ---------------------------> BREAKING ------------------------------------------> HOLDS less
 *     ^            caching_send_breaks()     |
 *     +--------------------------------------+  where the client does not answer: reading alone is lost
 *
 * All connections of a lease wait for the answer: where the one that has sent the break ends, another gives the
 * answer when it is overdue. */
#ifndef LAGRA_SMB_CACHING_H
#define LAGRA_SMB_CACHING_H

#include "base/lock.h"
#include "file/break_news.h"
#include "file/handle_locks.h"
#include "smb/message.h"
#include "smb/opens.h"

/* OplockLevel. ms-smb2: 2.2.13 */
enum oplock_level {
    OPLOCK_NONE = 0x00,
    OPLOCK_II = 0x01,
    OPLOCK_EXCLUSIVE = 0x08,
    OPLOCK_BATCH = 0x09,
    OPLOCK_LEASE = 0xFF,
};
/* CACHING_* of a level, but for OPLOCK_LEASE; what is no level is OPLOCK_NONE. */
uint8_t caching_of_level(uint8_t level);
uint8_t level_of_caching(uint8_t caching);

/* What a create asks for. */
struct lease_asked {
    bool is_lease;
    uint8_t version; /* 1 or 2 */
    struct guid key, parent;
    bool has_parent;
    uint8_t state; /* CACHING_* */
    uint16_t epoch;
};

/* A break, and whether this connection sends it. */
struct pending_break {
    uint8_t holds, to; /* CACHING_* */
    uint16_t epoch;
    instant at; /* instant of the commit */
    bool sends;
};

struct smb_caching {
    struct break_listener listener; /* first: asked() is called with it */
    struct smb_caching *next_lease;
    struct smb_connection *connection;
    uint64_t node; /* once an open has it */
    bool is_known; /* to the client: an open with it was answered. No break is sent before */
    struct lease_asked lease;
    bool is_breaking; /* until the client acknowledges it here, or it is overdue */
    /* The newest break that was sent. */
    uint16_t epoch;
    uint8_t left;                /* CACHING_* after it */
    instant broken;              /* instant of its commit, or 0 */
    struct smb_request *overdue; /* while is_breaking: answers in the client's place in the end */
    unsigned breaks;             /* how many there were */
    struct smb_open *opens;      /* that have it, or are being opened; the oldest first */
    struct smb_open *newest;     /* of them */
    atomic_bool is_queued;       /* in connection->asked or connection->due */
    struct smb_caching *next_asked, **asked_link; /* link: only in connection->due */
    struct lock lock; /* protects the fields below, which any thread writes */
    bool is_pending;
    struct pending_break pending;
};

/* For an open that is being opened: that of its lease, which may be there already, or a new one. Held by the
 * open until it is gone. */
void caching_join(struct smb_open *open, const struct lease_asked *asked);
/* The same for one that comes back, whose caching has this key of the registry (break_news.h). */
void caching_join_again(struct smb_open *open, const struct lease_asked *asked,
                        const struct guid *key);
/* The open, which has caching, is gone. */
void caching_leave(struct smb_open *open);
/* It was opened, or has come back. returns false: the lease is of another file. ms-smb2: 3.3.5.9.8 */
bool caching_granted(struct smb_open *open);
/* Called when the message writes the response to such an open. Breaks may be sent afterwards. Corrects *given, the grant of the
 * commit, by a newer break that was sent before the response. */
void caching_answer(struct smb_caching *caching, struct smb_message *message,
                    struct caching_given *given);
/* That of a lease key on this connection; NULL: none. */
struct smb_caching *caching_find(struct smb_connection *connection, const struct guid *lease_key);
/* The key of all clients' keys that the gate knows a lease by. */
struct guid caching_key(const struct smb_connection *connection, const struct guid *lease_key);
/* The client's acknowledgement of break number `number` was committed, and leaves it `keeps`. */
void caching_acknowledged(struct smb_caching *caching, unsigned number, uint8_t keeps);
/* Waits for the acknowledgement of the newest break of the open's caching, and acknowledges it if the client does not.
 * break_overdue.c */
void break_await(struct smb_open *open);
/* Ends that wait, if there is one. */
void break_await_end(struct smb_caching *caching);
/* Sends pending breaks. Returns the number of leases and oplocks it checked. Owner's thread. */
unsigned caching_send_breaks(struct smb_connection *connection);

#endif
