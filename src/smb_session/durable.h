/* Durable and persistent handles: which opens are preserved when their client disconnects, the
 * state that is stored, and which clients may reconnect. Pure. ms-smb2: 3.3.5.9.6, 3.3.5.9.7,
 * 3.3.5.9.10, 3.3.5.9.12
 *
 * The state is stored in the record of the handle (handles/durable_handle.h) and survives a
 * restart. A disconnected handle is closed when it conflicts with another open (opens/open_state.h)
 * or when its timeout expires (durable_scavenger.h). */
#ifndef LAGRA_SMB_SESSION_DURABLE_H
#define LAGRA_SMB_SESSION_DURABLE_H

#include "base/arena.h"
#include "base/ids.h"
#include "smb_protocol/replay.h"
#include "smb_protocol/status.h"

/* Default and maximum timeout of a durable handle. */
#define DURABLE_DEFAULT_MS 60000u
#define DURABLE_MAX_MS     300000u

enum durable_kind {
    DURABLE_NONE,
    DURABLE_1,          /* DHnQ */
    DURABLE_2,          /* DH2Q, with a CreateGuid */
    DURABLE_PERSISTENT, /* DH2Q with SMB2_DHANDLE_FLAG_PERSISTENT, if granted: survives a restart */
};

/* Durable contexts of a create request. */
struct durable_request {
    bool wants_1, wants_2;     /* DHnQ, DH2Q */
    bool returns_1, returns_2; /* DHnC, DH2C */
    bool is_persistent;        /* persistent flag of DH2Q or DH2C */
    struct guid create;        /* CreateGuid */
    uint32_t timeout_ms;       /* Timeout of DH2Q; 0 means the server's default */
    uint64_t id;               /* FileId.Persistent of DHnC or DH2C */
};
/* Returns STATUS_SUCCESS, or STATUS_INVALID_PARAMETER if the contexts are mutually exclusive. */
enum nt_status durable_check(const struct durable_request *request);

/* Properties of an open that decide which durability is granted. */
struct durable_open {
    bool is_available; /* the share is continuously available */
    bool is_file;
    bool caches_handle; /* batch oplock, or lease with handle caching */
};
enum durable_kind durable_granted(const struct durable_request *request,
                                  const struct durable_open *open);
uint32_t durable_timeout_ms(const struct durable_request *request);

/* State of an open that is stored. */
struct durable_state {
    enum durable_kind kind;
    struct guid create; /* zeros for DURABLE_1 */
    struct guid client; /* ClientGuid */
    bool is_lease;
    struct guid lease_key;
    bool has_caching;
    struct guid caching_key; /* key in opens/break_notification.h, if has_caching */
    uint32_t timeout_ms;
    uint32_t mode;
    uint64_t position;
    uint64_t allocated; /* as in struct smb_open */
    struct bytes locks; /* LOCK_SEQUENCES bytes (replay.h), or ptr NULL */
};
/* Allocates in the arena. */
struct bytes durable_encode(struct arena *arena, const struct durable_state *state);
/* Returns false if malformed. ret_state points into `from`. */
bool durable_decode(struct bytes from, struct durable_state *ret_state);

/* The reconnecting client. */
struct durable_return {
    const struct durable_request *request;
    struct guid client;
    bool is_lease; /* the create has a lease context */
    struct guid lease_key;
};
/* Returns STATUS_SUCCESS, or STATUS_OBJECT_NAME_NOT_FOUND if the handle belongs to another client
 * or lease. */
enum nt_status durable_may_return(const struct durable_state *state,
                                  const struct durable_return *by);

#endif
