#include "store/rados/apply.h"

#include <assert.h>
#include <stdio.h>

#include "base/crc.h"
#include "base/log.h"

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

static void end(struct apply *apply)
{
    struct waiter *outer = apply->outer;

    shards_give(apply->shards, apply->object);
    outer->wake(outer);
}

static void committed(struct waiter *waiter);

static void hinted(struct waiter *waiter)
{
    struct apply *apply = (struct apply *)(void *)waiter;
    const struct port_op *op = arrival_answer(apply->hint);
    enum port_result result = op->result;

    arrival_drop(apply->hint);
    apply->hint = NULL;
    if (result) {
        log_line(LOG_ERROR, "rados: a hint: %s", port_result_text(result));
        apply->commit.result = result == PORT_FULL ? STORE_FULL : STORE_IO;
        end(apply);
        return;
    }
    shard_hinted(apply->shard, apply->commit.minute);
    apply->waiter.wake = committed;
    shard_commit(apply->shard, &apply->commit);
}

static void send_hint(struct apply *apply)
{
    struct port_op *op = arrival_op();
    char todo[TODO_NAME_SIZE];

    todo_name(todo_of_shard(apply->object), todo);
    port_set(op, todo_key(op->arena, apply->commit.minute, apply->object), bytes_from_string("1"));
    apply->hint = arrival_send(shards_port(apply->shards), todo, op);
    apply->waiter.wake = hinted;
    arrival_wait(apply->hint, &apply->waiter);
}

static void committed(struct waiter *waiter)
{
    struct apply *apply = (struct apply *)(void *)waiter;

    if (apply->commit.result == STORE_BUSY && apply->commit.minute > 0)
        send_hint(apply);
    else
        end(apply);
}

void apply_start(struct apply *apply, struct shards *shards, const struct guid *space,
                 struct waiter *waiter)
{
    const struct partition partition = { *space, apply->commit.partition_key };

    apply->shards = shards;
    apply->outer = waiter;
    apply->waiter.wake = committed;
    apply->commit.waiter = &apply->waiter;
    shards_place(shards, &partition, apply->object);
    apply->shard = shards_take(shards, apply->object);
    shard_commit(apply->shard, &apply->commit);
}
