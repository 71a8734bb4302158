/* Sealing the shards of a space that was dropped: from then on nothing is read there, and nothing committed. It is
 * done after the commit that drops the space and before that is answered, and again by a task of the engine, should
 * the front end die in between. A commit that has read the space's id before may come through until then, as if it had been
 * faster. Sealed shards stay: none is made again under its name. decision: 481 */
#ifndef LAGRA_STORE_RADOS_SEAL_H
#define LAGRA_STORE_RADOS_SEAL_H

#include "store/rados/arrival.h"
#include "store/rados/shards.h"

/* All lanes at once, each from its first shard to its last. Of a shard that partitions are being moved from, the other
 * is sealed too; then nothing can come there any more, and the move is either finished or forgotten. It tells when it is
 * over; what could not be sealed is logged, and left to the task. Never waits. */
struct arrival *seal_start(struct shards *shards, const struct guid *space);

#endif
