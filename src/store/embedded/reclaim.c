/* Freed pieces on their way back to the file system. */
#include "store/embedded/reclaim.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"

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
    lock_release(&reclaim->lock);
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
}

void reclaim_add(struct reclaim *reclaim, struct freed *freed)
{
    struct freed *last = freed;

    if (!freed)
        return;
    assert(freed->count > 0);
    while (last->next)
        last = last->next;
    lock_take(&reclaim->lock);
    last->next = reclaim->waiting;
    reclaim->waiting = freed;
    lock_give(&reclaim->lock);
    reclaim->added(reclaim->context);
}

/* Takes those out whose commit is durable. */
static struct freed *take_durable(struct embedded *embedded, bool *ret_left)
{
    struct reclaim *reclaim = &embedded->reclaim;
    struct freed *taken = NULL;
    struct freed **link = &reclaim->waiting;

    lock_take(&reclaim->lock);
    while (*link) {
        struct freed *freed = *link;

        if (!syncer_covers(&embedded->syncer, freed->sequence)) {
            link = &freed->next;
            continue;
        }
        *link = freed->next;
        freed->next = taken;
        taken = freed;
    }
    *ret_left = reclaim->waiting;
    lock_give(&reclaim->lock);
    return taken;
}

/* Returns what a commit freed to the file system, pieces that follow each other in one. */
static void give_back(struct embedded *embedded, const struct freed *freed)
{
    for (size_t i = 0, next; i < freed->count; i = next) {
        const struct freed_piece *first = &freed->pieces[i];
        uint64_t length = 0;

        for (next = i; next < freed->count; next++) {
            const struct freed_piece *piece = &freed->pieces[next];

            if (piece->extent != first->extent || piece->offset != first->offset + length)
                break;
            verified_forget(&embedded->verified, piece->extent, piece->offset);
            length += extent_room(piece->length);
        }
        extents_punch(&embedded->extents, first->extent, first->offset, length);
    }
}

bool reclaim_step(struct embedded *embedded)
{
    bool left;
    struct freed *freed = take_durable(embedded, &left);

    while (freed) {
        struct freed *next = freed->next;

        uint64_t bytes = bytes_of_freed(freed), before;

        give_back(embedded, freed);
        before = atomic_fetch_sub(&embedded->reclaim.pending_bytes, bytes);
        assert(before >= bytes);
        free(freed);
        freed = next;
    }
    return left;
}
