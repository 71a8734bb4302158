/* Group sync of extents. */
#include "store/embedded/extent_syncer.h"

#include <assert.h>

#include "store/embedded/embedded_private.h"

/* Extents remembered as synced in one round; others may be synced twice. */
#define EXTENTS_MAX 64

struct round {
    uint32_t synced[EXTENTS_MAX];
    size_t count;
};

static enum store_result sync_once(struct embedded *embedded, struct round *round, uint32_t extent)
{
    enum store_result result;

    for (size_t i = 0; i < round->count; i++)
        if (round->synced[i] == extent)
            return STORE_OK;
    result = extents_sync(&embedded->extents, extent);
    if (result)
        return result;
    if (round->count < EXTENTS_MAX)
        round->synced[round->count++] = extent;
    return STORE_OK;
}

static enum store_result sync_stage(struct embedded *embedded, struct round *round,
                                    const struct embedded_stage *stage)
{
    if (!embedded->sync)
        return STORE_OK;
    for (const struct staged_piece *piece = stage->first; piece; piece = piece->next) {
        enum store_result result = sync_once(embedded, round, piece->piece.extent);

        assert(round->count <= EXTENTS_MAX);
        if (result)
            return result;
    }
    return STORE_OK;
}

/* All these stages were written before, so one sync of an extent is enough for all. */
static void sync_all(struct embedded *embedded, struct embedded_stage *stage)
{
    struct round round = { .count = 0 };

    while (stage) {
        struct embedded_stage *next = stage->sync_next;
        enum store_result result =
            atomic_load(&embedded->failed) ? STORE_IO : sync_stage(embedded, &round, stage);

        if (result)
            embedded_fail(embedded);
        stage_synced(stage, result);
        stage = next;
    }
}

static void *sync_extents(void *argument)
{
    struct extent_syncer *syncer = argument;

    for (;;) {
        struct embedded_stage *stages;
        bool stopping;

        lock_acquire(&syncer->lock);
        while (!syncer->first && !syncer->stopping)
            lock_wait(&syncer->lock, &syncer->work, -1);
        stages = syncer->first;
        syncer->first = NULL;
        stopping = syncer->stopping;
        lock_release(&syncer->lock);
        sync_all(syncer->embedded, stages);
        if (stopping && !stages)
            return NULL;
    }
}

bool extent_syncer_start(struct extent_syncer *syncer, struct embedded *embedded)
{
    *syncer = (struct extent_syncer){ .embedded = embedded };
    lock_init(&syncer->lock, RANK_SYNCER);
    lock_condition_init(&syncer->work);
    return thread_start(&syncer->thread, sync_extents, syncer);
}

void extent_syncer_stop(struct extent_syncer *syncer)
{
    lock_acquire(&syncer->lock);
    syncer->stopping = true;
    pthread_cond_signal(&syncer->work);
    lock_release(&syncer->lock);
    thread_join(&syncer->thread);
    assert(!syncer->first);
    pthread_cond_destroy(&syncer->work);
    lock_destroy(&syncer->lock);
}

void extent_syncer_add(struct extent_syncer *syncer, struct embedded_stage *stage)
{
    lock_acquire(&syncer->lock);
    assert(!syncer->stopping);
    stage->sync_next = syncer->first;
    syncer->first = stage;
    pthread_cond_signal(&syncer->work);
    lock_release(&syncer->lock);
}
