/* Reads, writes and deletes the open state of a node. */
#include "opens/open_state_private.h"

#include <assert.h>

#include "service/small_record.h"
#include "tree/tree.h"

enum store_result open_set_read(struct tree *tree, struct read_view *before,
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
    /* As in tree_open(): since the file was found, the share may have been deleted, or restored
     * without its opens. */
    if (!result && (tree->state.closed || tree->state.reopened > tree->d->now))
        result = STORE_CONFLICT;
    if (!result && !open_set_decode(arena, value, tree->state.reopened, tree->d->now, ret_set))
        result = record_is_unknown("the record of the opens of a file", value);
    return result;
}

static struct changes *changes_of(struct open_state *opens)
{
    if (!opens->part->changes)
        opens->part->changes = changes_new(opens->d->arena);
    return opens->part->changes;
}

enum error open_state_read_locks(struct open_state *opens)
{
    enum store_result result = STORE_OK;

    if (!opens->has_locks)
        result = byte_locks_read(opens->part->before, opens->d->arena, &opens->set, &opens->locks,
                                 &opens->lock_count);
    opens->has_locks = !result;
    return result ? decision_fail_store(opens->d, result) : OK;
}

enum error open_state_read(struct open_state *opens, struct tree *tree, struct decision_part *part,
                           uint64_t node)
{
    enum store_result result;

    *opens = (struct open_state){ .d = tree->d, .part = part, .node = node };
    result = open_set_read(tree, part->before, &opens->set);
    if (result)
        return decision_fail_store(tree->d, result);
    return opens->set.stale_count > 0 && opens->set.lock_count > 0 ? open_state_drop_locks(opens)
                                                                   : OK;
}

enum error open_state_drop_locks(struct open_state *opens)
{
    enum error e = open_state_read_locks(opens); /* skips locks whose open was already stale */
    size_t kept = 0;

    if (e)
        return e;
    for (size_t i = 0; i < opens->lock_count; i++)
        if (open_set_find(&opens->set, opens->locks[i].owner))
            opens->locks[kept++] = opens->locks[i];
    opens->locks_changed |= kept < opens->lock_count || kept < opens->set.lock_count;
    opens->lock_count = opens->set.lock_count = kept;
    return OK;
}

/* Deletes the index entries of stale opens. Their locks are deleted with the lock record. */
static void delete_stale_entries(struct open_state *opens, struct changes *changes)
{
    for (size_t i = 0; i < opens->set.stale_count; i++)
        handle_delete(changes, opens->node, &opens->set.stale[i]);
    if (!opens->set.is_delete_pending)
        pending_delete(changes, opens->node);
    opens->set.stale_count = 0;
}

void open_state_write(struct open_state *opens)
{
    struct changes *changes;

    if (!opens->is_changed && !opens->locks_changed && opens->set.stale_count == 0)
        return;
    changes = changes_of(opens);
    if (opens->set.stale_count > 0)
        delete_stale_entries(opens, changes);
    if (opens->set.open_count == 0)
        opens->lock_count = 0;
    if (opens->locks_changed || opens->set.open_count == 0) {
        byte_locks_write(changes, opens->d->arena, opens->locks, opens->lock_count);
        opens->set.lock_count = opens->lock_count;
    }
    open_set_write(changes, opens->d->arena, &opens->set);
    opens->is_changed = opens->locks_changed = false;
}

void open_state_delete(struct open_state *opens)
{
    struct changes *changes;

    if (opens->set.open_count == 0 && opens->set.stale_count == 0)
        return;
    changes = changes_of(opens);
    for (size_t i = 0; i < opens->set.open_count; i++)
        handle_delete(changes, opens->node, &opens->set.opens[i]);
    delete_stale_entries(opens, changes);
    pending_delete(changes, opens->node);
    byte_locks_write(changes, opens->d->arena, NULL, 0);
    opens->set = (struct open_set){ .open_count = 0 };
    open_set_write(changes, opens->d->arena, &opens->set);
    opens->is_changed = opens->locks_changed = false;
    open_state_wakes(opens);
}
