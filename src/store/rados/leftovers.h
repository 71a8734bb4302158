/* Pieces that may be left over: written, and named by no commit. Of a front end that died, whose numbers its intents tell; or
 * of this one, where the outcome of a commit was not learned.
 *
 * A piece's label names its owner, the one partition that could refer to it first. Has that a row of the piece, it
 * was committed, and is no leftover, whatever became of it since: a row also stays where a piece has moved away from,
 * until its intent is gone (task_row.h, TASK_MOVED). A commit that may still come is kept out before the look:
 *  (1) one of a dead front end, by a fence in the shard of the owner, which each commit that refers to pieces compares;
 *  (2) one over several partitions that has locked the owner, by settling that or rolling it back;
 *  (3) one of another partition, by a label that says that the piece is left over, set if it is still as it was read.
 * Without a row then, none will come. The piece is deleted as one that was released at that moment: by a task, since it
 * may have been named and released in between, and be read by others. tests/rados/model/fence.pml. It waits for the cluster. */
#ifndef LAGRA_STORE_RADOS_LEFTOVERS_H
#define LAGRA_STORE_RADOS_LEFTOVERS_H

#include "store/rados/shards.h"
#include "store/rados/staged.h"

struct leftovers {
    struct port *pieces; /* pool */
    struct shards *shards;
    uint64_t grace; /* ticks that a released piece stays */
    bool is_fenced; /* the front end is another, and dead: it is fenced */
};

/* Looks for these pieces of a front end, at most INTENT_NUMBERS of them. False: of one it is unknown, logged; to be
 * done again. May be done twice, by two front ends at once. */
bool leftovers_collect(const struct leftovers *leftovers, uint32_t incarnation,
                       const uint64_t *numbers, size_t count);

enum leftover_fate { PIECE_REFERRED, PIECE_LEFT, PIECE_DROPPED, PIECE_UNREADABLE };
/* What the rows of its owner say of one piece: it is, or was, referred to; it is not; the space of its owner is dropped. */
enum leftover_fate leftovers_fate(struct shards *shards, const struct partition *owner,
                                  uint32_t incarnation, uint64_t number);

#endif
