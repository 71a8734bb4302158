/* What SMB asks of the gate about bytes and names by a handle. */
#include "file/gate_private.h"

#include <assert.h>

/* Others lose what they have cached, and nobody waits for it: MS-FSA 2.1.5.4 */
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

/* Makes space for `more` locks after the existing ones. */
static void reserve_locks(struct file_gate *gate, size_t more)
{
    struct byte_lock *locks = arena_array(gate->d->arena, gate->lock_count + more, sizeof *locks);

    if (gate->lock_count > 0)
        memcpy(locks, gate->locks, gate->lock_count * sizeof *locks);
    gate->locks = locks;
}

static enum error add_lock(struct file_gate *gate, const struct byte_lock *wanted)
{
    if (!byte_range_is_valid(&wanted->range))
        return E_InvalidRange;
    for (size_t i = 0; i < gate->lock_count; i++)
        if (byte_lock_conflicts(&gate->locks[i], wanted))
            return E_FileLockConflict;
    if (gate->lock_count == BYTE_LOCKS_MAX)
        return decision_fail(gate->d, E_ServerBusy,
                             "The file has %u byte-range locks, the most there may be.",
                             BYTE_LOCKS_MAX);
    gate->locks[gate->lock_count++] = *wanted;
    return OK;
}

enum error gate_lock(struct file_gate *gate, uint64_t handle, const struct byte_lock *wanted,
                     size_t count)
{
    const struct open_entry *open = open_set_find(&gate->set, handle);
    enum error e = open ? gate_read_locks(gate) : E_ResourceNotFound;

    if (!e)
        reserve_locks(gate, count);
    for (size_t i = 0; !e && i < count; i++) {
        assert(wanted[i].owner == handle);
        e = add_lock(gate, &wanted[i]);
    }
    if (e)
        return e;
    gate->locks_changed = true;
    return strip_data(gate, open);
}

/* The newest one of exactly that range, an exclusive one before the shared ones over it; NULL: none.
 * MS-FSA 2.1.5.8 */
static struct byte_lock *find_lock(struct file_gate *gate, uint64_t handle,
                                   const struct byte_range *range)
{
    struct byte_lock *found = NULL;

    for (size_t i = gate->lock_count; i-- > 0;) {
        struct byte_lock *lock = &gate->locks[i];

        if (lock->owner != handle || lock->range.offset != range->offset ||
            lock->range.length != range->length)
            continue;
        if (lock->is_exclusive)
            return lock;
        if (!found)
            found = lock;
    }
    return found;
}

enum error gate_unlock(struct file_gate *gate, uint64_t handle, const struct byte_range *range)
{
    enum error e = gate_read_locks(gate);
    struct byte_lock *lock = e ? NULL : find_lock(gate, handle, range);
    size_t index;

    if (!lock)
        return e ? e : E_ResourceNotFound;
    index = (size_t)(lock - gate->locks);
    gate->lock_count--;
    memmove(lock, lock + 1, (gate->lock_count - index) * sizeof *lock);
    gate->locks_changed = true;
    gate_wakes(gate);
    return OK;
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

/* Whoever renames opens the directory to add a name, and lets others read and write it. */
enum error gate_add_name(struct file_gate *gate, bool is_rename)
{
    const struct file_use use = { .access = is_rename ? ACCESS_WRITE : 0,
                                  .share = ACCESS_READ | ACCESS_WRITE };

    return gate_judge(gate, &use, NO_CACHING);
}
