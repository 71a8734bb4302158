/* The engine on RADOS: coming up, going down, and its row of operations. */
#include "store/rados/open.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/sleeper.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/departed.h"
#include "store/rados/intents.h"
#include "store/rados/keeper.h"
#include "store/rados/patience.h"
#include "store/rados/piece_reads.h"
#include "store/rados/rados_private.h"
#include "store/rados/root.h"
#include "store/rados/split.h"
#include "store/rados/staged.h"
#include "store/rados/todo.h"

/* A record is a row, and a row is what recovery of a shard copies. */
#define INLINE_BYTES (4u << 10)
#define RECORD_BYTES (1u << 20)
#define COMMIT_BYTES (4u << 20)

static bool rados_healthy(struct store *base)
{
    return !beat_is_fenced(rados_of(base)->beat); /* what does not answer now may answer again */
}

static const char *rados_trouble(struct store *base)
{
    struct rados *rados = rados_of(base);

    if (!beat_is_answered(rados->beat))
        return "the store's cluster does not answer";
    if (beat_is_fenced(rados->beat))
        return "others have taken this front end for dead";
    return beat_clock_agrees(rados->beat)
               ? NULL
               : "this machine's clock differs from those of other front ends";
}

static struct store_limits rados_limits(const struct store *base)
{
    (void)base;
    return (struct store_limits){
        .inline_bytes = INLINE_BYTES,
        .record_bytes = RECORD_BYTES,
        .commit_bytes = COMMIT_BYTES,
        .group_parts = 1,
        .settles_later = true,
    };
}

static void rados_wait_durable(struct store *base, uint64_t sequence, struct waiter *waiter)
{
    outcomes_wait(rados_of(base)->outcomes, sequence, waiter);
}

static enum store_result rados_settled(struct store *base, uint64_t sequence)
{
    enum store_result result = outcomes_of(rados_of(base)->outcomes, sequence);

    if (result == STORE_NOT_FOUND)
        return STORE_CONFLICT; /* the space is dropped: deciding again finds that */
    return result == STORE_CORRUPT ? STORE_IO : result;
}

/* Until nothing that was begun goes on. */
static void wait_until_idle(struct rados *rados)
{
    lock_take(&rados->lock);
    while (rados->commits > 0)
        lock_wait(&rados->lock, &rados->is_idle, -1);
    lock_give(&rados->lock);
}

static void rados_collect_now(struct store *base, struct store_usage *ret_usage)
{
    struct rados *rados = rados_of(base);
    struct staged_usage usage;

    wait_until_idle(rados);
    todo_forget(rados);
    keeper_pass(rados, true);
    staged_wait(rados->staged);
    usage = staged_usage(rados->staged);
    *ret_usage = (struct store_usage){
        .piece_bytes = (uint64_t)usage.live,
        .allocated_bytes = (uint64_t)(usage.live + usage.released) + staged_bytes(rados->staged),
        .pending_bytes = (uint64_t)usage.released,
    };
}

/* Until no lock is being resolved, for which its reader need not have waited. */
static void wait_for_shards(struct rados *rados)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    shards_wait_idle(rados->shards, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

static void rados_free(struct rados *rados)
{
    todo_free(rados->todo);
    piece_reads_free(rados->piece_reads);
    patience_stop(rados->patience);
    staged_free(rados->staged);
    intents_free(rados->intents);
    pending_free(rados->pending);
    outcomes_free(rados->outcomes);
    splits_free(rados->splits);
    shards_free(rados->shards);
    deferred_release(&rados->deferred);
    pthread_cond_destroy(&rados->is_idle);
    lock_release(&rados->lock);
    free(rados);
}

static void rados_close(struct store *base)
{
    struct rados *rados = rados_of(base);
    void (*closed)(void *of) = rados->closed;
    void *of = rados->closed_of;

    wait_until_idle(rados);
    keeper_stop(rados->keeper);
    splits_stop(rados->splits);
    assert(!rados->oldest);
    wait_for_shards(rados);
    staged_wait(rados->staged);
    intents_wait(rados->intents);
    beat_stop(rados->beat, staged_is_clean(rados->staged));
    rados_free(rados);
    if (closed)
        closed(of);
}

static const struct store_operations rados_operations = {
    .close = rados_close,
    .healthy = rados_healthy,
    .trouble = rados_trouble,
    .limits = rados_limits,
    .fetch_set_open = rados_fetch_set_open,
    .fetch_set_close = rados_fetch_set_close,
    .fetch_set_begin = rados_fetch_set_begin,
    .fetch_set_wait = rados_fetch_set_wait,
    .snapshot_open = rados_snapshot_open,
    .snapshot_show_pending = rados_snapshot_show_pending,
    .snapshot_close = rados_snapshot_close,
    .snapshot_instant = rados_snapshot_instant,
    .snapshot_confirm = rados_snapshot_confirm,
    .snapshot_hold = rados_snapshot_hold,
    .get = rados_get,
    .commit = rados_commit,
    .wait_durable = rados_wait_durable,
    .settled = rados_settled,
    .scan_cursor = rados_scan_cursor,
    .space_cursor = rados_space_cursor,
    .row_cursor = rados_row_cursor,
    .delete_row = todo_discard,
    .task_move = todo_move,
    .count = rados_count,
    .cursor_seek = rados_cursor_seek,
    .cursor_next = rados_cursor_next,
    .cursor_close = rados_cursor_close,
    .stage_open = rados_stage_open,
    .stage_write = rados_stage_write,
    .stage_finish = rados_stage_finish,
    .stage_pieces = rados_stage_pieces,
    .stage_close = rados_stage_close,
    .piece_read = rados_piece_read,
    .collect_now = rados_collect_now,
    .inspect = rados_inspect,
};

enum store_result store_open_rados(const struct rados_options *options, struct store **ret_store,
                                   const char **ret_problem)
{
    uint32_t incarnation;
    enum store_result result =
        root_take_incarnation(options->records, options->pool_of_pieces, &incarnation, ret_problem);
    struct rados *rados;

    if (result)
        return result;
    rados = xcalloc(1, sizeof *rados);
    rados->base.operations = &rados_operations;
    rados->base.deferred = &rados->deferred;
    deferred_init(&rados->deferred);
    rados->port = options->records;
    rados->pieces = options->pieces;
    rados->closed = options->closed;
    rados->closed_of = options->closed_of;
    rados->is_always_busy = options->is_always_busy;
    rados->grace = options->grace_ticks > 0 ? options->grace_ticks : RADOS_GRACE_TICKS;
    rados->shards = shards_new(rados->port, incarnation);
    rados->outcomes = outcomes_new();
    rados->pending = pending_new();
    rados->intents = intents_new(rados->port, incarnation);
    rados->staged = staged_new(rados->pieces, incarnation, rados->intents);
    rados->patience = patience_start(options->patience_ms > 0 ? options->patience_ms : PATIENCE_MS,
                                     rados->outcomes);
    rados->piece_reads = piece_reads_new(rados->patience);
    rados->todo = todo_new();
    lock_init(&rados->lock, RANK_PARTITION);
    lock_condition_init(&rados->is_idle);
    rados->again = options->again_ticks > 0 ? options->again_ticks : DEPARTED_AGAIN_TICKS;
    rados->beat = beat_start(
        &(struct beat_options){
            .port = rados->port,
            .incarnation = incarnation,
            .oldest = rados_oldest_opened,
            .rados = rados,
            .dead_ms = options->dead_ms > 0 ? options->dead_ms : BEAT_DEAD_MS,
            .fenced = options->failed,
            .known = options->format_known > 0 ? options->format_known : FORMAT_NEWEST,
        },
        ret_problem);
    if (rados->beat && options->split_rows > 0)
        rados->splits =
            splits_start(rados->shards, rados->beat, options->split_rows,
                         options->cut_rows > 0 ? options->cut_rows : options->split_rows);
    rados->keeper = rados->beat && rados->patience && (rados->splits || options->split_rows == 0)
                        ? keeper_start(rados)
                        : NULL;
    if (!rados->keeper) {
        splits_stop(rados->splits);
        if (rados->beat)
            *ret_problem = "a thread cannot be started";
        beat_stop(rados->beat, true);
        rados_free(rados);
        return STORE_IO;
    }
    log_line(LOG_INFO, "rados: front end %08x, by format %u of the store", incarnation,
             beat_format(rados->beat));
    *ret_store = &rados->base;
    return STORE_OK;
}
