/* The gate's state, and operations without a handle. Those with one: gate_handles.c */
#include "file/gate_private.h"

#include <assert.h>

#include "service/small_record.h"

enum error gate_read(struct file_gate *gate, struct decision *d, struct decision_part *part,
                     uint64_t node)
{
    enum store_result result;

    *gate = (struct file_gate){ .d = d, .part = part, .node = node };
    result = open_set_read(part->before, d->arena, &gate->set);
    return result ? decision_fail_store(d, result) : OK;
}

static struct changes *changes_of(struct file_gate *gate)
{
    if (!gate->part->changes)
        gate->part->changes = changes_new(gate->d->arena);
    return gate->part->changes;
}

enum error gate_read_locks(struct file_gate *gate)
{
    enum store_result result = STORE_OK;

    if (!gate->has_locks)
        result = byte_locks_read(gate->part->before, gate->d->arena, &gate->set, &gate->locks,
                                 &gate->lock_count);
    gate->has_locks = !result;
    return result ? decision_fail_store(gate->d, result) : OK;
}

/* Deletes what processes that ended have left; locks go with the record that counts them. */
static void drop_left(struct file_gate *gate, struct changes *changes)
{
    for (size_t i = 0; i < gate->set.left_count; i++)
        handle_delete(changes, gate->node, gate->set.left[i]);
    if (gate->set.open_count == 0)
        pending_delete(changes, gate->node);
    gate->set.left_count = 0;
}

void gate_write(struct file_gate *gate)
{
    struct changes *changes;

    if (!gate->is_changed && !gate->locks_changed && gate->set.left_count == 0)
        return;
    changes = changes_of(gate);
    if (gate->set.left_count > 0)
        drop_left(gate, changes);
    if (gate->set.open_count == 0)
        gate->lock_count = 0;
    if (gate->locks_changed || gate->set.open_count == 0) {
        byte_locks_write(changes, gate->d->arena, gate->locks, gate->lock_count);
        gate->set.lock_count = gate->lock_count;
    }
    open_set_write(changes, gate->d->arena, &gate->set);
    gate->is_changed = gate->locks_changed = false;
}

void gate_delete(struct file_gate *gate)
{
    struct changes *changes;

    if (gate->set.open_count == 0 && gate->set.left_count == 0)
        return;
    changes = changes_of(gate);
    for (size_t i = 0; i < gate->set.open_count; i++)
        handle_delete(changes, gate->node, gate->set.opens[i].id);
    drop_left(gate, changes);
    pending_delete(changes, gate->node);
    byte_locks_write(changes, gate->d->arena, NULL, 0);
    gate->set = (struct open_set){ .open_count = 0 };
    open_set_write(changes, gate->d->arena, &gate->set);
    gate->is_changed = gate->locks_changed = false;
    gate->d->wakes = true;
}

/* Moves the handles' records in the index. */
static enum store_result move_handles(struct file_gate *gate, struct changes *changes,
                                      uint64_t node)
{
    struct decision *d = gate->d;
    struct bytes prefix = handle_prefix(d->arena, &gate->node);
    struct index_iterator *iterator = index_iterator_open(
        d->store, gate->part->partition.space, prefix, prefix, bytes_from_string(""), d->access);
    struct index_record record;
    enum store_result result;

    while (!(result = index_iterator_next(iterator, &record))) {
        struct handle handle;

        if (!handle_decode(record.key, record.value, &handle)) {
            result = record_is_unknown("the entry of a handle", record.value);
            break;
        }
        handle.node = node;
        if (handle_counts(&handle))
            handle_put(changes, d->arena, &handle);
    }
    index_iterator_close(iterator);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum error gate_move(struct file_gate *gate, struct decision_part *part, uint64_t node)
{
    struct file_gate moved = *gate;
    enum store_result result;
    enum error e = gate_read_locks(gate);

    if (e)
        return e;
    moved.part = part;
    moved.node = node;
    moved.set.left_count = 0;
    moved.locks = gate->locks;
    moved.lock_count = gate->lock_count;
    moved.is_changed = moved.locks_changed = moved.set.open_count > 0;
    result = moved.is_changed ? move_handles(gate, changes_of(&moved), node) : STORE_OK;
    if (result)
        return decision_fail_store(gate->d, result);
    gate_write(&moved);
    gate_delete(gate);
    return OK;
}

/* ---- judging ---- */

/* Begins to wait, or continues until the time is over. */
static enum error wait(struct file_gate *gate)
{
    struct decision *d = gate->d;
    uint32_t seconds = GATE_WAIT_MAX_S;

    if (d->waits_until > 0 && d->now >= d->waits_until)
        return E_ClientCacheFlushDelay;
    if (d->input && d->input->timeout_s > 0 && d->input->timeout_s < seconds)
        seconds = d->input->timeout_s;
    if (d->waits_until == 0)
        d->waits_until = d->now + seconds * TICKS_PER_SECOND;
    gate_write(gate);
    return DECIDE_WAITS;
}

enum error gate_judge(struct file_gate *gate, const struct file_use *use, uint16_t own)
{
    struct arena *arena = gate->d->arena;
    struct open_set *set = &gate->set;
    struct file_open *opens = arena_array(arena, set->open_count, sizeof *opens);
    struct file_caching *cachings = arena_array(arena, set->caching_count, sizeof *cachings);
    struct caching_break *breaks = arena_array(arena, set->caching_count, sizeof *breaks);
    struct file_opens all = { .opens = opens,
                              .open_count = set->open_count,
                              .cachings = cachings,
                              .caching_count = set->caching_count,
                              .is_delete_pending = set->is_delete_pending,
                              .is_read_only = gate->is_read_only,
                              .is_leased = gate->is_leased };
    struct opens_verdict verdict;

    for (size_t i = 0; i < set->open_count; i++)
        opens[i] = set->opens[i].open;
    for (size_t i = 0; i < set->caching_count; i++)
        cachings[i] = set->cachings[i].caching;
    verdict = opens_judge(&all, use, own, breaks);
    for (size_t i = 0; i < verdict.break_count; i++)
        set->cachings[breaks[i].caching].caching.breaks_to = breaks[i].to;
    gate->is_changed |= verdict.break_count > 0;
    if (verdict.error)
        return verdict.error;
    return verdict.waits ? wait(gate) : OK;
}

enum error gate_pass(struct file_gate *gate, enum rest_use use)
{
    return gate_judge(gate, rest_use(use), NO_CACHING);
}

enum error gate_pass_read(struct file_gate *gate, uint64_t offset, uint64_t length)
{
    const struct byte_range range = { offset, length };
    enum error e = gate_read_locks(gate);

    for (size_t i = 0; !e && i < gate->lock_count; i++)
        if (byte_lock_bars_read(&gate->locks[i], NO_OWNER, &range))
            e = E_FileLockConflict;
    return e;
}

enum error gate_pass_write(struct file_gate *gate)
{
    enum error e = gate_read_locks(gate);

    return !e && gate->lock_count > 0 ? E_FileLockConflict : e;
}
