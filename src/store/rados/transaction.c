#include "store/rados/transaction.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rados/slot.h"
#include "store/rados/task_row.h"

/* Of the bytes of the changes that wait beside a partition. */
#define PREPARED_ROW_BYTES (32u << 10)
/* A slot that others have taken so often is given up. */
#define SLOT_TRIES_MAX     16u

struct member {
    struct partition partition;
    struct partition_header seen, locked, settled;
    struct part_work work;
    struct part_work clearing; /* what goes with the lock */
    struct shard_task task;    /* that looks after the lock */
    unsigned slot;             /* where the lock is noted: slot.h */
    bool has_pieces, is_limb;
};

struct transaction {
    struct waiter waiter; /* first */
    struct shards *shards;
    struct transaction_owner *owner;
    struct arena *arena;
    struct attempt attempt;
    instant now;
    struct member **order; /* limbs, then by (space, key): the last is the primary; in the arena */
    size_t count, capacity;
    bool gets_limbs;
    struct partition_header after; /* of the primary then */
    size_t at;                     /* in that order */
    size_t locked;                 /* so many may be */
    bool is_settled;               /* all were, by this one */
    unsigned slot_tries;
    enum store_result result;
    struct bytes decided_key;
    struct shard_task forget;
    struct shard_check check;
    struct shard_link *link, *rests_on; /* of a commit of one partition */
    struct arrival *awaited;
    struct port_step *slot_step;
    struct apply apply;
};

struct transaction *transaction_new(struct shards *shards, struct arena *arena, instant now,
                                    struct transaction_owner *owner)
{
    struct transaction *t = xcalloc(1, sizeof *t);

    t->shards = shards;
    t->owner = owner;
    t->arena = arena;
    t->attempt = shards_next_attempt(shards);
    t->now = now;
    return t;
}

/* As many as there are limbs, beside a client's parts. */
static struct part_work *add(struct transaction *t, const struct partition *partition,
                             const struct partition_header *seen, struct member member)
{
    struct member *added = arena_alloc(t->arena, sizeof *added), **before = t->order;

    member.partition = (struct partition){ partition->space, arena_copy(t->arena, partition->key) };
    member.seen = *seen;
    member.seen.lock.primary_key = arena_copy(t->arena, seen->lock.primary_key);
    *added = member;
    part_work_init(&added->work);
    if (t->count == t->capacity) {
        t->capacity = t->capacity > 0 ? 2 * t->capacity : COMMIT_PARTS_MAX;
        t->order = arena_array(t->arena, t->capacity, sizeof t->order[0]);
    }
    for (size_t i = 0; i < t->count && t->order != before; i++)
        t->order[i] = before[i];
    t->order[t->count++] = added;
    return &added->work;
}

struct part_work *transaction_add(struct transaction *t, const struct partition *partition,
                                  const struct partition_header *seen, bool has_pieces)
{
    return add(t, partition, seen, (struct member){ .has_pieces = has_pieces });
}

struct part_work *transaction_add_limb(struct transaction *t, const struct partition *limb,
                                       const struct partition_header *seen)
{
    return add(t, limb, seen, (struct member){ .is_limb = true });
}

void transaction_gets_limbs(struct transaction *t)
{
    t->gets_limbs = true;
}

struct partition_header transaction_after(const struct transaction *t)
{
    assert(t->count == 1);
    return partition_header_after(&t->order[0]->seen, t->now, t->attempt);
}

void transaction_link(struct transaction *t, struct shard_link *link, struct shard_link *rests_on)
{
    assert(t->count == 1 && !partition_is_locked(&t->order[0]->seen));
    t->link = link;
    t->rests_on = rests_on;
}

void transaction_drop(struct transaction *t)
{
    free(t);
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = *(struct member *const *)a, *y = *(struct member *const *)b;
    int order = x->is_limb != y->is_limb ? (x->is_limb ? -1 : 1)
                                         : memcmp(x->partition.space.b, y->partition.space.b,
                                                  sizeof x->partition.space.b);

    return order ? order : bytes_compare(x->partition.key, y->partition.key);
}

static struct member *primary_of(const struct transaction *t)
{
    return t->order[t->count - 1];
}

/* ---- steps ---- */

static void apply(struct transaction *t, const struct member *member, struct shard_commit commit,
                  void (*then)(struct waiter *waiter))
{
    commit.partition_key = member->partition.key;
    commit.attempt = t->attempt;
    commit.now = t->now;
    t->apply.commit = commit;
    t->waiter.wake = then;
    apply_start(&t->apply, t->shards, &member->partition.space, &t->waiter);
}

static void await(struct transaction *t, struct arrival *arrival,
                  void (*then)(struct waiter *waiter))
{
    arrival_await(&t->awaited, arrival, &t->waiter, then);
}

static void end(struct transaction *t)
{
    struct transaction_owner *owner = t->owner;

    arrival_drop(t->awaited);
    free(t);
    owner->ended(owner);
}

static void decide(struct transaction *t, enum store_result result)
{
    t->result = result;
    t->owner->decided(t->owner, result);
}

/* ---- rolling back ---- */

/* With the lock goes its task, whose due is what the op that locked made of it. Who else takes the lock away leaves the
 * task, which finds nothing to do. */
static struct shard_change *clear(struct transaction *t, struct member *member)
{
    part_work_remove(&member->clearing, t->arena,
                     row_key_task(t->arena, member->task.due, &member->task.id));
    return member->clearing.changes;
}

static void roll_back_next(struct transaction *t);

static void rolled_back(struct waiter *waiter)
{
    roll_back_next((struct transaction *)(void *)waiter);
}

/* Also the one whose lock was refused: the refusal may have been the second answer. */
static void roll_back_next(struct transaction *t)
{
    struct member *member;

    if (t->locked == 0) {
        decide(t, t->result);
        end(t);
        return;
    }
    member = t->order[--t->locked];
    apply(t, member,
          (struct shard_commit){ .seen = member->locked,
                                 .after = &member->seen,
                                 .changes = clear(t, member),
                                 .is_any_state = true },
          rolled_back);
}

static void fail(struct transaction *t, enum store_result result)
{
    t->result = result;
    roll_back_next(t);
}

/* ---- settling and forgetting ---- */

static void settle_next(struct transaction *t);

static void forgotten(struct waiter *waiter)
{
    end((struct transaction *)(void *)waiter);
}

static void forget(struct transaction *t)
{
    struct part_work work;

    part_work_init(&work);
    part_work_remove(&work, t->arena, t->decided_key);
    part_work_remove(&work, t->arena, row_key_task(t->arena, t->forget.due, &t->forget.id));
    apply(t, primary_of(t),
          (struct shard_commit){
              .changes = work.changes, .has_no_header = true, .is_any_state = true },
          forgotten);
}

static void settled(struct waiter *waiter)
{
    struct transaction *t = (struct transaction *)(void *)waiter;

    /* If not by this, then perhaps by another, or not at all: the task looks. */
    t->is_settled = t->is_settled && t->apply.commit.result == STORE_OK;
    settle_next(t);
}

static void settle_next(struct transaction *t)
{
    struct member *member;

    if (t->at == t->count - 1) {
        if (t->is_settled)
            forget(t);
        else
            end(t);
        return;
    }
    member = t->order[t->at++];
    *member->work.changes_end = clear(t, member);
    apply(t, member,
          (struct shard_commit){ .seen = member->locked,
                                 .after = &member->settled,
                                 .changes = member->work.changes,
                                 .counts = member->work.counts,
                                 .tasks = member->work.tasks,
                                 .is_any_state = true },
          settled);
}

/* ---- deciding ---- */

static void primary_committed(struct waiter *waiter)
{
    struct transaction *t = (struct transaction *)(void *)waiter;
    enum store_result result = t->apply.commit.result;

    if (result == STORE_UNKNOWN) { /* whoever meets the locks learns it */
        decide(t, result);
        end(t);
    } else if (result) {
        fail(t, result);
    } else {
        decide(t, STORE_OK);
        t->at = 0;
        t->is_settled = true;
        if (t->count == 1)
            end(t);
        else
            settle_next(t);
    }
}

/* The row that says so, and the task that looks after it. */
static void add_decision(struct transaction *t, struct member *primary)
{
    struct partition *others = arena_array(t->arena, t->count, sizeof others[0]);
    struct task_row task = {
        .kind = TASK_FORGET,
        .payload = attempt_write(t->arena, t->attempt),
        .partition_key = primary->partition.key,
    };

    for (size_t i = 0; i + 1 < t->count; i++)
        others[i] = t->order[i]->partition;
    t->decided_key = row_key_decided(t->arena, primary->partition.key, t->attempt.incarnation,
                                     t->attempt.number);
    part_work_set(&primary->work, t->arena, t->decided_key,
                  row_value_write(t->arena, decided_write(t->arena, others, t->count - 1)));
    t->forget = (struct shard_task){
        .next = primary->work.tasks,
        .due = t->now + TRANSACTION_FORGET_TICKS,
        .id = guid_new(),
        .value = task_row_write(t->arena, &task),
    };
    primary->work.tasks = &t->forget;
}

static void commit_primary(struct transaction *t)
{
    struct member *primary = primary_of(t);

    if (t->count > 1)
        add_decision(t, primary);
    t->after = partition_header_after(&primary->seen, t->now, t->attempt);
    t->after.has_limbs = true;
    apply(t, primary,
          (struct shard_commit){ .seen = primary->seen,
                                 .after = t->gets_limbs ? &t->after : NULL,
                                 .has_pieces = primary->has_pieces,
                                 .changes = primary->work.changes,
                                 .counts = primary->work.counts,
                                 .tasks = primary->work.tasks,
                                 .link = t->link,
                                 .rests_on = t->rests_on },
          primary_committed);
}

/* ---- locking ---- */

static void lock_next(struct transaction *t);

static void slot_resolved(struct waiter *waiter)
{
    struct transaction *t = (struct transaction *)(void *)waiter;

    t->at--;
    t->locked--;
    lock_next(t);
}

static void slot_read_again(struct waiter *waiter)
{
    struct transaction *t = (struct transaction *)(void *)waiter;
    const struct port_op *op = arrival_answer(t->awaited);
    struct partition taken = { .space = t->order[t->at - 1]->partition.space };
    struct slot slot;

    if (op->result) {
        fail(t, op->result == PORT_ABSENT ? STORE_NOT_FOUND : STORE_IO);
    } else if (port_value(t->slot_step).len == 0) {
        slot_resolved(waiter);
    } else if (!slot_read(port_value(t->slot_step), &slot)) {
        log_line(LOG_ERROR, "rados: a slot is damaged");
        fail(t, STORE_CORRUPT);
    } else {
        taken.key = slot.partition_key;
        await(t, resolve_start(t->shards, &taken), slot_resolved);
    }
}

/* Another partition of the shard, with the same hash, is locked. */
static void wait_for_slot(struct transaction *t)
{
    struct port_op *op;

    if (++t->slot_tries > SLOT_TRIES_MAX) {
        fail(t, STORE_CONFLICT);
        return;
    }
    op = arrival_op();
    t->slot_step = port_get(op, t->check.key);
    await(t, arrival_send(shards_port(t->shards), t->apply.object, op), slot_read_again);
}

static void member_locked(struct waiter *waiter)
{
    struct transaction *t = (struct transaction *)(void *)waiter;
    enum store_result result = t->apply.commit.result;

    if (result == STORE_OK)
        lock_next(t);
    else if (result == STORE_BUSY)
        wait_for_slot(t);
    else /* nothing is decided, whatever became of this one */
        fail(t, result == STORE_UNKNOWN ? STORE_CONFLICT : result);
}

/* Looks after the lock, should this front end not: where nobody writes nobody would meet it. decision: 800 */
static void add_task(struct transaction *t, struct member *member)
{
    struct task_row row = {
        .kind = TASK_LOCKED,
        .payload = attempt_write(t->arena, t->attempt),
        .partition_key = member->partition.key,
    };

    member->task = (struct shard_task){
        .due = t->now + TRANSACTION_LOCK_TICKS,
        .id = guid_new(),
        .value = task_row_write(t->arena, &row),
    };
}

/* The changes as rows beside the partition, and what takes them away. */
static void prepare(struct transaction *t, struct member *member)
{
    struct member *primary = primary_of(t);
    struct bytes rest = part_work_write(&member->work, t->arena);
    struct slot slot = { t->attempt, member->partition.key };
    struct part_work work;

    member->locked = member->seen;
    member->locked.lock = (struct partition_lock){
        .transaction = t->attempt,
        .primary_space = primary->partition.space,
        .primary_key = primary->partition.key,
        .primary_version = primary->seen.version,
        .version_to_be = member->settled.version,
    };
    part_work_init(&work);
    part_work_init(&member->clearing);
    for (uint32_t number = 0; rest.len > 0; number++) {
        struct bytes key = row_key_prepared(t->arena, member->partition.key, number);
        struct bytes part = rest;

        if (part.len > PREPARED_ROW_BYTES)
            part.len = PREPARED_ROW_BYTES;
        part_work_set(&work, t->arena, key, row_value_write(t->arena, part));
        part_work_remove(&member->clearing, t->arena, key);
        rest = bytes_from(rest, part.len);
    }
    t->check = (struct shard_check){ .key = row_key_slot_number(t->arena, member->slot) };
    part_work_set(&work, t->arena, t->check.key, slot_write(t->arena, &slot));
    part_work_set(&member->clearing, t->arena, t->check.key, (struct bytes){ NULL, 0 });
    add_task(t, member);
    apply(t, member,
          (struct shard_commit){ .seen = member->seen,
                                 .after = &member->locked,
                                 .has_pieces = member->has_pieces,
                                 .changes = work.changes,
                                 .tasks = &member->task,
                                 .checks = &t->check },
          member_locked);
}

static void lock_next(struct transaction *t)
{
    if (t->at == t->count - 1) {
        commit_primary(t);
        return;
    }
    t->locked = t->at + 1;
    prepare(t, t->order[t->at++]);
}

static void lock_resolved(struct waiter *waiter)
{
    struct transaction *t = (struct transaction *)(void *)waiter;

    decide(t, STORE_CONFLICT); /* it is another state by now, or will be seen unlocked */
    end(t);
}

/* No two have the same, for they may be of one shard; a limb has one of its own. */
static void choose_slots(struct transaction *t)
{
    uint64_t taken = 0;

    _Static_assert(ROW_SLOTS == 64 && COMMIT_PARTS_MAX <= ROW_SLOTS, "a bit for each");
    for (size_t i = 0; i + 1 < t->count; i++) {
        struct member *member = t->order[i];

        member->slot = row_slot_of(member->partition.key);
        while (!member->is_limb && taken >> member->slot & 1)
            member->slot = (member->slot + 1) % ROW_SLOTS;
        taken |= member->is_limb ? 0 : UINT64_C(1) << member->slot;
    }
}

void transaction_start(struct transaction *t)
{
    assert(t->count > 0);
    for (size_t i = 0; i < t->count; i++) {
        struct member *member = t->order[i];

        member->settled = partition_header_after(&member->seen, t->now, t->attempt);
        if (partition_is_locked(&member->seen)) {
            await(t, resolve_start(t->shards, &member->partition), lock_resolved);
            return;
        }
    }
    qsort(t->order, t->count, sizeof t->order[0], compare_members);
    choose_slots(t);
    lock_next(t);
}
