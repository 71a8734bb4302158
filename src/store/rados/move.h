/* The last partitions of a shard move to the one behind it, by ops that any front end may send, and several may at once.
 *
 * Who begins (split.h) says in the bounds of the shard from which partition on, and to which shard. From then on nobody
 * writes to those; they are read as before. Their rows are written into the other shard, which is made if it is not
 * there; the last op of these makes its bounds begin with them. One op then removes them from the first, and says that the
 * other follows. Each op compares the bounds of its shard, whose bytes never return, so one that comes late changes
 * nothing; what is being moved does not change meanwhile. Nothing is undone: whoever needs a partition that is being
 * moved finishes it. Locked partitions are not moved. tests/rados/model/move.pml, decision 750.
 *
 * Fences go along, all of them. A task that is due by when the other shard's tasks have been looked for will be due later,
 * and has a hint there before. Counters stay: they are added up over all shards. */
#ifndef LAGRA_STORE_RADOS_MOVE_H
#define LAGRA_STORE_RADOS_MOVE_H

#include "store/rados/arrival.h"
#include "store/rados/shards.h"

/* Of one op, and of what is read for it. Rows are written in several ops where they are more. */
#define MOVE_OP_ROWS  2048u
#define MOVE_OP_BYTES (4u << 20)
/* After an op has failed, before that is reported. */
#define MOVE_PAUSE_MS 50u

/* Finishes what is being moved out of this shard, if anything. The arrival tells when that is over, whether or not it could
 * be done, which is logged; what has begun just now may be left to the next call. All who ask meanwhile share one machine of
 * this front end. It uses the shards until then, also if the arrival is dropped. Never waits. */
struct arrival *move_finish(struct shards *shards, const char *object);
/* The same by a machine of its own: move_shared.c alone. */
struct arrival *move_start(struct shards *shards, const char *object);
/* Finds the shard in which the partition may be written to, and finishes a move of it. When it tells, shards_place()
 * knows where that is, as far as this could be done. As above. */
struct arrival *move_out_of_way(struct shards *shards, const struct partition *partition);

#endif
