/* The MD5 of staged bytes. One thread hashes the buffers of all stages that want it, one of each in
 * a round, so that stages which are filled at the same time share the lanes of base/md5.h; it
 * does so while the same buffers are being written, and while the next ones are received. */
#ifndef LAGRA_STORE_EMBEDDED_STAGE_HASH_H
#define LAGRA_STORE_EMBEDDED_STAGE_HASH_H

#include "store/embedded/stage.h"

/* All but the thread: under io_pool.lock. */
struct stage_hasher {
    struct io_pool *pool;
    struct thread thread;
    pthread_cond_t work;
    struct embedded_stage *first, *last; /* stages with buffers to be hashed */
    bool stopping;
};

/* False: no thread; to be stopped all the same. */
bool stage_hasher_start(struct stage_hasher *hasher, struct io_pool *pool);
/* Hashes what is queued, then ends the thread. */
void stage_hasher_stop(struct stage_hasher *hasher);
/* Adds a buffer behind those of the stage; the hasher is one of its holders. Under io_pool.lock. */
void stage_hasher_add_locked(struct stage_hasher *hasher, struct embedded_stage *stage,
                             struct io_buffer *buffer);

#endif
