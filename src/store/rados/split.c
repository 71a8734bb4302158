#include "store/rados/split.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/limb.h"
#include "store/rados/move.h"
#include "store/rados/split_shard.h"
#include "store/rados/split_survey.h"

/* Shards that wait to be counted. Others are drawn again. */
#define QUEUE_MAX 64u

struct splits {
    struct shard_watch watch; /* first */
    struct shards *shards;
    struct beat *beat;
    uint32_t rows, cut_rows;
    _Atomic int64_t left; /* rows, until the next is drawn */
    struct thread thread;
    struct lock lock;
    pthread_cond_t woken;
    char queue[QUEUE_MAX][SHARD_NAME_SIZE]; /* under lock */
    unsigned count;                         /* under lock */
    bool is_stopping;                       /* under lock */
};

/* From one to as many as a shard may have. */
static int64_t draw(const struct splits *splits)
{
    const struct guid random = guid_new();
    uint32_t number;

    memcpy(&number, random.b, sizeof number);
    return (int64_t)(number % splits->rows) + 1;
}

static void add(struct splits *splits, const char *object)
{
    bool is_known = false;

    lock_take(&splits->lock);
    for (unsigned i = 0; i < splits->count; i++)
        is_known = is_known || strcmp(splits->queue[i], object) == 0;
    if (!is_known && splits->count < QUEUE_MAX) {
        memcpy(splits->queue[splits->count++], object, SHARD_NAME_SIZE);
        pthread_cond_signal(&splits->woken);
    }
    lock_give(&splits->lock);
}

static void wrote(struct shard_watch *watch, const char *object, uint64_t rows, uint64_t bytes)
{
    struct splits *splits = (struct splits *)(void *)watch;
    int64_t weight = (int64_t)(rows > bytes / SPLIT_ROW_BYTES ? rows : bytes / SPLIT_ROW_BYTES);
    int64_t left = atomic_fetch_sub(&splits->left, weight);

    if (left <= 0 || left > weight)
        return; /* another thread draws, or none was drawn */
    add(splits, object);
    atomic_store(&splits->left, draw(splits));
}

/* The next one; false: it is over. */
static bool take(struct splits *splits, char ret_object[SHARD_NAME_SIZE])
{
    bool is_taken;

    lock_take(&splits->lock);
    while (splits->count == 0 && !splits->is_stopping)
        lock_wait(&splits->lock, &splits->woken, -1);
    is_taken = !splits->is_stopping;
    if (is_taken) {
        memcpy(ret_object, splits->queue[0], SHARD_NAME_SIZE);
        memmove(splits->queue[0], splits->queue[1], --splits->count * sizeof splits->queue[0]);
    }
    lock_give(&splits->lock);
    return is_taken;
}

static void *run(void *argument)
{
    struct splits *splits = argument;
    char object[SHARD_NAME_SIZE];

    while (take(splits, object)) {
        struct arrival *finished = move_finish(splits->shards, object); /* that another began */

        arrival_block(finished);
        arrival_drop(finished);
        (void)split_shard(splits->shards, object, splits->rows,
                          beat_format(splits->beat) >= LIMB_FORMAT ? splits->cut_rows : 0);
    }
    return NULL;
}

struct splits *splits_start(struct shards *shards, struct beat *beat, uint32_t rows,
                            uint32_t cut_rows)
{
    struct splits *splits = xcalloc(1, sizeof *splits);

    splits->watch.wrote = wrote;
    splits->shards = shards;
    splits->beat = beat;
    splits->rows = rows;
    splits->cut_rows = cut_rows;
    atomic_init(&splits->left, draw(splits));
    lock_init(&splits->lock, RANK_SYNCER);
    lock_condition_init(&splits->woken);
    if (!thread_start(&splits->thread, run, splits)) {
        splits_free(splits);
        return NULL;
    }
    shards_watch(shards, &splits->watch);
    return splits;
}

void splits_stop(struct splits *splits)
{
    if (!splits)
        return;
    shards_set_closing(splits->shards);
    lock_take(&splits->lock);
    splits->is_stopping = true;
    pthread_cond_signal(&splits->woken);
    lock_give(&splits->lock);
    thread_join(&splits->thread);
}

void splits_free(struct splits *splits)
{
    if (!splits)
        return;
    pthread_cond_destroy(&splits->woken);
    lock_release(&splits->lock);
    free(splits);
}
