/* The MD5 of staged bytes. One thread hashes the buffers of all stages that need it, one of each
 * per round, so that stages filled at the same time share the lanes of base/md5.h; this happens
 * while the same buffers are being written and the next ones received. */
#ifndef LAGRA_STORE_EMBEDDED_STAGE_HASH_H
#define LAGRA_STORE_EMBEDDED_STAGE_HASH_H

#include "store/embedded/stage.h"

/* All but the thread are under io_pool.lock. */
struct stage_hasher {
    struct io_pool *pool;
    struct thread thread;
    pthread_cond_t work;
    struct embedded_stage *first, *last; /* stages with buffers to be hashed */
    bool stopping;
};

/* Returns false if no thread could be created; stage_hasher_stop() must be called anyway. */
bool stage_hasher_start(struct stage_hasher *hasher, struct io_pool *pool);
/* Hashes the queued buffers, then ends the thread. */
void stage_hasher_stop(struct stage_hasher *hasher);
/* Appends a buffer to those of the stage; the hasher is one of its holders. Caller holds
 * io_pool.lock. */
void stage_hasher_add_locked(struct stage_hasher *hasher, struct embedded_stage *stage,
                             struct io_buffer *buffer);

#endif
