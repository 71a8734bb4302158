/* Which shards have deferred tasks that are due in which minute.
 *
 *   todo.h      an object of hints, h a hex digit by the hash of the shard's name: rows
 *               minute (16 hex digits) '.' name of the shard: a task there may be due in that minute */
#ifndef LAGRA_STORE_RADOS_HINTS_H
#define LAGRA_STORE_RADOS_HINTS_H

#include "store/rados/row_key.h"

#define TODO_OBJECTS   16u
#define TODO_NAME_SIZE 8
#define TODO_DIGITS    16
void todo_name(unsigned number, char ret_name[TODO_NAME_SIZE]);
unsigned todo_of_shard(const char *object);
struct bytes todo_key(struct arena *arena, uint64_t minute, const char *object);

#endif
