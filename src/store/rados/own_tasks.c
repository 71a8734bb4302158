#include "store/rados/own_tasks.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/front_end_rows.h"
#include "store/rados/piece_rows.h"
#include "store/rados/seal.h"
#include "store/rados/task_row.h"

#define OWN_ARENA_MAX     (64u << 20)
/* A partition that is found locked again so often is left for later. */
#define RESOLVE_TRIES_MAX 8u

/* ---- forgetting ---- */

/* Reads a row of the shard that a partition lies in; no row, if there is no shard. *ret_row points into what is returned;
 * NULL: it cannot be read. */
static struct arrival *read_row(struct rados *rados, const struct partition *partition,
                                struct bytes key, struct port_step **ret_row)
{
    for (;;) {
        struct port_op *op = arrival_op();
        struct port_step *bounds_row = port_get(op, row_key_bounds());
        enum store_result result = STORE_OK;
        struct shard_bounds bounds;
        struct arrival *arrival;
        char object[SHARD_NAME_SIZE];

        *ret_row = port_get(op, key);
        shards_place(rados->shards, partition, object);
        arrival = send_block(rados->port, object, op);
        if (op->result == PORT_OK)
            result = shard_bounds_read(port_value(bounds_row), &bounds);
        else if (op->result != PORT_ABSENT)
            result = STORE_IO;
        if (op->result == PORT_OK && !result)
            result = shards_arrive(rados->shards, partition, &bounds);
        if (!result)
            return arrival;
        arrival_drop(arrival);
        if (result != STORE_CONFLICT)
            return NULL;
    }
}

/* Is a partition not locked by the transaction, after whatever has locked it is settled? */
static bool is_settled(struct rados *rados, const struct partition *partition,
                       struct attempt transaction, struct arena *arena)
{
    for (unsigned tries = 0; tries < RESOLVE_TRIES_MAX; tries++) {
        struct partition_header header;
        struct port_step *row;
        struct arrival *arrival =
            read_row(rados, partition, row_key_header(arena, partition->key), &row);
        bool is_locked =
            !arrival || partition_header_read(port_value(row), &header) ||
            (partition_is_locked(&header) && attempt_equal(header.lock.transaction, transaction));

        arrival_drop(arrival);
        if (!is_locked)
            return true;
        arrival = resolve_start(rados->shards, partition);
        arrival_block(arrival);
        arrival_drop(arrival);
    }
    return false;
}

static bool remove_decided(struct rados *rados, const struct own_task *task, struct bytes key)
{
    const struct shard_change removal = { .key = key, .is_removal = true };

    return change_block(rados->shards, &task->partition,
                        (struct shard_commit){ .changes = &removal }) == STORE_OK;
}

/* The row that says that it was decided goes once no partition is locked by it: a look, not the answer of a
 * settling op. */
static bool forget(struct rados *rados, const struct own_task *task, struct arena *arena)
{
    struct partition *others;
    struct attempt transaction;
    struct arrival *arrival;
    struct port_step *row;
    struct bytes key, value;
    size_t count = 0;
    bool is_done;

    if (!attempt_read(task->payload, &transaction))
        return false;
    key = row_key_decided(arena, task->partition.key, transaction.incarnation, transaction.number);
    arrival = read_row(rados, &task->partition, key, &row);
    if (!arrival)
        return false;
    is_done = row->row_count == 0;
    if (!is_done && row_value_read(port_value(row), &value) &&
        decided_read(arena_copy(arena, value), arena, &others, &count)) {
        is_done = true;
        for (size_t i = 0; i < count; i++)
            is_done = is_done && is_settled(rados, &others[i], transaction, arena);
        is_done = is_done && remove_decided(rados, task, key);
    }
    arrival_drop(arrival);
    return is_done;
}

/* A lock whose transaction was not ended by who began it. */
static bool end_lock(struct rados *rados, const struct own_task *task, struct arena *arena)
{
    struct attempt transaction;

    return attempt_read(task->payload, &transaction) &&
           is_settled(rados, &task->partition, transaction, arena);
}

/* ---- pieces ---- */

/* May those be deleted whose release was decided at that instant? Whoever opened a snapshot after that may have seen them
 * still, until the commit was applied: by now it was, and nobody's takes as long as pieces stay. Snapshots of other front
 * ends count as of some seconds ago, which is less than that. */
static bool is_past(struct rados *rados, instant decided, bool is_all)
{
    instant now = clock_now(), due = decided + rados->grace, applied = due < now ? due : now;

    return rados_oldest_opened(rados) > applied && beat_oldest_of_others(rados->beat) > applied &&
           (is_all || now >= due);
}

static bool collect(struct rados *rados, const struct own_task *task, bool is_all)
{
    struct bytes rest = task->payload;
    struct piece_change piece;

    if (!is_past(rados, task->due - rados->grace, is_all))
        return false;
    while (piece_name_take(&rest, &piece)) {
        staged_delete(rados->staged, piece.extent, piece.offset);
        staged_used(rados->staged, 0, -(int64_t)piece.length);
    }
    return rest.len == 0;
}

/* ---- pieces that have moved ---- */

/* Of a piece that has not come back meanwhile. False: it is not known. */
static bool remove_moved(struct rados *rados, const struct partition *partition,
                         const struct piece_change *piece, struct arena *arena)
{
    struct shard_check is_away = {
        .key = row_key_piece(arena, partition->key, piece->extent, piece->offset),
        .value = piece_references_write(arena, 0, piece->length),
    };
    const struct shard_change removal = { .key = is_away.key, .is_removal = true };
    enum store_result result = change_block(
        rados->shards, partition, (struct shard_commit){ .changes = &removal, .checks = &is_away });

    return result == STORE_OK || result == STORE_BUSY || result == STORE_NOT_FOUND;
}

/* Is the intent there that the number of the piece is of? */
static bool has_intent(struct rados *rados, const struct piece_change *piece)
{
    struct port_op *op = arrival_op();
    struct port_step *row =
        port_get(op, intent_key(op->arena, piece->extent, intent_first(piece->offset)));
    struct arrival *arrival = send_block(rados->port, BEAT_OBJECT, op);
    bool has = op->result != PORT_ABSENT && (op->result || row->row_count > 0);

    arrival_drop(arrival);
    return has;
}

/* Those whose intents are gone are looked for no more, so their rows go. The others are left to a later task. */
static bool forget_moved(struct rados *rados, const struct own_task *task, struct arena *arena)
{
    struct bytes rest = task->payload;
    struct piece_change piece;
    struct task_row row = { .kind = TASK_MOVED, .partition_key = task->partition.key };
    struct shard_task later = { .due = clock_now() + OWN_MOVED_TICKS, .id = guid_new() };
    struct text left;
    bool is_done = true;

    text_init(&left, arena, 0);
    while (piece_name_take(&rest, &piece)) {
        if (has_intent(rados, &piece))
            piece_name_write(&left, &piece);
        else
            is_done = remove_moved(rados, &task->partition, &piece, arena) && is_done;
    }
    row.payload = text_bytes(&left);
    if (!is_done || row.payload.len == 0)
        return is_done;
    later.value = task_row_write(arena, &row);
    return change_block(rados->shards, &task->partition,
                        (struct shard_commit){ .tasks = &later }) == STORE_OK;
}

/* ---- dropped spaces ---- */

/* A shard of a space that was dropped, which is sealed. */
struct emptied {
    char object[SHARD_NAME_SIZE];
    struct shard_bounds bounds; /* keys in the arena */
    struct bytes after;         /* the row that was read last, in the arena */
    bool is_over;
};

/* Rows of partitions that another shard has were on their way here when it was sealed (move.h). */
static bool is_own(const struct emptied *shard, const struct port_row *row,
                   const struct row_name *name)
{
    struct task_row task;
    struct bytes value;

    if (name->kind != ROW_TASK)
        return shard_bounds_have(&shard->bounds, name->partition_key);
    return !row_value_read(row->value, &value) || !task_row_read(value, &task) ||
           shard_bounds_have(&shard->bounds, task.partition_key);
}

/* Is the row to be removed? The pieces that it counts are deleted. Tasks, and what is needed to settle transactions,
 * stay. */
static bool empty_row(struct rados *rados, const struct emptied *shard, const struct port_row *row,
                      struct arena *arena)
{
    struct piece_change piece;
    struct row_name name;

    if (!row_key_read(row->key, arena, &name))
        return false;
    if (name.kind == ROW_PIECE && is_own(shard, row, &name) &&
        piece_row_name(row->key, row->value, &piece)) {
        if (piece.references == 0)
            return false; /* it lies elsewhere, and its task removes the row */
        staged_delete(rados->staged, piece.extent, piece.offset);
        staged_used(rados->staged, -(int64_t)piece.length, 0);
    }
    return name.kind == ROW_LISTED || name.kind == ROW_INNER || name.kind == ROW_INDEX ||
           name.kind == ROW_PIECE || name.kind == ROW_COUNTER || name.kind == ROW_LIMB ||
           (name.kind == ROW_TASK && !is_own(shard, row, &name));
}

static bool drop_space(struct rados *rados, const struct guid *space, struct arena *arena);

/* Does the limb itself say so? What a damaged row names may be anybody's. *ret_is_read: false: a failure */
static bool is_limb_of(struct rados *rados, const struct guid *limb, const struct partition *home,
                       bool *ret_is_read)
{
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, row_key_home());
    char object[SHARD_NAME_SIZE];
    struct arrival *arrival;
    struct partition said;
    bool is_of;

    shard_name(limb, 0, 0, object);
    arrival = send_block(rados->port, object, op);
    *ret_is_read = op->result == PORT_OK || op->result == PORT_ABSENT;
    is_of = op->result == PORT_OK && limb_home_read(port_value(row), &said) &&
            guid_equal(&said.space, &home->space) && bytes_equal(said.key, home->key);
    arrival_drop(arrival);
    return is_of;
}

/* If it says where a limb is: that goes as the space does. False: a failure. */
static bool drop_limb(struct rados *rados, const struct emptied *shard, const struct port_row *row,
                      struct arena *arena)
{
    struct partition home;
    struct limb_row limb;
    struct row_name name;
    bool is_read;

    if (!row_key_read(row->key, arena, &name) || name.kind != ROW_LIMB ||
        !is_own(shard, row, &name) || !limb_row_read(row->value, &limb) ||
        !shard_name_space(shard->object, &home.space))
        return true;
    home.key = name.partition_key;
    if (is_limb_of(rados, &limb.space, &home, &is_read))
        return drop_space(rados, &limb.space, arena);
    return is_read;
}

/* One page. False: a failure. */
static bool empty_page(struct rados *rados, struct emptied *shard, struct arena *arena)
{
    struct port_op *op = arrival_op(), *removal = arrival_op();
    struct port_step *list = port_list(op, shard->after, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
    struct arrival *arrival = send_block(rados->port, shard->object, op);
    bool is_empty = true, is_done = op->result == PORT_OK;

    shard->is_over = !is_done || !list->is_cut;
    for (uint32_t i = 0; is_done && i < list->row_count; i++) {
        struct arena_mark mark = arena_mark(arena);

        is_done = drop_limb(rados, shard, &list->rows[i], arena);
        if (is_done && empty_row(rados, shard, &list->rows[i], arena)) {
            port_remove(removal, list->rows[i].key);
            is_empty = false;
        }
        arena_rewind(arena, mark);
    }
    if (is_done && list->row_count > 0)
        shard->after = arena_copy(arena, list->rows[list->row_count - 1].key);
    arrival_drop(arrival);
    if (is_empty)
        port_op_free(removal);
    else
        is_done = run_block(rados->port, shard->object, removal) == PORT_OK && is_done;
    return is_done;
}

/* The shards of a lane, one after another. */
static bool empty_lane(struct rados *rados, const struct guid *space, unsigned lane,
                       struct arena *arena)
{
    uint64_t number = 0;

    do {
        struct emptied shard = { .is_over = false };
        struct port_op *op = arrival_op();
        struct port_step *row = port_get(op, row_key_bounds());
        struct arrival *arrival;
        bool is_read;

        shard_name(space, lane, number, shard.object);
        arrival = send_block(rados->port, shard.object, op);
        is_read = op->result == PORT_OK &&
                  !shard_bounds_read(arena_copy(arena, port_value(row)), &shard.bounds);
        arrival_drop(arrival);
        if (!is_read || shard.bounds.state != SHARD_SEALED || shard.bounds.is_moving)
            return false; /* it could not be sealed: another time */
        while (!shard.is_over)
            if (!empty_page(rados, &shard, arena))
                return false;
        number = shard.bounds.next;
    } while (number > 0);
    return true;
}

static void seal(struct rados *rados, const struct guid *space)
{
    struct arrival *arrival = seal_start(rados->shards, space);

    arrival_block(arrival);
    arrival_drop(arrival);
}

static bool empty_space(struct rados *rados, const struct guid *space, struct arena *arena)
{
    for (unsigned lane = 0; lane < space_lanes(space); lane++)
        if (!empty_lane(rados, space, lane, arena))
            return false;
    return true;
}

static bool drop_space(struct rados *rados, const struct guid *space, struct arena *arena)
{
    seal(rados, space);
    return empty_space(rados, space, arena);
}

static bool drop(struct rados *rados, const struct own_task *task, struct arena *arena, bool is_all)
{
    struct guid space;

    if (task->payload.len != sizeof space.b)
        return false;
    memcpy(space.b, task->payload.ptr, sizeof space.b);
    seal(rados, &space);
    return is_past(rados, task->due, is_all) && empty_space(rados, &space, arena);
}

bool own_task_do(struct rados *rados, const struct own_task *task, bool is_all)
{
    struct arena *arena = arena_new(OWN_ARENA_MAX);
    bool is_done = false;

    if (task->kind == TASK_FORGET)
        is_done = forget(rados, task, arena);
    else if (task->kind == TASK_LOCKED)
        is_done = end_lock(rados, task, arena);
    else if (task->kind == TASK_COLLECT)
        is_done = collect(rados, task, is_all);
    else if (task->kind == TASK_DROP)
        is_done = drop(rados, task, arena, is_all);
    else if (task->kind == TASK_MOVED)
        is_done = forget_moved(rados, task, arena);
    else
        log_line(LOG_ERROR, "rados: a task of an unknown kind: %u", task->kind);
    arena_free(arena);
    return is_done;
}
