/* The shards of a store that a front end knows, and who it is to them. Any thread.
 *
 * A lane of a space is a chain of shards in the order of their partitions. The first, number 0, is made by the first
 * commit to it; the others by moves of partitions (move.h). Each op takes the bounds of its shard along, or compares
 * them: what is known of the chain only says where to ask first. */
#ifndef LAGRA_STORE_RADOS_SHARDS_H
#define LAGRA_STORE_RADOS_SHARDS_H

#include "base/lock.h"
#include "store/rados/row_key.h"
#include "store/rados/shard.h"

/* So many are kept that nobody uses. */
#define SHARDS_KEPT 1024u

struct shards;
struct first_reads;
struct shards *shards_new(struct port *port, uint32_t incarnation);
/* Of partitions in them. */
struct first_reads *shards_first_reads(const struct shards *shards);
/* None may be in use, and nothing may go on: shards_wait_idle(). */
void shards_free(struct shards *shards);
struct port *shards_port(const struct shards *shards);
uint32_t shards_incarnation(const struct shards *shards);
/* One that was never used before. */
struct attempt shards_next_attempt(struct shards *shards);

/* What goes on although nobody may wait for it any more uses the shards from shards_enter() to shards_leave(). */
void shards_enter(struct shards *shards);
void shards_leave(struct shards *shards);
/* Wakes the waiter, once, when nothing of that goes on; perhaps in this call. One may wait. */
void shards_wait_idle(struct shards *shards, struct waiter *waiter);

/* Where a partition lies, as far as is known. */
void shards_place(const struct shards *shards, const struct partition *partition,
                  char ret_object[SHARD_NAME_SIZE]);
/* By the bounds that were read there.
 * returns STORE_OK        the partition is there, or (of a sealed one) was
 *         STORE_CONFLICT  it is in a shard behind: shards_place() again
 *         STORE_CORRUPT   there is none, logged */
enum store_result shards_arrive(struct shards *shards, const struct partition *partition,
                                const struct shard_bounds *bounds);
/* Moves of partitions that are being finished here: move_shared.c's. */
struct moves {
    struct lock lock;
    struct move_shared *first; /* under lock */
};
struct moves *shards_moves(struct shards *shards);
/* Of all shards, before the first is taken. */
void shards_watch(struct shards *shards, struct shard_watch *watch);
/* What is done at leisure is to end now. */
void shards_set_closing(struct shards *shards);
bool shards_are_closing(const struct shards *shards);
/* The same of a place in a lane, whichever partition of it is the first from there on. */
void shards_place_in_lane(const struct shards *shards, const struct guid *space, unsigned lane,
                          struct bytes partition_key, char ret_object[SHARD_NAME_SIZE]);
enum store_result shards_arrive_in_lane(struct shards *shards, const struct guid *space,
                                        unsigned lane, struct bytes partition_key,
                                        const struct shard_bounds *bounds);
/* That shard; until shards_give(). */
struct shard *shards_take(struct shards *shards, const char *object);
void shards_give(struct shards *shards, const char *object);

#endif
