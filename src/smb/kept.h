/* Disconnected durable handles (the durable handle scavenger): limits their number and closes them
 * when their timeout expires. Their state is stored with their files (handles/durable_handle.h); this
 * list is in memory and empty after a restart. A persistent handle that expires after a restart is
 * then ignored, with its locks and delete-on-close (open_set_decode()), and removed with the next
 * change of the file's opens.
 *
 * The thread of kept_start() is optional: tests call kept_close_overdue() instead. */
#ifndef LAGRA_SMB_KEPT_H
#define LAGRA_SMB_KEPT_H

#include "handles/durable_handle.h"
#include "smb/account_uses.h"

struct kept_handles;

struct kept_handles *kept_new(struct store *store, struct account_uses *uses);
/* Frees the list, after kept_stop(). */
void kept_free(struct kept_handles *kept);
/* Starts the thread that closes expired handles. Returns false on failure. Called on the main
 * thread. */
bool kept_start(struct kept_handles *kept);
/* Stops the thread, if started. Called on the main thread. */
void kept_stop(struct kept_handles *kept);

/* Reserves a slot for a handle before its disconnect is decided. Returns false if SMB_KEPT_MAX or
 * SMB_KEPT_OF_ACCOUNT_MAX is reached. Thread-safe. */
bool kept_reserve(struct kept_handles *kept, struct bytes account);
/* Releases a reserved slot. Thread-safe. */
void kept_release(struct kept_handles *kept, struct bytes account);
/* Identifies a create for replay detection. All zeros once the handle has been used. */
struct kept_create {
    struct guid client, create; /* ClientGuid, CreateGuid */
};
/* Adds a disconnected handle, in a reserved slot. Thread-safe. */
void kept_add(struct kept_handles *kept, const struct mount *mount,
              const struct held_handle *handle, const struct kept_create *by, instant until);
/* Takes over a handle whose close the store rejected, and retries once a second until it succeeds.
 * Such handles are counted but not limited. Thread-safe. */
void kept_close_later(struct kept_handles *kept, const struct mount *mount,
                      const struct held_handle *handle);
/* Returns the id of the handle opened by this create in the share, or 0. Thread-safe. */
uint64_t kept_find(struct kept_handles *kept, const struct guid *space,
                   const struct kept_create *by);
/* Removes a handle whose client has reconnected, if present. Thread-safe. */
void kept_remove(struct kept_handles *kept, uint64_t id);

/* Closes expired handles. If the store cannot close one, retries it a minute later. May block on
 * the store. */
void kept_close_overdue(struct kept_handles *kept, instant now);
/* Returns when the next handle expires, or 0 if there is none. Thread-safe. */
instant kept_next(struct kept_handles *kept);
unsigned kept_count(struct kept_handles *kept);

#endif
