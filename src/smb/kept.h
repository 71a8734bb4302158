/* Handles that are kept although their client has lost its connection: how many there may be, and their end when
 * nobody comes back to them. What they are lies in the records of their files (file/handle_away.h); here is when
 * they are to be closed. After a restart there is nothing here: a persistent handle that nobody comes back to
 * then counts no more once its time is over, nor do its locks and what it was to delete (open_set_decode()); it goes
 * with the next change of what is open of its file.
 *
 * Nothing here runs by itself but for the thread of kept_start(): tests call kept_close_overdue(). */
#ifndef LAGRA_SMB_KEPT_H
#define LAGRA_SMB_KEPT_H

#include "file/handle_away.h"
#include "smb/account_uses.h"

struct kept_handles;

struct kept_handles *kept_new(struct store *store, struct account_uses *uses);
/* No thread runs. */
void kept_free(struct kept_handles *kept);
/* Starts the thread that closes what is overdue. returns false: none could be started. Main thread. */
bool kept_start(struct kept_handles *kept);
/* Ends the thread, if there is one. Main thread. */
void kept_stop(struct kept_handles *kept);

/* Takes a place for one of the account's: before it is decided that it stays. returns false: there are
 * SMB_KEPT_MAX, or of that account SMB_KEPT_OF_ACCOUNT_MAX. Any thread. */
bool kept_reserve(struct kept_handles *kept, struct bytes account);
/* Gives the place back: it was not kept. Any thread. */
void kept_release(struct kept_handles *kept, struct bytes account);
/* What a create is known by that its client sends once more; zeros: it is not, since its handle was used. */
struct kept_create {
    struct guid client, create; /* ClientGuid, CreateGuid */
};
/* It is kept, in the place that was taken. Any thread. */
void kept_add(struct kept_handles *kept, const struct mount *mount,
              const struct held_handle *handle, const struct kept_create *by, instant until);
/* Closes a handle of this process whose close the store refused: after a second, and again each second until it succeeds. It
 * counts as a kept handle, but no limit applies. Thread-safe. */
void kept_close_later(struct kept_handles *kept, const struct mount *mount,
                      const struct held_handle *handle);
/* The one that this create has opened in the share; 0: there is none. Any thread. */
uint64_t kept_find(struct kept_handles *kept, const struct guid *space,
                   const struct kept_create *by);
/* Its client has come back; nothing if it is not there. Any thread. */
void kept_remove(struct kept_handles *kept, uint64_t id);

/* Closes those whose time is over, and tries those again a minute later that the store cannot close now; blocks on the
 * store. */
void kept_close_overdue(struct kept_handles *kept, instant now);
/* When the next one is; 0: there is none. Any thread. */
instant kept_next(struct kept_handles *kept);
unsigned kept_count(struct kept_handles *kept);

#endif
