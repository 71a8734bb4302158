#include "store/rados/apply.h"

#include "base/log.h"
#include "store/rados/move.h"

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
    const struct port_op *op = arrival_answer(apply->awaited);
    enum port_result result = op->result;

    arrival_drop(apply->awaited);
    apply->awaited = NULL;
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
    apply->awaited = arrival_send(shards_port(apply->shards), todo, op);
    apply->waiter.wake = hinted;
    arrival_wait(apply->awaited, &apply->waiter);
}

/* ---- to which shard ---- */

static struct partition partition_of(const struct apply *apply)
{
    return (struct partition){ apply->space, apply->commit.partition_key };
}

static void commit_there(struct apply *apply)
{
    const struct partition partition = partition_of(apply);

    shards_place(apply->shards, &partition, apply->object);
    apply->shard = shards_take(apply->shards, apply->object);
    apply->waiter.wake = committed;
    shard_commit(apply->shard, &apply->commit);
}

static void found(struct waiter *waiter)
{
    struct apply *apply = (struct apply *)(void *)waiter;

    arrival_drop(apply->awaited);
    apply->awaited = NULL;
    shards_give(apply->shards, apply->object);
    commit_there(apply);
}

static void give_up(struct apply *apply)
{
    struct shard_commit *commit = &apply->commit;

    log_line(LOG_ERROR, "shard %s: a commit is given up, whose partition is being moved",
             apply->object);
    commit->result = commit->was_sent_before ? STORE_UNKNOWN : STORE_CONFLICT;
    if (commit->link)
        shard_link_tell(commit->link, false);
    end(apply);
}

static void go_elsewhere(struct apply *apply)
{
    const struct partition partition = partition_of(apply);

    if (++apply->moves > APPLY_MOVES_MAX) {
        give_up(apply);
        return;
    }
    apply->waiter.wake = found;
    apply->awaited = move_out_of_way(apply->shards, &partition);
    arrival_wait(apply->awaited, &apply->waiter);
}

static void committed(struct waiter *waiter)
{
    struct apply *apply = (struct apply *)(void *)waiter;

    if (apply->commit.result == STORE_BUSY && apply->commit.is_elsewhere) {
        go_elsewhere(apply);
    } else if (apply->commit.result == STORE_BUSY && apply->commit.is_early) {
        apply->waiter.wake = found;
        port_pause(shards_port(apply->shards), APPLY_PAUSE_MS, &apply->waiter);
    } else if (apply->commit.result == STORE_BUSY && apply->commit.minute > 0) {
        send_hint(apply);
    } else {
        end(apply);
    }
}

void apply_start(struct apply *apply, struct shards *shards, const struct guid *space,
                 struct waiter *waiter)
{
    apply->shards = shards;
    apply->space = *space;
    apply->outer = waiter;
    apply->moves = 0;
    apply->commit.waiter = &apply->waiter;
    commit_there(apply);
}
