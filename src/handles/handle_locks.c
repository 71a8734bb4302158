/* Byte-range locks and acknowledgments of breaks over SMB. */
#include "handles/handle_locks.h"

#include "handles/handle_private.h"

/* ---- locks ---- */

static enum error lock_all(struct decision *d, const struct handle_lock *lock,
                           struct open_state *opens)
{
    struct byte_lock *wanted = arena_array(d->arena, lock->count, sizeof *wanted);

    for (size_t i = 0; i < lock->count; i++)
        wanted[i] = (struct byte_lock){
            .range = lock->elements[i].range,
            .owner = lock->handle->id,
            .is_exclusive = lock->elements[i].action == LOCK_EXCLUSIVE,
        };
    return open_state_lock(opens, lock->handle->id, wanted, lock->count);
}

/* Releases the locks in order. If one does not exist, those before it remain released. */
static enum error release_all(struct decision *d, struct handle_lock *lock,
                              struct open_state *opens)
{
    struct byte_range *ranges = arena_array(d->arena, lock->count, sizeof *ranges);
    enum error e;

    for (size_t i = 0; i < lock->count; i++)
        ranges[i] = lock->elements[i].range;
    e = open_state_unlock(opens, lock->handle->id, ranges, lock->count);
    if (e && e != E_ResourceNotFound)
        return e;
    lock->stopped = e;
    open_state_write(opens);
    return OK;
}

/* Waits until a lock of the file is released. */
static enum error wait_for_lock(struct decision *d, const struct open_state *opens)
{
    d->waits_for = open_state_waiting_key(opens);
    d->waits_until = INSTANT_MAX;
    return decision_take_back(d, DECIDE_WAITS);
}

enum error handle_lock_attempt(struct decision *d, void *of)
{
    struct handle_lock *lock = of;
    struct open_state *opens;
    enum error e = lock->handle->kind == TREE_FILE ? OK : E_ResourceTypeMismatch;

    lock->stopped = OK;
    if (!e)
        e = handle_find(d, lock->tree_connect, lock->handle, HANDLE_CHANGES, &opens);
    if (e || lock->count == 0)
        return e;
    if (lock->elements[0].action == LOCK_RELEASED)
        return release_all(d, lock, opens);
    e = lock_all(d, lock, opens);
    return e == E_FileLockConflict && lock->waits ? wait_for_lock(d, opens) : e;
}

/* ---- breaks ---- */

enum error handle_acknowledge_attempt(struct decision *d, void *of)
{
    struct handle_acknowledge *answer = of;
    struct open_state opens;
    struct file_state *state;
    struct tree_node node;
    enum tree_result found;
    enum error e = handle_begin(d, answer->tree_connect, 0);

    if (e)
        return e;
    state = file_state(d);
    found = tree_open_id(&state->tree, answer->node, &state->part, &node);
    if (found)
        return file_fail_tree(d, found);
    decision_move_subject(d, state->part);
    decision_read_clock(d);
    e = open_state_read(&opens, &state->tree, state->part, answer->node);
    return e ? e : open_state_acknowledge(&opens, &answer->answer);
}
