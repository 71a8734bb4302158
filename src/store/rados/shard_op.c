/* The op of a group, and the look that says what became of one that was refused. */
#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_private.h"

static const struct bytes none;

enum store_result shard_set_bounds(struct shard *shard, struct bytes row)
{
    struct shard_bounds bounds;
    struct bytes copy = xcopy(row);
    enum store_result result = shard_bounds_read(copy, &bounds);

    if (result) {
        xcopy_free(copy);
        return result;
    }
    if (shard->row.len > 0 && shard_bounds_were_touched(&shard->bounds, &bounds))
        turn_asked(&shard->turn, clock_monotonic_ms());
    xcopy_free(shard->row);
    shard->row = copy;
    shard->bounds = bounds;
    return STORE_OK;
}

/* As the bounds say that are known here. */
static bool may_commit(const struct shard *shard, const struct shard_commit *commit)
{
    return shard->row.len > 0 && (shard->bounds.state == SHARD_LIVE || commit->is_any_state) &&
           commit->attempt.incarnation >= shard->bounds.incarnation_floor &&
           shard_bounds_have(&shard->bounds, commit->partition_key) &&
           !shard_bounds_is_moving(&shard->bounds, commit->partition_key);
}

/* ---- counters ---- */

static struct shard_counter *counter_of(struct shard *shard, struct bytes name)
{
    struct shard_counter *counter = shard->counters;

    while (counter && !bytes_equal(counter->name, name))
        counter = counter->next;
    if (!counter) {
        counter = xcalloc(1, sizeof *counter);
        counter->name = xcopy(name);
        counter->next = shard->counters;
        shard->counters = counter;
    }
    return counter;
}

static void count_up(struct shard *shard, const struct shard_commit *commit)
{
    for (const struct shard_count *count = commit->counts; count; count = count->next) {
        struct shard_counter *counter = counter_of(shard, count->name);

        counter->is_touched = true;
        counter->next_value += count->delta;
    }
}

/* Marks those that the group changes, with what they will be. */
static void touch_counters(struct shard *shard)
{
    for (struct shard_counter *c = shard->counters; c; c = c->next) {
        c->is_touched = false;
        c->step = NULL;
        c->next_value = c->value;
    }
    for (const struct shard_commit *first = shard->group; first; first = first->next)
        for (const struct shard_commit *commit = first; commit; commit = commit->behind)
            count_up(shard, commit);
}

void shard_counters_applied(struct shard *shard)
{
    for (struct shard_counter *c = shard->counters; c; c = c->next) {
        if (c->is_touched) {
            c->value = c->next_value;
            c->is_there = true;
        }
        c->is_touched = false;
    }
}

void shard_counters_free(struct shard *shard)
{
    while (shard->counters) {
        struct shard_counter *counter = shard->counters;

        shard->counters = counter->next;
        xcopy_free(counter->name);
        free(counter);
    }
}

/* ---- sending ---- */

/* When a task will be due: not before tasks are looked for no longer. */
static instant task_due(const struct shard *shard, const struct shard_task *task)
{
    return shard_due(task->due, shard->looked);
}

/* What it rests on was in no op that was applied, and is in no group. */
static bool is_lost(const struct shard_commit *commit)
{
    return commit->rests_on && shard_link_result(commit->rests_on) != STORE_OK;
}

bool shard_knows(struct shard *shard)
{
    bool knows = true;

    touch_counters(shard);
    for (const struct shard_counter *c = shard->counters; c; c = c->next)
        knows = knows && (!c->is_touched || c->is_known);
    for (const struct shard_commit *c = shard->group; c; c = c->next)
        knows =
            knows && may_commit(shard, c) && !is_lost(c) && (!c->tasks || shard->is_looked_known);
    return knows;
}

struct partition_header shard_header_after(const struct shard_commit *first)
{
    const struct shard_commit *last = first->last;

    return last->after ? *last->after
                       : partition_header_after(&last->seen, last->now, last->attempt);
}

static void add_header(struct port_op *op, const struct shard_commit *first)
{
    struct bytes key = row_key_header(op->arena, first->partition_key);
    struct partition_header *header = arena_alloc(op->arena, sizeof *header);
    struct bytes after;

    *header = shard_header_after(first);
    after = partition_header_write(op->arena, header);
    port_compare(op, key, partition_header_write(op->arena, &first->seen));
    if (after.len > 0)
        port_set(op, key, after);
    else
        port_remove(op, key);
}

static void add_changes(struct port_op *op, const struct shard_change *change)
{
    for (; change; change = change->next) {
        if (change->is_removal)
            port_remove(op, change->key);
        else
            port_set(op, change->key, change->value);
    }
}

/* One chain: the changes in their order, so that the later ones win. */
static void add_chain(const struct shard *shard, struct port_op *op, struct shard_commit *first)
{
    if (!first->has_no_header)
        add_header(op, first);
    for (const struct shard_check *c = first->checks; c; c = c->next)
        port_compare(op, c->key, c->value);
    for (const struct shard_commit *c = first; c; c = c->behind) {
        add_changes(op, c->changes);
        if (c->link)
            shard_link_send(c->link);
    }
    for (struct shard_task *t = first->tasks; t; t = t->next) {
        t->due = task_due(shard, t);
        port_set(op, row_key_task(op->arena, t->due, &t->id), row_value_write(op->arena, t->value));
    }
    first->tries++;
}

static void add_looked(const struct shard *shard, struct port_op *op)
{
    port_compare(op, row_key_looked(),
                 shard->looked > 0 ? row_number_write(op->arena, shard->looked) : none);
}

static void add_counters(const struct shard *shard, struct port_op *op)
{
    for (const struct shard_counter *c = shard->counters; c; c = c->next)
        if (c->is_touched) {
            struct bytes key = row_key_counter(op->arena, c->name);

            port_compare(op, key,
                         c->is_there ? row_number_write(op->arena, (uint64_t)c->value) : none);
            port_set(op, key, row_number_write(op->arena, (uint64_t)c->next_value));
        }
}

void shard_send_group(struct shard *shard, void (*done)(struct port_op *op))
{
    struct port_op *op = port_op_new(done, shard);
    bool is_fenced = false, has_tasks = false;

    port_compare(op, row_key_bounds(), shard->row);
    for (struct shard_commit *c = shard->group; c; c = c->next) {
        assert(c->attempt.incarnation == shard->group->attempt.incarnation);
        if (c->has_pieces && !is_fenced) {
            is_fenced = true;
            port_compare(op, row_key_fence(op->arena, c->attempt.incarnation), none);
        }
        has_tasks = has_tasks || c->tasks;
        add_chain(shard, op, c);
    }
    if (has_tasks)
        add_looked(shard, op);
    add_counters(shard, op);
    port_send(shard->port, shard->name, op);
}

void shard_send_look(struct shard *shard, void (*done)(struct port_op *op))
{
    struct port_op *op = port_op_new(done, shard);

    shard->bounds_step = port_get(op, row_key_bounds());
    shard->looked_step = port_get(op, row_key_looked());
    shard->fence_step = NULL;
    for (struct shard_commit *c = shard->group; c; c = c->next) {
        c->header = port_get(op, row_key_header(op->arena, c->partition_key));
        for (struct shard_check *check = c->checks; check; check = check->next)
            check->step = port_get(op, check->key);
        if (c->has_pieces && !shard->fence_step)
            shard->fence_step = port_get(op, row_key_fence(op->arena, c->attempt.incarnation));
    }
    touch_counters(shard);
    for (struct shard_counter *c = shard->counters; c; c = c->next)
        if (c->is_touched)
            c->step = port_get(op, row_key_counter(op->arena, c->name));
    port_send(shard->port, shard->name, op);
}

/* ---- hints of tasks ---- */

void shard_hinted(struct shard *shard, uint64_t minute)
{
    lock_take(&shard->lock);
    shard->hints[shard->next_hint++ % SHARD_HINTS] = minute;
    lock_give(&shard->lock);
}

static bool has_hint(struct shard *shard, uint64_t minute)
{
    bool has = false;

    lock_take(&shard->lock);
    for (unsigned i = 0; i < SHARD_HINTS; i++)
        has = has || shard->hints[i] == minute;
    lock_give(&shard->lock);
    return has;
}

bool shard_is_hinted(struct shard *shard, struct shard_commit *commit)
{
    for (const struct shard_task *t = commit->tasks; t; t = t->next) {
        commit->minute = task_due(shard, t) / SHARD_MINUTE;
        if (!has_hint(shard, commit->minute))
            return false;
    }
    return true;
}

/* ---- asking for a gap ---- */

void shard_send_ask(struct shard *shard, void (*done)(struct port_op *op))
{
    struct port_op *op = port_op_new(done, shard);
    struct shard_bounds touched = shard->bounds;

    touched.epoch++;
    port_compare(op, row_key_bounds(), shard->row);
    port_set(op, row_key_bounds(), shard_bounds_write(op->arena, &touched));
    port_send(shard->port, shard->name, op);
}

/* ---- the look ---- */

/* No row is 0. */
static bool read_number(struct bytes row, uint64_t *ret_number)
{
    *ret_number = 0;
    return row.len == 0 || row_number_read(row, ret_number);
}

enum store_result shard_take_look(struct shard *shard)
{
    enum store_result result = shard_set_bounds(shard, port_value(shard->bounds_step));
    uint64_t number;

    if (result || !read_number(port_value(shard->looked_step), &number))
        return STORE_CORRUPT;
    shard->looked = number;
    shard->is_looked_known = true;
    for (struct shard_counter *c = shard->counters; c; c = c->next) {
        if (!c->step)
            continue;
        if (!read_number(port_value(c->step), &number))
            return STORE_CORRUPT;
        c->value = (int64_t)number;
        c->is_there = c->step->row_count > 0;
        c->is_known = true;
        c->step = NULL;
    }
    return STORE_OK;
}

static bool checks_hold(const struct shard_commit *commit)
{
    for (const struct shard_check *c = commit->checks; c; c = c->next)
        if (!bytes_equal(port_value(c->step), c->value))
            return false;
    return true;
}

/* Who has changed the partition since it was seen. */
static void note_others(struct turn *turn, const struct shard_commit *first,
                        const struct partition_header *now)
{
    for (unsigned i = 0; i < HEADER_ATTEMPTS; i++) {
        const struct attempt its = now->attempts[i];

        if (its.number > 0 && its.incarnation != first->attempt.incarnation &&
            !partition_header_remembers(&first->seen, its))
            turn_met(turn, its.incarnation, first->partition_key, clock_monotonic_ms());
    }
}

/* By the header alone, which remembers of a chain that was applied the last attempt. */
static enum store_result outcome_of_header(struct shard *shard, struct shard_commit *first)
{
    const struct partition_header after = shard_header_after(first);
    struct partition_header now;
    enum store_result result = partition_header_read(port_value(first->header), &now);
    bool was_sent = first->tries > 0 || first->was_sent_before;

    first->newest = result ? 0 : now.version;
    if (!result)
        note_others(&shard->turn, first, &now);
    if (!result && first->was_sent_before) {
        if (partition_header_remembers(&now, first->sent_as))
            return STORE_OK;
        if (partition_header_is_later(&now, first->sent_as))
            return STORE_UNKNOWN; /* it went on elsewhere, so that others may have come between */
    }
    if (!result)
        result = partition_header_outcome(&now, &first->seen, &after, first->last->attempt);
    if (result == STORE_OK && !was_sent)
        return STORE_CONFLICT; /* as it was to become: somebody else made it so */
    if (result == STORE_CORRUPT || result == STORE_UNKNOWN)
        return was_sent ? STORE_UNKNOWN : STORE_CONFLICT;
    return result;
}

/* invariant (7) */
static enum store_result send_on(struct shard_commit *first, bool was_sent)
{
    struct attempt sent_as = first->was_sent_before ? first->sent_as : first->last->attempt;

    for (struct shard_commit *c = first; c; c = c->behind) {
        c->is_elsewhere = true;
        c->was_sent_before = was_sent;
        c->sent_as = sent_as;
    }
    return STORE_BUSY;
}

static bool rests_on(const struct shard_commit *commit, enum store_result result)
{
    return commit->rests_on && shard_link_result(commit->rests_on) == result;
}

/* invariant (8) */
static enum store_result come_again(struct shard_commit *commit)
{
    commit->is_early = true;
    return STORE_BUSY;
}

enum store_result shard_outcome(struct shard *shard, struct shard_commit *commit)
{
    bool was_sent = commit->tries > 0 || commit->was_sent_before;
    bool is_sealed = shard->bounds.state == SHARD_SEALED;
    enum store_result result;

    commit->newest = 0;
    if (!was_sent && rests_on(commit, STORE_CONFLICT))
        return STORE_CONFLICT; /* invariant (9) */
    if ((!is_sealed || commit->is_any_state) &&
        !shard_bounds_have(&shard->bounds, commit->partition_key))
        return send_on(commit, was_sent && !commit->has_no_header);
    if (!was_sent && rests_on(commit, STORE_WAIT))
        return come_again(commit);
    result = commit->has_no_header ? STORE_WAIT : outcome_of_header(shard, commit);
    if (result != STORE_WAIT)
        return result;
    if (is_sealed && !commit->is_any_state)
        return STORE_NOT_FOUND;
    if (shard_bounds_is_moving(&shard->bounds, commit->partition_key))
        return send_on(commit, false);
    if (!may_commit(shard, commit) ||
        (commit->has_pieces && shard->fence_step && port_value(shard->fence_step).len > 0))
        return STORE_IO;
    if (shard->refusal == PORT_FULL || shard->refusal == PORT_TOO_LARGE)
        return shard->refusal == PORT_FULL ? STORE_FULL : STORE_IO;
    if (!checks_hold(commit))
        return STORE_BUSY;
    commit->was_sent_before = false;
    if (rests_on(commit, STORE_WAIT))
        return come_again(commit);
    if (rests_on(commit, STORE_CONFLICT))
        return STORE_CONFLICT;
    return commit->tries >= SHARD_TRIES_MAX ? STORE_CONFLICT : STORE_WAIT;
}
