/* Effect of reads, writes, locks and renames through a handle on the open state. */
#include "concurrency/lock_sets.h"
#include "opens/open_state_private.h"

#include <assert.h>

/* Breaks the caching of others without waiting. MS-FSA 2.1.5.4 */
static enum error break_data_caching(struct open_state *opens, const struct open_entry *open)
{
    const struct file_use use = { .share = ACCESS_ALL,
                                  .breaks_caching = CACHING_ALL,
                                  .ignores_pending = true,
                                  .changes_data = true };
    enum error e = open_state_check(opens, &use, open->open.caching);

    if (!e)
        open_state_write(opens);
    return e;
}

/* ---- locks ---- */

/* Counts the leading locks that have valid ranges and fit within BYTE_LOCKS_MAX. Sets *ret_error to
 * the error of the next one; a conflict of the counted locks takes precedence. */
static size_t count_allowed(struct open_state *opens, const struct byte_lock *wanted, size_t count,
                            enum error *ret_error)
{
    size_t space = BYTE_LOCKS_MAX - opens->lock_count, valid = 0;

    *ret_error = OK;
    while (valid < count && valid <= space && byte_range_is_valid(&wanted[valid].range))
        valid++;
    if (valid > space)
        *ret_error = decision_fail(opens->d, E_ServerBusy,
                                   "The file has %u byte-range locks, which is the maximum.",
                                   BYTE_LOCKS_MAX);
    else if (valid < count)
        *ret_error = E_InvalidRange;
    return valid;
}

/* Adds the locks after the existing ones, unless one conflicts. */
static enum error add_locks(struct open_state *opens, const struct byte_lock *wanted, size_t count)
{
    struct arena *arena = opens->d->arena;
    enum error e;
    size_t held = opens->lock_count, all = held + count_allowed(opens, wanted, count, &e);
    struct byte_lock *locks = arena_array(arena, all, sizeof *locks);

    if (held > 0)
        memcpy(locks, opens->locks, held * sizeof *locks);
    memcpy(locks + held, wanted, (all - held) * sizeof *locks);
    if (lock_set_conflict(locks, held, all,
                          arena_array(arena, all, sizeof(struct lock_set_entry))) < all)
        return E_FileLockConflict;
    if (e)
        return e;
    opens->locks = locks;
    opens->lock_count = all;
    return OK;
}

enum error open_state_lock(struct open_state *opens, uint64_t handle,
                           const struct byte_lock *wanted, size_t count)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);
    enum error e = open ? open_state_read_locks(opens) : E_ResourceNotFound;

    for (size_t i = 0; i < count; i++)
        assert(wanted[i].owner == handle);
    if (!e)
        e = add_locks(opens, wanted, count);
    if (e)
        return e;
    opens->locks_changed = true;
    return break_data_caching(opens, open);
}

enum error open_state_unlock(struct open_state *opens, uint64_t handle,
                             const struct byte_range *ranges, size_t count)
{
    enum error e = open_state_read_locks(opens);
    struct lock_set_entry *space;
    size_t released;

    if (e)
        return e;
    space = arena_array(opens->d->arena, opens->lock_count, sizeof *space);
    released = lock_set_release(opens->locks, &opens->lock_count, handle, ranges, count, space);
    if (released > 0) {
        opens->locks_changed = true;
        open_state_wakes(opens);
    }
    return released < count ? E_ResourceNotFound : OK;
}

/* ---- reads and writes ---- */

enum error open_state_read_bytes(struct open_state *opens, uint64_t handle,
                                 const struct byte_range *range)
{
    enum error e =
        open_set_find(&opens->set, handle) ? open_state_read_locks(opens) : E_ResourceNotFound;

    for (size_t i = 0; !e && i < opens->lock_count; i++)
        if (byte_lock_bars_read(&opens->locks[i], handle, range))
            e = E_FileLockConflict;
    return e;
}

enum error open_state_write_bytes(struct open_state *opens, uint64_t handle,
                                  const struct byte_range *range)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);
    enum error e = open ? open_state_read_locks(opens) : E_ResourceNotFound;

    for (size_t i = 0; !e && i < opens->lock_count; i++)
        if (byte_lock_bars_write(&opens->locks[i], handle, range))
            e = E_FileLockConflict;
    return e ? e : break_data_caching(opens, open);
}

enum error open_state_change_data(struct open_state *opens, uint64_t handle)
{
    const struct open_entry *open = open_set_find(&opens->set, handle);

    return open ? break_data_caching(opens, open) : E_ResourceNotFound;
}

/* ---- names ---- */

enum error open_state_break_handles(struct open_state *opens, uint64_t handle)
{
    const struct file_use use = {
        .share = ACCESS_ALL,
        .breaks_caching = CACHING_HANDLE,
        .waits_for = CACHING_HANDLE,
        .is_open = true,
        .has_waited = opens->d->waits_until > 0,
    };
    const struct open_entry *open = open_set_find(&opens->set, handle);
    enum error e = open ? open_state_check(opens, &use, open->open.caching) : E_ResourceNotFound;

    if (!e)
        open_state_write(opens);
    return e;
}

/* A rename opens the target directory to add a name, sharing read and write access. */
enum error open_state_add_name(struct open_state *opens, bool is_rename)
{
    const struct file_use use = { .access = is_rename ? ACCESS_WRITE : 0,
                                  .share = ACCESS_READ | ACCESS_WRITE };

    return open_state_check(opens, &use, NO_CACHING);
}
