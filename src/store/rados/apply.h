/* One commit to one shard, with the hints of its tasks before it.
 *
 *   todo.h      an object of hints, h a hex digit by the hash of the shard's name: rows
 *               minute (16 hex digits) '.' name of the shard: a task there may be due in that minute */
#ifndef LAGRA_STORE_RADOS_APPLY_H
#define LAGRA_STORE_RADOS_APPLY_H

#include "store/rados/arrival.h"
#include "store/rados/row_key.h"
#include "store/rados/shards.h"

#define TODO_OBJECTS   16u
#define TODO_NAME_SIZE 8
#define TODO_DIGITS    16
void todo_name(unsigned number, char ret_name[TODO_NAME_SIZE]);
unsigned todo_of_shard(const char *object);
struct bytes todo_key(struct arena *arena, uint64_t minute, const char *object);

/* The caller's, from apply_start() until it is woken. commit: set but for its waiter; its result is never
 * STORE_BUSY for a hint. */
struct apply {
    struct waiter waiter; /* first */
    struct shard_commit commit;
    struct shards *shards;
    struct waiter *outer;
    struct arrival *hint;
    struct shard *shard;
    char object[SHARD_NAME_SIZE];
};
/* space: of the partition. Never waits, and never wakes the waiter in this call. */
void apply_start(struct apply *apply, struct shards *shards, const struct guid *space,
                 struct waiter *waiter);

#endif
