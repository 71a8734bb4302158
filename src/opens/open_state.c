/* The gate's state: the opens of a node. */
#include "opens/open_state_private.h"

#include <assert.h>

#include "service/small_record.h"
#include "tree/tree.h"

enum store_result gate_read_opens(struct tree *tree, struct snapshot *before,
                                  struct open_set *ret_set)
{
    struct arena *arena = tree->d->arena;
    struct bytes value;
    enum store_result result = open_set_get(before, arena, &value);

    *ret_set = (struct open_set){ .open_count = 0 };
    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (!result)
        result = tree_read_state(tree);
    /* As in tree_open(). The share may also have been restored, without its opens, since the
     * file was found. */
    if (!result && (tree->state.closed || tree->state.reopened > tree->d->now))
        result = STORE_CONFLICT;
    if (!result && !open_set_decode(arena, value, tree->state.reopened, tree->d->now, ret_set))
        result = record_is_unknown("the record of what is open of a file", value);
    return result;
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

enum error gate_read(struct file_gate *gate, struct tree *tree, struct decision_part *part,
                     uint64_t node)
{
    enum store_result result;

    *gate = (struct file_gate){ .d = tree->d, .part = part, .node = node };
    result = gate_read_opens(tree, part->before, &gate->set);
    if (result)
        return decision_fail_store(tree->d, result);
    return gate->set.left_count > 0 && gate->set.lock_count > 0 ? gate_drop_locks(gate) : OK;
}

enum error gate_drop_locks(struct file_gate *gate)
{
    enum error e = gate_read_locks(gate); /* ignores locks whose open was already stale */
    size_t kept = 0;

    if (e)
        return e;
    for (size_t i = 0; i < gate->lock_count; i++)
        if (open_set_find(&gate->set, gate->locks[i].owner))
            gate->locks[kept++] = gate->locks[i];
    gate->locks_changed |= kept < gate->lock_count || kept < gate->set.lock_count;
    gate->lock_count = gate->set.lock_count = kept;
    return OK;
}

/* Deletes the index entries of stale opens. Their locks are deleted with the lock record. */
static void drop_left(struct file_gate *gate, struct changes *changes)
{
    for (size_t i = 0; i < gate->set.left_count; i++)
        handle_delete(changes, gate->node, &gate->set.left[i]);
    if (!gate->set.is_delete_pending)
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
        handle_delete(changes, gate->node, &gate->set.opens[i]);
    drop_left(gate, changes);
    pending_delete(changes, gate->node);
    byte_locks_write(changes, gate->d->arena, NULL, 0);
    gate->set = (struct open_set){ .open_count = 0 };
    open_set_write(changes, gate->d->arena, &gate->set);
    gate->is_changed = gate->locks_changed = false;
    gate_wakes(gate);
}
