/* See fs_opens.h. */
#include "fs_opens.h"

#include <string.h>

static bool takes_lease(const struct fs_ask *ask)
{
    return ask->op == FS_LEASE_FILE && ask->act == ACT_ACQUIRE;
}

/* semantics 8.2 */
struct fs_use fs_use_of(const struct fs_ask *ask)
{
    struct fs_use use = { .share = MAY_RWD };

    switch ((int)ask->op) {
    case FS_GET_FILE:
    case FS_LIST_RANGES:
        use.access = MAY_R;
        break;
    case FS_PUT_RANGE:
    case FS_PUT_RANGE_FROM_URL:
    case FS_CLEAR_RANGE:
    case FS_SET_LENGTH:
    case FS_SET_METADATA:
        use.access = MAY_W;
        break;
    case FS_CREATE_FILE:
    case FS_COPY_FILE:
        use.access = MAY_W | MAY_D;
        break;
    case FS_DELETE_FILE:
    case FS_DELETE_DIRECTORY:
    case FS_RENAME_FILE: /* of what it replaces */
    case FS_RENAME_DIRECTORY:
        use.access = MAY_D;
        use.needs_no_open = true;
        break;
    default:
        break;
    }
    if (takes_lease(ask))
        use = (struct fs_use){ .access = MAY_RWD, .share = MAY_R };
    return use;
}

struct fs_use fs_use_of_source(const struct fs_ask *ask)
{
    bool is_renamed = ask->op == FS_RENAME_FILE || ask->op == FS_RENAME_DIRECTORY;

    return (struct fs_use){ .access = is_renamed ? MAY_D : MAY_R, .share = MAY_RWD };
}

/* Opens for attributes alone neither bar nor are barred, but where nothing may be open at all. */
static bool bears(const struct fs_open *open, const struct fs_use *use)
{
    if (use->needs_no_open)
        return false;
    if (open->access == 0 || use->access == 0)
        return true;
    return (use->access & ~open->share) == 0 && (open->access & ~use->share) == 0;
}

enum fs_bar fs_beside_opens(const struct fs_state *state, const struct fs_node *node,
                            const struct fs_use *use)
{
    if (state->is_kept)
        return FS_NOTHING_BARS;
    if (node->is_delete_pending)
        return FS_DELETE_IS_PENDING;
    for (unsigned i = 0; i < FS_OPENS; i++) {
        const struct fs_open *open = &state->opens[i];

        if (open->id > 0 && open->node == node->id && !bears(open, use))
            return FS_IS_NOT_SHARED;
    }
    return FS_NOTHING_BARS;
}

const char *fs_bar_code(enum fs_bar bar)
{
    return bar == FS_NOTHING_BARS        ? NULL
           : bar == FS_DELETE_IS_PENDING ? "SMBDeletePending"
                                         : "SharingViolation";
}

bool fs_is_open(const struct fs_state *state, const struct fs_node *node)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].node == node->id)
            return true;
    return false;
}

const struct fs_open *fs_open_of(const struct fs_state *state, uint64_t id)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id == id && id > 0)
            return &state->opens[i];
    return NULL;
}

const struct fs_open *fs_open_of_client(const struct fs_state *state, unsigned client,
                                        uint64_t volatile_id)
{
    for (unsigned i = 0; i < FS_OPENS; i++)
        if (state->opens[i].id > 0 && state->opens[i].client == client &&
            state->opens[i].volatile_id == volatile_id)
            return &state->opens[i];
    return NULL;
}

/* ---- locks ---- */

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

struct fs_lock *fs_lock_of(struct fs_state *state, uint64_t open, unsigned from, unsigned to)
{
    struct fs_lock *found = NULL;

    for (unsigned i = 0; i < FS_LOCKS; i++) {
        struct fs_lock *lock = &state->locks[i];

        if (lock->open != open || lock->from != from || lock->to != to)
            continue;
        if (lock->is_exclusive)
            return lock;
        if (!found || lock->since > found->since)
            found = lock;
    }
    return found;
}
