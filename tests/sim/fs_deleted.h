/* Shares that were deleted and are kept, as the model has them. Inside the model, but for what clients are told
 * and ask. rest: Delete-Share, Restore-Share */
#ifndef LAGRA_SIM_FS_DELETED_H
#define LAGRA_SIM_FS_DELETED_H

#include "fs_model.h"

/* Kept so long, if at all: no run lasts so long, and the census waits longer. */
#define FS_RETENTION_DAYS 20u

void fs_deleted_begin(void);
/* Inside a new state. The share's snapshots are not there any more, until it is restored. */
void fs_delete_share(struct fs_state *state);
/* deletion: the commit that deleted it. */
void fs_restore_share(struct fs_state *state, uint64_t deletion);
/* The share that the commit deleted, if it is kept and may be restored in the state; NULL: it is not. */
const struct fs_state *fs_deleted_at(const struct fs_state *state, uint64_t deletion);
/* Those that a state has, in the order of their deletions: the one after `after` (NULL: the first). */
const struct fs_state *fs_next_deleted(const struct fs_state *state, const struct fs_state *after);
/* All states of them, whether they are restored or not, by `older`. */
struct fs_state *fs_deleted_newest(void);
/* A list tells the version of one. NULL, or what is wrong with it. */
const char *fs_tell_version(const struct fs_state *deleted, const char *version);
/* A version that somebody was told of, by a drawn number; false: there is none. */
bool fs_known_version(unsigned random, struct fs_snapshot *ret_version);
void fs_prune_deleted(uint64_t oldest_commit);
void fs_roll_back_deleted(uint64_t commit);

#endif
