/* The thread that sums up. */
#include "store/embedded/stage_sum.h"

#include <assert.h>

/* One buffer of each of several stages. */
struct round {
    struct embedded_stage *stages[MD5_LANES];
    struct io_buffer *buffers[MD5_LANES];
    size_t count;
};

/* Behind those that wait already, so that all go on alike. */
static void add_stage(struct stage_summer *summer, struct embedded_stage *stage)
{
    stage->sum_stage_next = NULL;
    if (summer->first)
        summer->last->sum_stage_next = stage;
    else
        summer->first = stage;
    summer->last = stage;
}

void stage_summer_add_locked(struct stage_summer *summer, struct embedded_stage *stage,
                             struct io_buffer *buffer)
{
    buffer->sum_next = NULL;
    if (stage->sum_first)
        stage->sum_last->sum_next = buffer;
    else
        stage->sum_first = buffer;
    stage->sum_last = buffer;
    if (stage->in_sum)
        return;
    stage->in_sum = true;
    add_stage(summer, stage);
    pthread_cond_signal(&summer->work);
}

static void take_round(struct stage_summer *summer, struct round *ret_round)
{
    ret_round->count = 0;
    while (summer->first && ret_round->count < MD5_LANES) {
        struct embedded_stage *stage = summer->first;

        summer->first = stage->sum_stage_next;
        ret_round->stages[ret_round->count] = stage;
        ret_round->buffers[ret_round->count++] = stage->sum_first;
        stage->sum_first = stage->sum_first->sum_next;
    }
}

static void sum_up(const struct round *round)
{
    struct md5_stream *streams[MD5_LANES];
    struct bytes data[MD5_LANES];

    for (size_t i = 0; i < round->count; i++) {
        streams[i] = &round->stages[i]->stage.md5;
        data[i] = bytes_of(round->buffers[i]->bytes, round->buffers[i]->length);
    }
    md5_update_many(streams, data, round->count);
}

static void let_go(struct stage_summer *summer, const struct round *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct embedded_stage *stage = round->stages[i];
        struct stage_parting parting = { 0 };

        lock_take(&summer->pool->lock);
        stage_let_go_locked(&parting, stage, round->buffers[i]);
        if (stage->sum_first)
            add_stage(summer, stage);
        else
            stage->in_sum = false;
        stage_part_locked(&parting, stage);
        lock_give(&summer->pool->lock);
        stage_parted(&parting);
    }
}

static void *sum_over_and_over(void *argument)
{
    struct stage_summer *summer = argument;
    struct round round;

    lock_take(&summer->pool->lock);
    for (;;) {
        if (!summer->first && summer->stopping)
            break;
        if (!summer->first) {
            lock_wait(&summer->pool->lock, &summer->work, -1);
            continue;
        }
        take_round(summer, &round);
        lock_give(&summer->pool->lock);
        sum_up(&round);
        let_go(summer, &round);
        lock_take(&summer->pool->lock);
    }
    lock_give(&summer->pool->lock);
    return NULL;
}

void stage_summer_start(struct stage_summer *summer, struct io_pool *pool)
{
    int error;

    *summer = (struct stage_summer){ .pool = pool };
    lock_condition_init(&summer->work);
    error = pthread_create(&summer->thread, NULL, sum_over_and_over, summer);
    assert(!error);
}

void stage_summer_stop(struct stage_summer *summer)
{
    lock_take(&summer->pool->lock);
    summer->stopping = true;
    pthread_cond_signal(&summer->work);
    lock_give(&summer->pool->lock);
    pthread_join(summer->thread, NULL);
    pthread_cond_destroy(&summer->work);
}
