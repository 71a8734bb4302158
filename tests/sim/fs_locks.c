/* Bytes that SMB clients have locked: see fs_opens.h. */
#include "fs_opens.h"

static const struct fs_open *owner_of(const struct fs_state *state, const struct fs_lock *lock,
                                      const struct fs_node *node)
{
    const struct fs_open *open = lock->open > 0 ? fs_open_of(state, lock->open) : NULL;

    return open && open->node == node->id ? open : NULL;
}

static bool overlap(const struct fs_lock *lock, unsigned from, unsigned to)
{
    return lock->from < to && from < lock->to;
}

unsigned fs_locks_count(const struct fs_state *state, const struct fs_node *node)
{
    unsigned count = 0;

    for (unsigned i = 0; i < FS_LOCKS; i++)
        count += owner_of(state, &state->locks[i], node) != NULL;
    return count;
}

/* MS-FSA 2.1.4.10 */
bool fs_locks_bar_read(const struct fs_state *state, const struct fs_node *node, uint64_t open,
                       unsigned from, unsigned to)
{
    for (unsigned i = 0; i < FS_LOCKS; i++) {
        const struct fs_lock *lock = &state->locks[i];

        if (owner_of(state, lock, node) && lock->is_exclusive && lock->open != open &&
            overlap(lock, from, to))
            return true;
    }
    return false;
}

bool fs_locks_bar_write(const struct fs_state *state, const struct fs_node *node, uint64_t open,
                        unsigned from, unsigned to)
{
    for (unsigned i = 0; i < FS_LOCKS; i++) {
        const struct fs_lock *lock = &state->locks[i];

        if (!owner_of(state, lock, node))
            continue;
        if (open == 0 || ((lock->open != open || !lock->is_exclusive) && overlap(lock, from, to)))
            return true;
    }
    return false;
}

/* An exclusive one is beside none, not even its owner's. MS-FSA 2.1.5.7 */
bool fs_locks_bar_lock(const struct fs_state *state, const struct fs_node *node,
                       const struct fs_lock *wanted)
{
    for (unsigned i = 0; i < FS_LOCKS; i++) {
        const struct fs_lock *lock = &state->locks[i];

        if (owner_of(state, lock, node) && overlap(lock, wanted->from, wanted->to) &&
            (wanted->is_exclusive || (lock->is_exclusive && lock->open != wanted->open)))
            return true;
    }
    return false;
}

const struct fs_lock *fs_lock_of(const struct fs_state *state, uint64_t open, unsigned from,
                                 unsigned to)
{
    const struct fs_lock *found = NULL;

    for (unsigned i = 0; i < FS_LOCKS; i++) {
        const struct fs_lock *lock = &state->locks[i];

        if (lock->open != open || lock->from != from || lock->to != to)
            continue;
        if (lock->is_exclusive)
            return lock;
        if (!found || lock->since > found->since)
            found = lock;
    }
    return found;
}

void fs_unlock(struct fs_state *state, uint64_t open, unsigned from, unsigned to)
{
    const struct fs_lock *lock = fs_lock_of(state, open, from, to);

    state->locks[lock - state->locks] = (struct fs_lock){ .open = 0 };
}
