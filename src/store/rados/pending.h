/* The states that commits of this front end will leave which are not applied yet: of each partition the newest, for
 * the next decision to be made on. So of many who change one partition each need not wait for the one before, and
 * all go together in the next op of the shard (shard.h invariants 2, 7). decision: 561
 *
 * At most one state of a partition, and none once its commit has ended; so there are never more than there are
 * commits under way. Any thread; never waits. */
#ifndef LAGRA_STORE_RADOS_PENDING_H
#define LAGRA_STORE_RADOS_PENDING_H

#include "store/rados/view.h"

struct pending;
struct pending *pending_new(void);
/* No commit may be under way. */
void pending_free(struct pending *pending);

/* A view of the newest state, which the caller holds too; NULL: none. */
struct view *pending_view(struct pending *pending, const struct partition *partition);
/* A commit that was decided on `before` is about to go to its shard, and will leave `after`.
 *
 * *ret_rests_on  what it has to wait for, which the caller holds; NULL: what it has seen was applied
 * returns false: another commit came before, so this one is decided on what will not be; nothing is kept */
bool pending_add(struct pending *pending, const struct view *before, struct view *after,
                 struct shard_link **ret_rests_on);
/* The commit of this link has ended. */
void pending_end(struct pending *pending, const struct partition *partition,
                 const struct shard_link *link);
/* Nobody is to be given the newest state any more, until another commit adds one: what cannot be decided on it must
 * get its turn. */
void pending_close(struct pending *pending, const struct partition *partition);

#endif
