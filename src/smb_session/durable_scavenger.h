/* Disconnected durable handles (the durable handle scavenger): limits their number and closes them
 * when their timeout expires. Their state is stored with their files (handles/durable_handle.h);
 * this list is in memory and empty after a restart. A persistent handle that expires after a
 * restart is then ignored, with its locks and delete-on-close (open_set_decode()), and removed with
 * the next change of the file's opens.
 *
 * The thread of scavenger_start() is optional: tests call scavenger_close_expired() instead. */
#ifndef LAGRA_SMB_SESSION_DURABLE_SCAVENGER_H
#define LAGRA_SMB_SESSION_DURABLE_SCAVENGER_H

#include "handles/durable_handle.h"
#include "smb_session/account_uses.h"

struct durable_scavenger;

struct durable_scavenger *scavenger_new(struct store *store, struct account_uses *uses);
/* Frees the list, after scavenger_stop(). */
void scavenger_free(struct durable_scavenger *scavenger);
/* Starts the thread that closes expired handles. Returns false on failure. Called on the main
 * thread. */
bool scavenger_start(struct durable_scavenger *scavenger);
/* Stops the thread, if started. Called on the main thread. */
void scavenger_stop(struct durable_scavenger *scavenger);

/* Reserves a slot for a handle before its disconnect is decided. Returns false if SMB_DURABLE_MAX
 * or SMB_KEPT_OF_ACCOUNT_MAX is reached. Thread-safe. */
bool scavenger_reserve(struct durable_scavenger *scavenger, struct bytes account);
/* Releases a reserved slot. Thread-safe. */
void scavenger_release(struct durable_scavenger *scavenger, struct bytes account);
/* Identifies a create for replay detection. All zeros once the handle has been used. */
struct scavenger_create {
    struct guid client, create; /* ClientGuid, CreateGuid */
};
/* Adds a disconnected handle, in a reserved slot. Thread-safe. */
void scavenger_add(struct durable_scavenger *scavenger, const struct tree_connect *tree_connect,
                   const struct held_handle *handle, const struct scavenger_create *by,
                   instant until);
/* Takes over a handle whose close the store rejected, and retries once a second until it succeeds.
 * Such handles are counted but not limited. Thread-safe. */
void scavenger_close_later(struct durable_scavenger *scavenger,
                           const struct tree_connect *tree_connect,
                           const struct held_handle *handle);
/* Returns the id of the handle opened by this create in the share, or 0. Thread-safe. */
uint64_t scavenger_find(struct durable_scavenger *scavenger, const struct guid *space,
                        const struct scavenger_create *by);
/* Removes a handle whose client has reconnected, if present. Thread-safe. */
void scavenger_remove(struct durable_scavenger *scavenger, uint64_t id);

/* Closes expired handles. If the store cannot close one, retries it a minute later. May block on
 * the store. */
void scavenger_close_expired(struct durable_scavenger *scavenger, instant now);
/* Returns when the next handle expires, or 0 if none exists. Thread-safe. */
instant scavenger_next(struct durable_scavenger *scavenger);
unsigned scavenger_count(struct durable_scavenger *scavenger);

#endif
