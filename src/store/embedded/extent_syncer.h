/* Makes staged bytes durable: one thread syncs the extents of all waiting stages together. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENT_SYNCER_H
#define LAGRA_STORE_EMBEDDED_EXTENT_SYNCER_H

#include "base/lock.h"
#include "base/thread.h"
#include "store/embedded/stage.h"

struct extent_syncer {
    struct embedded *embedded;
    struct thread thread;
    struct lock lock;
    pthread_cond_t work;
    struct embedded_stage *first; /* under lock */
    bool stopping;                /* under lock */
};

/* Returns false if no thread could be created; extent_syncer_stop() must be called anyway. */
bool extent_syncer_start(struct extent_syncer *syncer, struct embedded *embedded);
void extent_syncer_stop(struct extent_syncer *syncer);
/* Queues a stage for a sync, which ends with stage_synced(). Called on an I/O thread. */
void extent_syncer_add(struct extent_syncer *syncer, struct embedded_stage *stage);

#endif
