/* Returns freed pieces to the file system. */
#include "store/embedded/reclaim.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/embedded/embedded_private.h"

/* Removes and returns the lists whose commits are durable. */
static struct freed *take_durable(struct embedded *embedded, bool *ret_left)
{
    struct reclaim *reclaim = &embedded->reclaim;
    struct freed *taken = NULL;
    struct freed **link = &reclaim->waiting;

    lock_acquire(&reclaim->lock);
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
    lock_release(&reclaim->lock);
    return taken;
}

static void punch(struct embedded *embedded, const struct freed_piece *run)
{
    uint64_t before;

    extents_punch(&embedded->extents, run->extent, run->offset, run->length);
    before = atomic_fetch_sub(&embedded->reclaim.pending_bytes, run->length);
    assert(before >= run->length);
}

static void keep(struct reclaim *reclaim, const struct freed_piece *run)
{
    if (reclaim->kept_count == reclaim->kept_capacity) {
        reclaim->kept_capacity = reclaim->kept_capacity > 0 ? 2 * reclaim->kept_capacity : 1024;
        reclaim->kept = xrealloc(reclaim->kept, reclaim->kept_capacity * sizeof reclaim->kept[0]);
    }
    reclaim->kept[reclaim->kept_count++] = *run;
    assert(reclaim->kept_count <= RECLAIM_KEPT_MAX);
}

/* Punches pieces that are no longer held. */
static void punch_kept(struct embedded *embedded)
{
    struct reclaim *reclaim = &embedded->reclaim;
    size_t count = reclaim->kept_count;

    reclaim->kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct freed_piece run = reclaim->kept[i];

        if (extents_is_held(&embedded->extents, run.extent))
            reclaim->kept[reclaim->kept_count++] = run;
        else
            punch(embedded, &run);
    }
    if (reclaim->kept_count > 0)
        return;
    free(reclaim->kept);
    reclaim->kept = NULL;
    reclaim->kept_capacity = 0;
}

void reclaim_press(struct embedded *embedded)
{
    punch_kept(embedded);
    if (embedded->reclaim.kept_count == 0)
        return;
    if (extents_lose_hold(&embedded->extents))
        log_line(LOG_WARN,
                 "store: a backup was aborted, because the space of data deleted since its "
                 "start is needed");
    punch_kept(embedded);
}

/* Returns a run of adjacent pieces. */
static void give_back_run(struct embedded *embedded, const struct freed_piece *run)
{
    struct reclaim *reclaim = &embedded->reclaim;

    if (!extents_is_held(&embedded->extents, run->extent)) {
        punch(embedded, run);
        return;
    }
    if (reclaim->kept_count == RECLAIM_KEPT_MAX) {
        punch_kept(embedded);
        /* If only a few were punched, everything would soon be examined again. */
        if (reclaim->kept_count > RECLAIM_KEPT_MAX / 2)
            reclaim_press(embedded);
    }
    /* If it is no longer held, it is punched at the end of the step. */
    keep(reclaim, run);
}

/* Returns the pieces that a commit freed to the file system, adjacent ones together. */
static void give_back(struct embedded *embedded, const struct freed *freed)
{
    for (size_t i = 0, next; i < freed->count; i = next) {
        const struct freed_piece *first = &freed->pieces[i];
        struct freed_piece run = { .extent = first->extent, .offset = first->offset };

        for (next = i; next < freed->count; next++) {
            const struct freed_piece *piece = &freed->pieces[next];

            if (piece->extent != run.extent || piece->offset != run.offset + run.length)
                break;
            verified_forget(&embedded->verified, piece->extent, piece->offset);
            run.length += (uint32_t)extent_room(piece->length);
        }
        assert(run.length <= EXTENT_BYTES);
        give_back_run(embedded, &run);
    }
}

bool reclaim_step(struct embedded *embedded)
{
    bool left;
    struct freed *freed = take_durable(embedded, &left);
    struct freed *let_go = states_let_go(embedded);

    while (freed) {
        struct freed *next = freed->next;

        states_take_out(embedded, freed);
        give_back(embedded, freed);
        if (freed->sequence > 0)
            atomic_fetch_sub(&embedded->reclaim.under_way, 1);
        free(freed);
        freed = next;
    }
    if (let_go)
        give_back(embedded, let_go);
    free(let_go);
    if (embedded->reclaim.kept_count > 0 && !extents_any_held(&embedded->extents))
        punch_kept(embedded);
    return left;
}
