/* See stage_hash.h. */
#include "store/embedded/stage_hash.h"

#include <assert.h>

/* One buffer from each of several stages. */
struct round {
    struct embedded_stage *stages[MD5_LANES];
    struct io_buffer *buffers[MD5_LANES];
    size_t count;
};

/* Appends the stage to those waiting, so that all progress equally. */
static void add_stage(struct stage_hasher *hasher, struct embedded_stage *stage)
{
    stage->hash_stage_next = NULL;
    if (hasher->first)
        hasher->last->hash_stage_next = stage;
    else
        hasher->first = stage;
    hasher->last = stage;
}

void stage_hasher_add_locked(struct stage_hasher *hasher, struct embedded_stage *stage,
                             struct io_buffer *buffer)
{
    lock_assert_held(&hasher->pool->lock);
    assert(buffer->holders == 2 && stage->stage.wants_md5);
    buffer->hash_next = NULL;
    if (stage->hash_first)
        stage->hash_last->hash_next = buffer;
    else
        stage->hash_first = buffer;
    stage->hash_last = buffer;
    if (stage->in_hash)
        return;
    stage->in_hash = true;
    add_stage(hasher, stage);
    pthread_cond_signal(&hasher->work);
}

static void take_round(struct stage_hasher *hasher, struct round *ret_round)
{
    ret_round->count = 0;
    while (hasher->first && ret_round->count < MD5_LANES) {
        struct embedded_stage *stage = hasher->first;

        assert(stage->in_hash && stage->hash_first);
        hasher->first = stage->hash_stage_next;
        ret_round->stages[ret_round->count] = stage;
        ret_round->buffers[ret_round->count++] = stage->hash_first;
        stage->hash_first = stage->hash_first->hash_next;
    }
}

static void hash_round(const struct round *round)
{
    struct md5_stream *streams[MD5_LANES];
    struct bytes data[MD5_LANES];

    for (size_t i = 0; i < round->count; i++) {
        streams[i] = &round->stages[i]->stage.md5;
        data[i] = bytes_of(round->buffers[i]->bytes, round->buffers[i]->length);
    }
    md5_update_many(streams, data, round->count);
}

static void release_round(struct stage_hasher *hasher, const struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct embedded_stage *stage = round->stages[i];
        struct stage_detach detach = { 0 };

        lock_acquire(&hasher->pool->lock);
        stage_release_buffer_locked(&detach, stage, round->buffers[i]);
        if (stage->hash_first)
            add_stage(hasher, stage);
        else
            stage->in_hash = false;
        stage_detach_locked(&detach, stage);
        lock_release(&hasher->pool->lock);
        stage_detach_finish(&detach);
    }
}

static void *hash_buffers(void *argument)
{
    struct stage_hasher *hasher = argument;
    struct round round;

    lock_acquire(&hasher->pool->lock);
    for (;;) {
        if (!hasher->first && hasher->stopping)
            break;
        if (!hasher->first) {
            lock_wait(&hasher->pool->lock, &hasher->work, -1);
            continue;
        }
        take_round(hasher, &round);
        lock_release(&hasher->pool->lock);
        hash_round(&round);
        release_round(hasher, &round);
        lock_acquire(&hasher->pool->lock);
    }
    lock_release(&hasher->pool->lock);
    return NULL;
}

bool stage_hasher_start(struct stage_hasher *hasher, struct io_pool *pool)
{
    *hasher = (struct stage_hasher){ .pool = pool };
    lock_condition_init(&hasher->work);
    return thread_start(&hasher->thread, hash_buffers, hasher);
}

void stage_hasher_stop(struct stage_hasher *hasher)
{
    lock_acquire(&hasher->pool->lock);
    hasher->stopping = true;
    pthread_cond_signal(&hasher->work);
    lock_release(&hasher->pool->lock);
    thread_join(&hasher->thread);
    assert(!hasher->first);
    pthread_cond_destroy(&hasher->work);
}
