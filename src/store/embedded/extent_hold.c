/* The hold of a backup on extents that it has not copied yet: see extents.h. */
#include <assert.h>

#include "store/embedded/extents_private.h"

bool extents_hold(struct extents *extents)
{
    bool is_free;

    lock_acquire(&extents->lock);
    is_free = !extents->hold.is_active;
    if (is_free)
        extents->hold = (struct extent_hold){ .from = 0, .to = UINT32_MAX, .is_active = true };
    lock_release(&extents->lock);
    return is_free;
}

void extents_hold_to_end(struct extents *extents, uint32_t *ret_id, uint64_t *ret_end)
{
    lock_acquire(&extents->lock);
    assert(extents->hold.is_active);
    *ret_id = extents->count > 0 ? extents->list[extents->count - 1]->id : 0;
    *ret_end = extents->active ? extents->active_end : EXTENT_BYTES;
    assert(!extents->active || extents->active->id == *ret_id);
    if (!extents->hold.is_lost)
        extents->hold.to = *ret_id;
    lock_release(&extents->lock);
}

bool extents_hold_after(struct extents *extents, uint32_t id)
{
    bool is_lost;

    lock_acquire(&extents->lock);
    assert(extents->hold.is_active);
    is_lost = extents->hold.is_lost;
    if (!is_lost && extents->hold.from <= id)
        extents->hold.from = id < UINT32_MAX ? id + 1 : id;
    lock_release(&extents->lock);
    return !is_lost;
}

bool extents_is_held(struct extents *extents, uint32_t id)
{
    bool held;

    lock_acquire(&extents->lock);
    held = extents_holds(extents, id);
    lock_release(&extents->lock);
    return held;
}

bool extents_any_held(struct extents *extents)
{
    bool any;

    lock_acquire(&extents->lock);
    any = extents->hold.from <= extents->hold.to;
    lock_release(&extents->lock);
    return any;
}

bool extents_lose_hold(struct extents *extents)
{
    bool had;

    lock_acquire(&extents->lock);
    had = extents->hold.is_active && !extents->hold.is_lost;
    if (had) {
        extents->hold = EXTENT_HOLD_NONE;
        extents->hold.is_active = extents->hold.is_lost = true;
    }
    lock_release(&extents->lock);
    return had;
}

bool extents_end_hold(struct extents *extents)
{
    bool is_lost;

    lock_acquire(&extents->lock);
    assert(extents->hold.is_active);
    is_lost = extents->hold.is_lost;
    extents->hold = EXTENT_HOLD_NONE;
    lock_release(&extents->lock);
    return !is_lost;
}
