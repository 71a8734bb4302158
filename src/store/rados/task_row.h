/* Values of the rows of deferred tasks: those of the services, and those of the engine itself. Any thread.
 *
 *   task      1 version (1), kind (varint), payload, key of the partition, each with its length before it
 *   payloads of the engine's own kinds:
 *     TASK_FORGET   4 incarnation, 8 number of a transaction that was decided in this partition
 *     TASK_DROP     16 space, which is to be sealed and emptied
 *     TASK_COLLECT  pieces that nothing refers to, by their names (piece_rows.h)
 *     TASK_MOVED    pieces that have moved to another partition: rows that say so go with their intents
 *     TASK_LOCKED   4 incarnation, 8 number of a transaction that has locked this partition
 *   decided   the row of a transaction in its primary: for each other partition of it 16 space, key with its length */
#ifndef LAGRA_STORE_RADOS_TASK_ROW_H
#define LAGRA_STORE_RADOS_TASK_ROW_H

#include "store/rados/shard_rows.h"

#define TASK_OWN     0xffffff00u /* the least of the engine's */
#define TASK_FORGET  0xffffff00u
#define TASK_DROP    0xffffff01u
#define TASK_COLLECT 0xffffff02u
#define TASK_MOVED   0xffffff03u
#define TASK_LOCKED  0xffffff04u

struct task_row {
    uint32_t kind;
    struct bytes payload;
    struct bytes partition_key;
};
struct bytes task_row_write(struct arena *arena, const struct task_row *row);
/* Points into the value. False: not of that form. */
bool task_row_read(struct bytes value, struct task_row *ret_row);

struct bytes decided_write(struct arena *arena, const struct partition *others, size_t count);
/* *ret_others: in the arena; keys point into the value. False: not of that form. */
bool decided_read(struct bytes value, struct arena *arena, struct partition **ret_others,
                  size_t *ret_count);

struct bytes attempt_write(struct arena *arena, struct attempt attempt);
bool attempt_read(struct bytes value, struct attempt *ret_attempt);

#endif
