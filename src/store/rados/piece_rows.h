/* How often the pieces of a partition are referred to: a row each, in the partition.
 *
 *   piece   8 be references; 0: it has moved to another partition; 4 be length
 *
 * Nothing is read of pieces that this front end has staged and nobody has committed yet. Any thread. */
#ifndef LAGRA_STORE_RADOS_PIECE_ROWS_H
#define LAGRA_STORE_RADOS_PIECE_ROWS_H

#include "store/rados/arrival.h"
#include "store/rados/shards.h"
#include "store/rados/staged.h"
#include "store/rados/part_work.h"
#include "store/store_private.h"

struct piece_rows_of {
    struct shards *shards;
    const struct partition *partition;
    const struct partition_header *seen; /* that the rows are read under */
    const struct piece_change *pieces;
    size_t count;
    struct staged *staged;
};

struct piece_freed {
    const struct piece_change **pieces; /* in the arena */
    size_t count;
};
bool piece_is_freed(const struct piece_freed *freed, const struct piece_change *piece);

/* Asks for those that must be known. NULL: none. */
struct arrival *piece_rows_ask(const struct piece_rows_of *of);
/* With the answer, if any: adds what the rows become to the work.
 * returns STORE_OK
 *         STORE_WAIT      the partition was moved to another shard: ask again
 *         STORE_CONFLICT  it has changed
 *         STORE_CORRUPT, STORE_IO */
enum store_result piece_rows_take(const struct piece_rows_of *of, const struct arrival *answer,
                                  struct arena *arena, struct part_work *work,
                                  struct piece_freed *ret_freed);

/* It has moved from the partition to another one in the same commit: the row stays, so that nobody takes it for one that
 * no commit names (leftovers.h). */
void piece_row_moved(struct part_work *work, struct arena *arena, struct bytes partition_key,
                     const struct piece_change *piece);
/* The value of such a row. */
struct bytes piece_references_write(struct arena *arena, uint64_t references, uint32_t length);

/* The piece of such a row, and its references. False: it is damaged. */
bool piece_row_name(struct bytes key, struct bytes row, struct piece_change *ret_piece);

/* Names of pieces in a task (task_row.h): 4 extent, 4 length, 8 offset. */
void piece_name_write(struct text *out, const struct piece_change *piece);
/* Takes one off the front; false: there is none, or not a whole one. */
bool piece_name_take(struct bytes *from, struct piece_change *ret_piece);

#endif
