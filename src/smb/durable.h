/* Durable and persistent handles: which ones are kept when their client loses its connection, what is kept, and
 * who may come back to them. Pure. ms-smb2: 3.3.5.9.6, 3.3.5.9.7, 3.3.5.9.10, 3.3.5.9.12
 *
 * What is kept lies with the handle's record (file/handle_away.h), so it is the same after a restart. A handle
 * that is away is ended by whatever it is in the way of (file/gate.h), or when its time is over (kept.h). */
#ifndef LAGRA_SMB_DURABLE_H
#define LAGRA_SMB_DURABLE_H

#include "base/arena.h"
#include "base/ids.h"
#include "smb/replay.h"
#include "smb/status.h"

/* How long a handle is kept where its client does not say, and at most. */
#define DURABLE_DEFAULT_MS 60000u
#define DURABLE_MAX_MS     300000u

enum durable_kind {
    DURABLE_NONE,
    DURABLE_1,          /* DHnQ */
    DURABLE_2,          /* DH2Q: it has a GUID of its client's making */
    DURABLE_PERSISTENT, /* DH2Q with SMB2_DHANDLE_FLAG_PERSISTENT, granted: survives a restart */
};

/* What the contexts of a create say. At most one of `wants` and `returns` is obeyed. */
struct durable_asked {
    bool wants_1, wants_2;     /* DHnQ, DH2Q */
    bool returns_1, returns_2; /* DHnC, DH2C */
    bool is_persistent;        /* the flag of DH2Q or DH2C */
    struct guid create;        /* CreateGuid of either */
    uint32_t timeout_ms;       /* of DH2Q; 0: as the server likes */
    uint64_t id;               /* Persistent of the FileId that is come back to */
};
/* returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER: contexts that exclude each other */
enum nt_status durable_check(const struct durable_asked *asked);

/* What a create gets of what it asks. */
struct durable_open {
    bool is_available; /* the share is continuously available */
    bool is_file;
    bool caches_handle; /* a batch oplock, or a lease with HANDLE */
};
enum durable_kind durable_granted(const struct durable_asked *asked,
                                  const struct durable_open *open);
uint32_t durable_timeout_ms(const struct durable_asked *asked);

/* What is kept of an open. */
struct durable_kept {
    enum durable_kind kind;
    struct guid create; /* zeros: DURABLE_1 */
    struct guid client; /* ClientGuid */
    bool is_lease;
    struct guid lease_key;
    bool has_caching;
    struct guid caching_key; /* file/break_news.h, if it has */
    uint32_t timeout_ms;
    uint32_t mode;
    uint64_t position;
    uint64_t allocated; /* struct smb_open */
    struct bytes locks; /* LOCK_SEQUENCES bytes (replay.h); ptr NULL: none were taken */
};
/* In the arena. */
struct bytes durable_encode(struct arena *arena, const struct durable_kept *kept);
/* false: malformed. ret_kept points into it */
bool durable_decode(struct bytes from, struct durable_kept *ret_kept);

/* The reconnecting client. */
struct durable_return {
    const struct durable_asked *asked;
    struct guid client;
    bool is_lease; /* with a lease's context */
    struct guid lease_key;
};
/* returns STATUS_SUCCESS, STATUS_OBJECT_NAME_NOT_FOUND: it is another's */
enum nt_status durable_may_return(const struct durable_kept *kept, const struct durable_return *by);

#endif
