#include "store/rados/hints.h"

#include <assert.h>
#include <stdio.h>

#include "base/crc.h"

void todo_name(unsigned number, char ret_name[TODO_NAME_SIZE])
{
    assert(number < TODO_OBJECTS);
    (void)snprintf(ret_name, TODO_NAME_SIZE, "todo.%x", number);
}

unsigned todo_of_shard(const char *object)
{
    return crc32c(0, object, strlen(object)) % TODO_OBJECTS;
}

struct bytes todo_key(struct arena *arena, uint64_t minute, const char *object)
{
    return arena_printf(arena, "%016llx.%s", (unsigned long long)minute, object);
}
