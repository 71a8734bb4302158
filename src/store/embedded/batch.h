/* The RocksDB batch of a commit: the records of its parts, their index records and counters, the
 * rows of pieces whose references change, dropped spaces, and sometimes a clock row. Created before
 * the commit acquires any lock, since it may have to read rows of pieces. */
#ifndef LAGRA_STORE_EMBEDDED_BATCH_H
#define LAGRA_STORE_EMBEDDED_BATCH_H

#include "store/embedded/keyspace.h"
#include "store/store_private.h"

struct embedded;
struct stripe;

struct batch {
    struct embedded *embedded;
    rocksdb_writebatch_t *writes;
    bool has_pieces;                   /* some part puts, releases or moves pieces */
    const struct piece_change *pieces; /* of all parts, without those that only move */
    size_t piece_count;
    struct freed *freed;    /* pieces that lose their last reference; NULL means none */
    size_t first_count;     /* number of pieces that get their first reference */
    bool has_tasks;         /* some part adds or removes deferred tasks */
    instant task_due;       /* earliest due time of the added tasks; INSTANT_MAX: none */
    int64_t referred_bytes; /* growth of the total of referenced bytes */
};

void batch_init(struct batch *batch, struct embedded *embedded);
void batch_release(struct batch *batch);

/* Adds the changes of a part, except its pieces. prefix: of the partition's keys in any family */
void batch_add_changes(struct batch *batch, struct bytes prefix, const struct guid *space,
                       const struct changes *changes);
/* Adds the rows of the pieces of all parts.
 *
 * Returns STORE_OK
 *         STORE_WAIT      a row is not in memory
 *         STORE_CONFLICT  a piece has fewer references than are released, or none and is not
 *                         staged: its partition has changed since the snapshot, or this is damage
 *         STORE_CORRUPT, STORE_IO */
enum store_result batch_add_pieces(struct batch *batch, const struct piece_change *pieces,
                                   size_t count, struct store_access access);
/* Adds the changes of a part to the list of deferred tasks. Between deferred_enter() and
 * deferred_leave(). */
void batch_add_tasks(struct batch *batch, struct bytes prefix, const struct changes *changes);
/* Adds a clock row of the stripe if one is due. Returns the instant it announces, 0 means none.
 * Under the stripe's lock, so that the rows of one stripe are in ascending order. */
instant batch_add_clock(struct batch *batch, const struct stripe *stripe, instant now);
/* Adds a clock row of a stripe, or of none (CLOCK_ROW_OF_NONE). Returns the instant it
 * announces. */
#define CLOCK_ROW_OF_NONE UINT16_MAX
instant batch_put_clock_row(rocksdb_writebatch_t *writes, uint16_t number,
                            struct clock_checkpoint checkpoint);
/* Called after the write. Commits up to that instant need no clock row. */
void batch_announce_clock(struct embedded *embedded, instant ahead);

#endif
