/* Which shards follow in a lane, as far as this front end has seen: a hint. What was true once stays true enough, since
 * partitions only go to shards behind: from `first` on they are in shard `number`, or in one that follows it.
 * Lanes of one shard cost nothing. Any thread; never waits. */
#ifndef LAGRA_STORE_RADOS_ROUTES_H
#define LAGRA_STORE_RADOS_ROUTES_H

#include "store/store.h"

/* Some 100 bytes each. More are not kept: all are forgotten, and learned again, by one read for each shard that is passed. */
#define ROUTES_MAX 1048576u

struct routes;
struct routes *routes_new(void);
void routes_free(struct routes *routes);

/* The number of the shard to begin with. */
uint64_t routes_find(struct routes *routes, const struct guid *space, unsigned lane,
                     struct bytes partition_key);
/* Of a shard's predecessor, as its bounds say: not of its own, which have partitions before they are its. In the predecessor
 * that partition, behind `first`, was looked for in vain, so what led there is behind it too by now: that shard has been
 * given partitions before those that it had, and has given those away. */
void routes_learn(struct routes *routes, const struct guid *space, unsigned lane,
                  struct bytes first, uint64_t number, struct bytes partition_key);

#endif
