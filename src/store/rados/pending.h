/* The states that commits of this front end will leave which are not applied yet: of each partition the newest, for
 * the next decision to be made on. So of many who change one partition each need not wait for the one before, and
 * all go together in the next op of the shard (shard.h invariants 2, 9). decision: 561
 *
 * A commit that none can rest on stands apart: until it has ended its partitions have no such state, and commits
 * that come after it wait for it. Else they would be faster, being one op each, and it would never get its turn.
 * decision: 645
 *
 * Of the newest commit that has ended the state is kept for a while: the next decision is made on it without a read. Another
 * front end may have changed the partition since; so what such a decision commits is compared by the op with
 * what it has seen, as always, and what it only reads or refuses is decided again on what is read then: the state is
 * one that was shown late (outcomes.h). decision: 813
 *
 * Any thread; never waits. */
#ifndef LAGRA_STORE_RADOS_PENDING_H
#define LAGRA_STORE_RADOS_PENDING_H

#include "store/rados/view.h"

/* So many states are kept, of so many bytes in all, for so long. */
#define PENDING_KEPT_MAX   1024u
#define PENDING_KEPT_BYTES (32u << 20)
#define PENDING_KEPT_MS    10000u

struct pending;
struct pending *pending_new(void);
/* No commit may be under way. */
void pending_free(struct pending *pending);

/* A view of the newest state, which the caller holds too; NULL: none. */
struct view *pending_view(struct pending *pending, const struct partition *partition);
enum pending_added {
    PENDING_ADDED,
    PENDING_LATE,   /* another commit came before, so this one is decided on what will not be */
    PENDING_BEHIND, /* it is to wait until the one that stands apart has ended; nothing is kept */
};
/* A commit that was decided on `before` is about to go to its shard, and will leave `after`.
 *
 * *ret_rests_on  PENDING_ADDED: what it has to follow, which the caller holds; NULL: what it has seen was applied
 * *ret_apart     PENDING_BEHIND: the sequence of the commit that stands apart */
enum pending_added pending_add(struct pending *pending, const struct view *before,
                               struct view *after, struct shard_link **ret_rests_on,
                               uint64_t *ret_apart);
/* The commit of this link has ended. is_kept: it was applied, and the next decision may be made on what it has left. */
void pending_end(struct pending *pending, const struct partition *partition,
                 const struct shard_link *link, bool is_kept);
/* This was read: what is kept of the partition is dropped if it is older. */
void pending_seen(struct pending *pending, const struct view *seen);
/* Nobody is to be given the newest state any more, until another commit adds one. */
void pending_close(struct pending *pending, const struct partition *partition);
/* The same, until the commit of this sequence has ended: it stands apart, and so do those before it. */
void pending_stand_apart(struct pending *pending, const struct partition *partition,
                         uint64_t sequence);
void pending_apart_ended(struct pending *pending, const struct partition *partition,
                         uint64_t sequence);

#endif
