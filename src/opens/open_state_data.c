/* Data, lock and name operations on a handle at the gate. */
#include "concurrency/lock_sets.h"
#include "opens/open_state_private.h"

#include <assert.h>

/* Breaks the caching of others without waiting. MS-FSA 2.1.5.4 */
static enum error strip_data(struct file_gate *gate, const struct open_entry *open)
{
    const struct file_use use = {
        .share = ACCESS_ALL, .strips = CACHING_ALL, .ignores_pending = true, .changes_data = true
    };
    enum error e = gate_judge(gate, &use, open->open.caching);

    if (!e)
        gate_write(gate);
    return e;
}

/* ---- locks ---- */

/* Returns how many of the locks have valid ranges and fit below BYTE_LOCKS_MAX. *ret_error: why
 * not all; the caller first reports conflicts of the locks that do */
static size_t count_allowed(struct file_gate *gate, const struct byte_lock *wanted, size_t count,
                            enum error *ret_error)
{
    size_t space = BYTE_LOCKS_MAX - gate->lock_count, valid = 0;

    *ret_error = OK;
    while (valid < count && valid <= space && byte_range_is_valid(&wanted[valid].range))
        valid++;
    if (valid > space)
        *ret_error = decision_fail(gate->d, E_ServerBusy,
                                   "The file has %u byte-range locks, the most there may be.",
                                   BYTE_LOCKS_MAX);
    else if (valid < count)
        *ret_error = E_InvalidRange;
    return valid;
}

/* Adds the locks after the existing ones, unless one conflicts. */
static enum error add_locks(struct file_gate *gate, const struct byte_lock *wanted, size_t count)
{
    struct arena *arena = gate->d->arena;
    enum error e;
    size_t held = gate->lock_count, all = held + count_allowed(gate, wanted, count, &e);
    struct byte_lock *locks = arena_array(arena, all, sizeof *locks);

    if (held > 0)
        memcpy(locks, gate->locks, held * sizeof *locks);
    memcpy(locks + held, wanted, (all - held) * sizeof *locks);
    if (lock_set_conflict(locks, held, all,
                          arena_array(arena, all, sizeof(struct lock_set_entry))) < all)
        return E_FileLockConflict;
    if (e)
        return e;
    gate->locks = locks;
    gate->lock_count = all;
    return OK;
}

enum error gate_lock(struct file_gate *gate, uint64_t handle, const struct byte_lock *wanted,
                     size_t count)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);
    enum error e = open ? gate_read_locks(gate) : E_ResourceNotFound;

    for (size_t i = 0; i < count; i++)
        assert(wanted[i].owner == handle);
    if (!e)
        e = add_locks(gate, wanted, count);
    if (e)
        return e;
    gate->locks_changed = true;
    return strip_data(gate, open);
}

enum error gate_unlock(struct file_gate *gate, uint64_t handle, const struct byte_range *ranges,
                       size_t count)
{
    enum error e = gate_read_locks(gate);
    struct lock_set_entry *space;
    size_t released;

    if (e)
        return e;
    space = arena_array(gate->d->arena, gate->lock_count, sizeof *space);
    released = lock_set_release(gate->locks, &gate->lock_count, handle, ranges, count, space);
    if (released > 0) {
        gate->locks_changed = true;
        gate_wakes(gate);
    }
    return released < count ? E_ResourceNotFound : OK;
}

/* ---- reads and writes ---- */

enum error gate_read_bytes(struct file_gate *gate, uint64_t handle, const struct byte_range *range)
{
    enum error e = open_set_find(&gate->set, handle) ? gate_read_locks(gate) : E_ResourceNotFound;

    for (size_t i = 0; !e && i < gate->lock_count; i++)
        if (byte_lock_bars_read(&gate->locks[i], handle, range))
            e = E_FileLockConflict;
    return e;
}

enum error gate_write_bytes(struct file_gate *gate, uint64_t handle, const struct byte_range *range)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);
    enum error e = open ? gate_read_locks(gate) : E_ResourceNotFound;

    for (size_t i = 0; !e && i < gate->lock_count; i++)
        if (byte_lock_bars_write(&gate->locks[i], handle, range))
            e = E_FileLockConflict;
    return e ? e : strip_data(gate, open);
}

enum error gate_change_data(struct file_gate *gate, uint64_t handle)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);

    return open ? strip_data(gate, open) : E_ResourceNotFound;
}

/* ---- names ---- */

enum error gate_take_handles(struct file_gate *gate, uint64_t handle)
{
    const struct file_use use = {
        .share = ACCESS_ALL,
        .strips = CACHING_HANDLE,
        .waits_for = CACHING_HANDLE,
        .is_open = true,
        .has_waited = gate->d->waits_until > 0,
    };
    const struct open_entry *open = open_set_find(&gate->set, handle);
    enum error e = open ? gate_judge(gate, &use, open->open.caching) : E_ResourceNotFound;

    if (!e)
        gate_write(gate);
    return e;
}

/* A rename opens the target directory to add a name, sharing read and write access. */
enum error gate_add_name(struct file_gate *gate, bool is_rename)
{
    const struct file_use use = { .access = is_rename ? ACCESS_WRITE : 0,
                                  .share = ACCESS_READ | ACCESS_WRITE };

    return gate_judge(gate, &use, NO_CACHING);
}
