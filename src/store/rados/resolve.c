#include "store/rados/resolve.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/slot.h"

/* Of the changes of one transaction, several times over. */
#define RESOLVE_ARENA_MAX (64u << 20)
/* A lock whose primary is locked, and so on: there are no circles, since locks are taken in order. */
#define DEPTH_MAX         32u

struct resolve {
    struct waiter waiter; /* first */
    struct shards *shards;
    struct arrival *outcome;
    struct arena *arena;     /* of this look */
    struct partition wanted; /* its key on the heap */
    struct partition at;     /* now; its key on the heap */
    unsigned depth, waited_ms;
    struct arrival *read;
    struct port_step *bounds_row, *header_row, *rows, *slots;
    struct bytes locked_row;        /* in the arena */
    struct partition_header header; /* of `at` */
    struct text prepared;           /* what was read of its changes */
    struct part_work clearing;      /* rows that go with the lock */
    struct partition_header after;
    struct shard_check check;
    struct apply apply;
};

static void look(struct resolve *r, struct bytes from);

static void go_to(struct resolve *r, const struct partition *partition)
{
    struct partition next = { partition->space, xcopy(partition->key) };

    xcopy_free(r->at.key);
    r->at = next;
}

static void end(struct resolve *r)
{
    struct arrival *outcome = r->outcome;
    struct shards *shards = r->shards;

    arrival_drop(r->read);
    arena_free(r->arena);
    xcopy_free(r->at.key);
    xcopy_free(r->wanted.key);
    free(r);
    shards_leave(shards);
    arrival_tell(outcome);
}

static void await(struct resolve *r, struct arrival *arrival, void (*then)(struct waiter *waiter))
{
    arrival_await(&r->read, arrival, &r->waiter, then);
}

/* ---- fate ---- */

static struct partition primary_of(const struct partition_lock *lock)
{
    return (struct partition){ lock->primary_space, lock->primary_key };
}

struct arrival *fate_ask(struct shards *shards, const struct partition_lock *lock)
{
    const struct partition primary = primary_of(lock);
    struct port_op *op = arrival_op();
    char object[SHARD_NAME_SIZE];

    shards_place(shards, &primary, object);
    (void)port_get(op, row_key_bounds());
    (void)port_get(op, row_key_header(op->arena, primary.key));
    (void)port_get(op, row_key_decided(op->arena, primary.key, lock->transaction.incarnation,
                                       lock->transaction.number));
    return arrival_send(shards_port(shards), object, op);
}

enum fate fate_told(struct shards *shards, const struct arrival *asked,
                    const struct partition_lock *lock, struct partition_header *ret_primary)
{
    const struct port_op *op = arrival_answer(asked);
    const struct partition partition = primary_of(lock);
    const struct port_step *bounds_row = op->first, *header = bounds_row->next,
                           *decided = header->next;
    struct partition_header primary = { .version = 0 };
    struct shard_bounds bounds = { .state = SHARD_LIVE };

    if (op->result && op->result != PORT_ABSENT)
        return FATE_UNREADABLE;
    if (!op->result) {
        enum store_result result = shard_bounds_read(port_value(bounds_row), &bounds);

        if (!result)
            result = shards_arrive(shards, &partition, &bounds);
        if (result == STORE_CONFLICT)
            return FATE_ELSEWHERE;
        if (result || partition_header_read(port_value(header), &primary))
            return FATE_UNREADABLE;
    }
    if (ret_primary)
        *ret_primary = primary;
    if (!op->result && decided->row_count > 0)
        return FATE_DECIDED;
    /* In a sealed shard nothing is decided any more. */
    if (primary.version != lock->primary_version || bounds.state == SHARD_SEALED)
        return FATE_DEAD;
    return FATE_OPEN;
}

/* ---- changes ---- */

static void looked_again(struct waiter *waiter)
{
    struct resolve *r = (struct resolve *)(void *)waiter;

    if (r->apply.commit.result && r->apply.commit.result != STORE_CONFLICT &&
        r->apply.commit.result != STORE_BUSY && r->apply.commit.result != STORE_UNKNOWN) {
        log_line(LOG_ERROR, "rados: a locked partition: %s",
                 store_result_text(r->apply.commit.result));
        end(r);
        return;
    }
    go_to(r, &r->wanted); /* whatever it was: from the beginning */
    r->depth = 0;
    look(r, (struct bytes){ NULL, 0 });
}

static void change(struct resolve *r, struct bytes key, const struct guid *space,
                   const struct partition_header *seen, const struct part_work *work)
{
    r->apply.commit = (struct shard_commit){
        .partition_key = key,
        .seen = *seen,
        .after = &r->after,
        .attempt = shards_next_attempt(r->shards),
        .changes = work ? work->changes : NULL,
        .counts = work ? work->counts : NULL,
        .tasks = work ? work->tasks : NULL,
        .is_any_state = true,
    };
    if (!work)
        r->apply.commit.checks = &r->check;
    r->waiter.wake = looked_again;
    apply_start(&r->apply, r->shards, space, &r->waiter);
}

static void settle(struct resolve *r)
{
    struct part_work *work = arena_alloc(r->arena, sizeof *work);

    if (!part_work_read(text_bytes(&r->prepared), r->arena, work)) {
        log_line(LOG_ERROR, "rados: the changes prepared for a partition are damaged");
        end(r);
        return;
    }
    *work->changes_end = r->clearing.changes;
    r->after = partition_header_settled(&r->header);
    change(r, r->at.key, &r->at.space, &r->header, work);
}

static void roll_back(struct resolve *r)
{
    r->after = partition_header_unlocked(&r->header);
    change(r, r->at.key, &r->at.space, &r->header, &r->clearing);
}

/* Makes the transaction dead. */
static void abort_open(struct resolve *r, const struct partition_header *primary)
{
    const struct partition_lock *lock = &r->header.lock;

    r->after = *primary;
    r->after.version++;
    r->check = (struct shard_check){
        .key = row_key_decided(r->arena, lock->primary_key, lock->transaction.incarnation,
                               lock->transaction.number),
    };
    change(r, lock->primary_key, &lock->primary_space, primary, NULL);
}

static void paused(struct waiter *waiter)
{
    look((struct resolve *)(void *)waiter, (struct bytes){ NULL, 0 });
}

static void fate_known(struct waiter *waiter)
{
    struct resolve *r = (struct resolve *)(void *)waiter;
    struct partition_header primary;
    struct partition at;

    switch (fate_told(r->shards, r->read, &r->header.lock, &primary)) {
    case FATE_DECIDED:
        settle(r);
        return;
    case FATE_DEAD:
        roll_back(r);
        return;
    case FATE_ELSEWHERE:
        await(r, fate_ask(r->shards, &r->header.lock), fate_known);
        return;
    case FATE_UNREADABLE:
        end(r);
        return;
    case FATE_OPEN:
        break;
    }
    if (partition_is_locked(&primary)) {
        at = primary_of(&r->header.lock);
        if (++r->depth > DEPTH_MAX) {
            end(r);
            return;
        }
        go_to(r, &at);
        look(r, (struct bytes){ NULL, 0 });
    } else if (r->waited_ms < RESOLVE_PATIENCE_MS) {
        r->waited_ms += RESOLVE_STEP_MS;
        r->waiter.wake = paused;
        port_pause(shards_port(r->shards), RESOLVE_STEP_MS, &r->waiter);
    } else {
        abort_open(r, &primary);
    }
}

/* ---- looking ---- */

/* Takes what was read of the prepared changes. */
static bool take_prepared(struct resolve *r)
{
    for (uint32_t i = 0; i < r->rows->row_count; i++) {
        struct bytes part;

        if (!row_value_read(r->rows->rows[i].value, &part))
            return false;
        text_add(&r->prepared, part);
        part_work_remove(&r->clearing, r->arena, arena_copy(r->arena, r->rows->rows[i].key));
    }
    return true;
}

/* With the lock the slot that says so. */
static void free_slot(struct resolve *r)
{
    for (uint32_t i = 0; i < r->slots->row_count; i++) {
        const struct port_row *row = &r->slots->rows[i];
        struct slot slot;

        if (row->value.len > 0 && slot_read(row->value, &slot) &&
            bytes_equal(slot.partition_key, r->at.key))
            part_work_set(&r->clearing, r->arena, arena_copy(r->arena, row->key),
                          (struct bytes){ NULL, 0 });
    }
}

/* Is the partition in the shard that was asked? If not it is looked for again, or that is all. */
static bool is_there(struct resolve *r)
{
    struct shard_bounds bounds;
    enum store_result result = STORE_IO;

    if (arrival_answer(r->read)->result == PORT_OK)
        result = shard_bounds_read(port_value(r->bounds_row), &bounds);
    if (!result)
        result = shards_arrive(r->shards, &r->at, &bounds);
    if (result == STORE_CONFLICT)
        look(r, (struct bytes){ NULL, 0 });
    else if (result)
        end(r);
    return !result;
}

static void looked(struct waiter *waiter)
{
    struct resolve *r = (struct resolve *)(void *)waiter;
    bool is_more = r->locked_row.len > 0;
    struct partition_header header;
    struct bytes row;

    if (!is_there(r))
        return;
    row = arena_copy(r->arena, port_value(r->header_row));
    if (partition_header_read(row, &header) || (!partition_is_locked(&header) && r->depth == 0)) {
        end(r);
        return;
    }
    if (!partition_is_locked(&header) || (is_more && !bytes_equal(row, r->locked_row))) {
        go_to(r, &r->wanted);
        r->depth = 0;
        look(r, (struct bytes){ NULL, 0 });
        return;
    }
    r->header = header;
    r->locked_row = row;
    if (!take_prepared(r)) {
        log_line(LOG_ERROR, "rados: a prepared change is damaged");
        end(r);
    } else if (r->rows->is_cut) {
        look(r, arena_copy(r->arena, r->rows->rows[r->rows->row_count - 1].key));
    } else {
        free_slot(r);
        await(r, fate_ask(r->shards, &r->header.lock), fate_known);
    }
}

/* after: the last prepared change that was read; none: the first look. */
static void look(struct resolve *r, struct bytes after)
{
    struct port_op *op = arrival_op();
    char object[SHARD_NAME_SIZE];

    shards_place(r->shards, &r->at, object);
    r->bounds_row = port_get(op, row_key_bounds());
    r->header_row = port_get(op, row_key_header(op->arena, r->at.key));
    r->rows = port_list(op, after, row_key_prepared_prefix(op->arena, r->at.key), PORT_ROWS_MAX);
    r->slots = port_list(op, (struct bytes){ NULL, 0 }, bytes_of("X", 1), ROW_SLOTS);
    if (after.len == 0) {
        arena_free(r->arena);
        r->arena = arena_new(RESOLVE_ARENA_MAX);
        r->locked_row = (struct bytes){ NULL, 0 };
        text_init(&r->prepared, r->arena, 0);
        part_work_init(&r->clearing);
    }
    await(r, arrival_send(shards_port(r->shards), object, op), looked);
}

struct arrival *resolve_start(struct shards *shards, const struct partition *partition)
{
    struct resolve *r = xcalloc(1, sizeof *r);
    struct arrival *outcome = arrival_new();

    shards_enter(shards);
    r->shards = shards;
    r->outcome = outcome;
    r->wanted = (struct partition){ partition->space, xcopy(partition->key) };
    go_to(r, partition);
    look(r, (struct bytes){ NULL, 0 });
    return outcome;
}
