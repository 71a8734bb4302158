/* The gate's state, and operations without a handle. Those with one: gate_handles.c */
#include "file/gate_private.h"

#include <assert.h>

#include "file/break_news.h"
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

/* ---- judging ---- */

/* Begins to wait, or goes on with it until its time is over. */
static enum error wait(struct file_gate *gate, const struct file_use *use)
{
    struct decision *d = gate->d;
    uint32_t seconds = use->is_open ? GATE_OPEN_WAIT_MAX_S : GATE_WAIT_MAX_S;

    if (d->waits_until > 0 && d->now >= d->waits_until)
        return E_ClientCacheFlushDelay;
    if (d->input && d->input->timeout_s > 0 && d->input->timeout_s < seconds)
        seconds = d->input->timeout_s;
    if (d->waits_until == 0)
        d->waits_until = d->now + seconds * TICKS_PER_SECOND;
    gate_write(gate);
    return DECIDE_WAITS;
}

/* Asks the holder to go down to that. One who has only read gives it up without an answer: MS-SMB2 3.3.4.7. */
static void ask(struct file_gate *gate, struct caching_entry *holder, uint8_t to)
{
    const struct break_news news = { .space = gate->part->partition.space,
                                     .node = gate->node,
                                     .key = holder->key,
                                     .holds = holder->caching.holds,
                                     .to = to };

    holder->caching.breaks_to = to;
    if (holder->caching.holds == CACHING_READ)
        holder->caching.holds = to;
    gate->is_changed = true;
    break_news_add(gate->d, &news);
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
        ask(gate, &set->cachings[breaks[i].caching], breaks[i].to);
    if (verdict.error)
        return verdict.error;
    return verdict.waits ? wait(gate, use) : OK;
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
