/* Ends the use of a stage and its buffers by a thread, and ends the stage. */
#include "store/embedded/stage.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"

void stage_return_run(struct embedded *embedded, struct embedded_stage *stage)
{
    if (stage->run.extent != 0)
        extents_give_back(&embedded->extents, stage->run);
    stage->run = (struct run){ .extent = 0 };
}

void stage_release_buffer_locked(struct stage_detach *detach, struct embedded_stage *stage,
                                 struct io_buffer *buffer)
{
    lock_assert_held(&embedded_of(stage->stage.store)->io.lock);
    assert(buffer->holders > 0 && stage->queued > 0);
    if (--buffer->holders > 0)
        return;
    buffer->next = detach->unused;
    detach->unused = buffer;
    stage->queued--;
}

static bool waiter_is_due(const struct embedded_stage *stage)
{
    switch (stage->state) {
    case STAGE_FILLING:
        return stage->queued <= STAGE_QUEUED_MAX / 2;
    case STAGE_WRITING:
    case STAGE_SYNCING:
        return false;
    case STAGE_DONE:
        return !stage->in_hash;
    case STAGE_FAILED:
        break;
    }
    return true;
}

void stage_detach_locked(struct stage_detach *detach, struct embedded_stage *stage)
{
    detach->embedded = embedded_of(stage->stage.store);
    lock_assert_held(&detach->embedded->io.lock);
    assert(!stage->closed || !stage->waiter);
    if (stage->closed && !stage->in_io && !stage->in_hash)
        detach->finished = stage;
    if (stage->waiter && waiter_is_due(stage)) {
        detach->waiter = stage->waiter;
        detach->waited = stage;
        stage->waiter = NULL;
        stage->waking++;
    }
}

static void wake(const struct stage_detach *detach)
{
    struct io_pool *pool = &detach->embedded->io;

    detach->waiter->wake(detach->waiter);
    lock_acquire(&pool->lock);
    assert(detach->waited->waking > 0);
    detach->waited->waking--;
    pthread_cond_broadcast(&pool->woken);
    lock_release(&pool->lock);
}

void stage_detach_finish(const struct stage_detach *detach)
{
    io_buffers_give(&detach->embedded->io, detach->unused);
    if (detach->waiter)
        wake(detach);
    if (detach->finished) {
        stage_end(detach->finished);
        atomic_fetch_sub(&detach->embedded->ending_stages, 1);
    }
}

void stage_synced(struct embedded_stage *stage, enum store_result result)
{
    struct io_pool *pool = &embedded_of(stage->stage.store)->io;
    struct stage_detach detach = { 0 };

    lock_acquire(&pool->lock);
    assert(stage->in_io && stage->state == STAGE_SYNCING);
    stage->state = result ? STAGE_FAILED : STAGE_DONE;
    stage->result = result;
    stage->in_io = false;
    stage_detach_locked(&detach, stage);
    lock_release(&pool->lock);
    stage_detach_finish(&detach);
}

/* Passes the pieces that no commit refers to to reclaim. */
static void free_uncommitted(struct embedded *embedded, struct embedded_stage *stage)
{
    struct freed *freed = freed_new(stage->piece_count);

    for (struct staged_piece *piece = stage->first; piece; piece = piece->next)
        if (extents_unstage(&embedded->extents, piece))
            freed->pieces[freed->count++] =
                (struct freed_piece){ piece->piece.extent, piece->capacity, piece->piece.offset };
    if (freed->count == 0) {
        free(freed);
        return;
    }
    freed_count(&embedded->reclaim, freed);
    reclaim_add(&embedded->reclaim, freed);
}

void stage_end(struct embedded_stage *stage)
{
    struct embedded *embedded = embedded_of(stage->stage.store);
    struct staged_piece *piece = stage->first;

    assert(stage->closed && !stage->in_io && !stage->in_hash);
    assert(stage->waking == 0 && stage->queued == 0);
    free_uncommitted(embedded, stage);
    stage_return_run(embedded, stage);
    while (piece) {
        struct staged_piece *next = piece->next;

        free(piece->seal);
        free(piece);
        piece = next;
    }
    free(stage->array);
    stage_end_encryption(stage);
    free(stage);
}
