/* What a commit does to one partition: rows, counters and tasks; as the shard takes it, and as bytes that wait
 * beside a locked partition until its transaction is settled. Any thread. */
#ifndef LAGRA_STORE_RADOS_PART_WORK_H
#define LAGRA_STORE_RADOS_PART_WORK_H

#include "store/rados/shard.h"
#include "store/store_private.h"

struct part_work {
    struct shard_change *changes, **changes_end;
    struct shard_count *counts;
    struct shard_task *tasks;
};
void part_work_init(struct part_work *work);
/* Later ones to the same key win. The bytes must stay; the nodes are in the arena. */
void part_work_set(struct part_work *work, struct arena *arena, struct bytes key,
                   struct bytes value);
void part_work_remove(struct part_work *work, struct arena *arena, struct bytes key);
void part_work_count(struct part_work *work, struct arena *arena, struct bytes name, int64_t delta);
void part_work_task(struct part_work *work, struct arena *arena, instant due, const struct guid *id,
                    struct bytes value);

/* One change of a record; of all records, and of index records, from this one on. */
void part_work_record(struct part_work *work, struct arena *arena, struct bytes partition_key,
                      const struct change *change);
void part_work_records(struct part_work *work, struct arena *arena, struct bytes partition_key,
                       const struct change *change);
void part_work_index(struct part_work *work, struct arena *arena, struct bytes partition_key,
                     const struct change *change);

struct bytes part_work_write(const struct part_work *work, struct arena *arena);
/* Into the arena; the bytes must stay. False: not of that form. */
bool part_work_read(struct bytes from, struct arena *arena, struct part_work *ret_work);

#endif
