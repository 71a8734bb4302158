/* What a client caches of files that it has open: an oplock of one open, or a lease that opens share. What it is
 * asked to give up comes by file/break_news.h, from any thread; the connection then sends the break, and the
 * client acknowledges it. ms-smb2: 3.3.4.6, 3.3.4.7, 3.3.5.22
 *
 *             told (another thread)                 acknowledged by the client
 *   HOLDS ---------------------------> BREAKING ------------------------------> HOLDS less
 *     ^            caching_send_breaks()     |
 *     +--------------------------------------+  where the client does not answer: reading alone is lost
 *
 * A break that comes while another one is under way waits for its acknowledgement. */
#ifndef LAGRA_SMB_CACHING_H
#define LAGRA_SMB_CACHING_H

#include "file/break_news.h"
#include "file/handle_locks.h"
#include "smb/smb_private.h"

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

struct smb_caching {
    struct break_listener listener; /* first: told through it */
    struct smb_caching *next;
    struct smb_connection *connection;
    uint64_t node; /* once an open has it */
    struct lease_asked lease;
    uint8_t holds;     /* CACHING_*, as the client knows it */
    uint8_t breaks_to; /* less, while is_breaking */
    bool is_breaking;
    uint16_t epoch;              /* of a lease of version 2 */
    struct smb_request *overdue; /* while is_breaking: answers in the client's place in the end */
    unsigned opens;              /* that have it, or are being opened */
    _Atomic uint32_t told;       /* 0: nothing; else TOLD | holds << 8 | to */
};

/* For an open that is being opened: that of its lease, which may be there already, or a new one. Held by the
 * open until it is gone. */
void caching_join(struct smb_open *open, const struct lease_asked *asked);
/* The same for one that comes back, whose caching has this key of the registry (break_news.h). */
void caching_join_again(struct smb_open *open, const struct lease_asked *asked,
                        const struct guid *key, uint16_t epoch);
/* It has come back, and has so much. */
void caching_returned(struct smb_open *open, uint8_t holds);
/* It was opened, and was given so much. returns false: the lease is of another file.
 * ms-smb2: 3.3.5.9.8 */
bool caching_granted(struct smb_open *open, const struct handle_open *opened);
/* That of a lease key; NULL: none. */
struct smb_caching *caching_find(struct smb_connection *connection, const struct guid *lease_key);
/* The client's acknowledgement was taken: it keeps so much, and is asked for more or not. */
void caching_acknowledged(struct smb_caching *caching, uint8_t keeps, uint8_t breaks_to);
/* Sends what was told. Owner's thread. */
void caching_send_breaks(struct smb_connection *connection);

#endif
