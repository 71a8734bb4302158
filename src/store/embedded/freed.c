/* See freed.h. */
#include "store/embedded/freed.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/extent_file.h"

void reclaim_init(struct reclaim *reclaim, void (*added)(void *context), void *context)
{
    *reclaim = (struct reclaim){ .added = added, .context = context };
    lock_init(&reclaim->lock, RANK_RECLAIM);
}

void reclaim_release(struct reclaim *reclaim)
{
    while (reclaim->waiting) {
        struct freed *next = reclaim->waiting->next;

        free(reclaim->waiting);
        reclaim->waiting = next;
    }
    free(reclaim->kept);
    lock_destroy(&reclaim->lock);
}

struct freed *freed_new(size_t room)
{
    struct freed *freed = xcalloc(1, sizeof *freed + room * sizeof freed->pieces[0]);

    return freed;
}

static uint64_t bytes_of_freed(const struct freed *freed)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < freed->count; i++)
        bytes += extent_room(freed->pieces[i].length);
    return bytes;
}

void freed_count(struct reclaim *reclaim, const struct freed *freed)
{
    atomic_fetch_add(&reclaim->pending_bytes, bytes_of_freed(freed));
    if (freed->sequence > 0)
        atomic_fetch_add(&reclaim->under_way, 1);
}

void freed_uncount(struct reclaim *reclaim, const struct freed_piece *piece)
{
    atomic_fetch_sub(&reclaim->pending_bytes, extent_room(piece->length));
}

void reclaim_add(struct reclaim *reclaim, struct freed *freed)
{
    struct freed *last = freed;

    if (!freed)
        return;
    assert(freed->count > 0);
    while (last->next)
        last = last->next;
    lock_acquire(&reclaim->lock);
    last->next = reclaim->waiting;
    reclaim->waiting = freed;
    lock_release(&reclaim->lock);
    reclaim->added(reclaim->context);
}
