/* One commit to the shard of its partition, with the hints of its tasks before it. */
#ifndef LAGRA_STORE_RADOS_APPLY_H
#define LAGRA_STORE_RADOS_APPLY_H

#include "store/rados/arrival.h"
#include "store/rados/hints.h"
#include "store/rados/shards.h"

/* A commit that was led from shard to shard so often is given up. */
#define APPLY_MOVES_MAX 16u
/* Before it is sent again, while what it rests on is on its way to a shard. */
#define APPLY_PAUSE_MS  1u

/* The caller's, from apply_start() until it is woken. commit: set but for its waiter; its result is
 * STORE_BUSY only for its checks. */
struct apply {
    struct waiter waiter; /* first */
    struct shard_commit commit;
    struct shards *shards;
    struct guid space;
    struct waiter *outer;
    struct arrival *awaited;
    unsigned moves;
    struct shard *shard;
    char object[SHARD_NAME_SIZE];
};
/* space: of the partition. Never waits, and never wakes the waiter in this call. */
void apply_start(struct apply *apply, struct shards *shards, const struct guid *space,
                 struct waiter *waiter);

#endif
