#include "store/rados/beat.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/endian.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/rados/blocking.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_rows.h"

#define ROW_SIZE        16 /* 8 be at, 8 be oldest */
/* Others come up at the same time. */
#define FIRST_TRIES_MAX 64u

struct beat {
    struct beat_options options;
    struct thread thread;
    struct beat_look looks[2]; /* of the thread: the newest one, and the one before */
    unsigned newest;
    struct lock lock;
    pthread_cond_t stop;
    bool is_stopping;                      /* under lock */
    bool is_sent;                          /* under lock: and not answered */
    uint64_t sent_ms;                      /* under lock */
    bool clock_agrees;                     /* under lock */
    bool is_fenced;                        /* under lock */
    bool is_first;                         /* under lock */
    instant others;                        /* under lock: beat_oldest_of_others() */
    uint32_t format;                       /* under lock */
    struct beat_dead dead[BEAT_PEERS_MAX]; /* under lock: as of the last look */
    size_t dead_count;
};

struct bytes beat_write(struct arena *arena, const struct beat_row *row)
{
    char be[ROW_SIZE];

    be64_put(be, row->at);
    be64_put(be + 8, row->oldest);
    return row_value_write(arena, bytes_of(be, sizeof be));
}

bool beat_read(const struct port_row *row, uint32_t *ret_incarnation, struct beat_row *ret_row)
{
    struct bytes value;

    if (!front_end_of_key(row->key, ret_incarnation) || !row_value_read(row->value, &value) ||
        value.len != ROW_SIZE)
        return false;
    *ret_row = (struct beat_row){ be64_get(value.ptr), be64_get(value.ptr + 8) };
    return true;
}

/* ---- clocks ---- */

static uint64_t above(instant a, instant b)
{
    return a > b ? a - b : 0;
}

static const struct beat_peer *find(const struct beat_look *look, uint32_t incarnation)
{
    for (size_t i = 0; i < look->count; i++)
        if (look->peers[i].incarnation == incarnation)
            return &look->peers[i];
    return NULL;
}

struct beat_judgement beat_judge(const struct beat_look *before, struct beat_look *now)
{
    struct beat_judgement judgement = { .agrees = true };
    size_t living = 1, agreeing = 1;
    bool is_behind = false;

    for (size_t i = 0; i < now->count; i++) {
        struct beat_peer *peer = &now->peers[i];
        const struct beat_peer *old = find(before, peer->incarnation);
        uint64_t ahead = above(peer->at, now->ended), behind = above(before->begun, peer->at);

        if (!old || old->at == peer->at)
            continue;
        peer->looks_behind = behind > BEAT_SKEW_MAX ? old->looks_behind + 1 : 0;
        if (peer->looks_behind < BEAT_LOOKS_BEHIND)
            behind = 0;
        living++;
        agreeing += ahead <= BEAT_SKEW_MAX && behind == 0;
        is_behind = is_behind || ahead > BEAT_SKEW_MAX;
        if (ahead + behind > judgement.ahead && ahead + behind > judgement.behind)
            judgement.farthest = peer->incarnation;
        judgement.ahead = ahead > judgement.ahead ? ahead : judgement.ahead;
        judgement.behind = behind > judgement.behind ? behind : judgement.behind;
    }
    if (2 * agreeing < living || (2 * agreeing == living && is_behind))
        judgement.agrees = false;
    return judgement;
}

/* ---- who is dead ---- */

void beat_count_quiet(const struct beat_look *before, struct beat_look *now)
{
    uint64_t passed = now->ended_ms - before->ended_ms;

    for (size_t i = 0; i < now->all_count; i++) {
        struct beat_quiet *quiet = &now->all[i];

        quiet->quiet_ms = 0;
        for (size_t k = 0; passed <= BEAT_LATE_MS && k < before->all_count; k++)
            if (before->all[k].incarnation == quiet->incarnation &&
                before->all[k].row.at == quiet->row.at)
                quiet->quiet_ms = before->all[k].quiet_ms + (unsigned)passed;
    }
}

/* Under the lock. */
static void note_dead(struct beat *beat, const struct beat_look *look)
{
    beat->dead_count = 0;
    beat->is_first = true;
    for (size_t i = 0; i < look->all_count; i++) {
        const struct beat_quiet *quiet = &look->all[i];

        if (quiet->quiet_ms >= beat->options.dead_ms)
            beat->dead[beat->dead_count++] = (struct beat_dead){ quiet->incarnation, quiet->row };
        else if (quiet->incarnation < beat->options.incarnation)
            beat->is_first = false;
    }
}

static void say(const struct beat_judgement *judgement, bool did_agree)
{
    uint64_t most = judgement->ahead > judgement->behind ? judgement->ahead : judgement->behind;

    if (judgement->agrees && !did_agree)
        log_line(LOG_WARN,
                 "rados: this machine's clock agrees with those of other front ends again");
    if (most <= BEAT_SKEW_WARNED)
        return;
    log_line(judgement->agrees ? LOG_WARN : LOG_ERROR,
             "rados: the clock of front end %08x is %s of this machine's by %llu ms%s",
             judgement->farthest, judgement->ahead >= judgement->behind ? "ahead" : "behind",
             (unsigned long long)(most / (TICKS_PER_SECOND / 1000)),
             judgement->agrees ? "" : ": it is not the time of most, so nothing is committed here");
}

/* ---- beating ---- */

static void log_failure(const char *what, enum port_result result)
{
    log_line(LOG_ERROR, "rados: %s: %s", what, port_result_text(result));
}

static void set_own(struct beat *beat, struct port_op *op)
{
    const struct beat_row row = { clock_now(), beat->options.oldest(beat->options.rados) };

    port_set(op, beat_key(op->arena, beat->options.incarnation), beat_write(op->arena, &row));
}

/* Finds out whether it was retired while it did not beat. */
static void write_own(struct beat *beat)
{
    struct port_op *op = arrival_op();
    enum port_result result;
    bool is_new;

    port_compare(op, living_key(op->arena, beat->options.incarnation), living_value());
    set_own(beat, op);
    result = run_block(beat->options.port, BEAT_OBJECT, op);
    if (result && result != PORT_REFUSED)
        log_failure("a heartbeat", result);
    if (result != PORT_REFUSED)
        return;
    lock_take(&beat->lock);
    is_new = !beat->is_fenced;
    beat->is_fenced = true;
    lock_give(&beat->lock);
    if (!is_new)
        return;
    log_line(LOG_ERROR, "rados: others have taken this front end for dead: it commits nothing "
                        "any more, and is to be started again");
    if (beat->options.fenced)
        beat->options.fenced();
}

/* Comes up, by the format that is in force. False: it could not. */
static bool write_first(struct beat *beat, const char **ret_problem)
{
    enum port_result result = PORT_REFUSED;

    for (unsigned tries = 0; tries < FIRST_TRIES_MAX && result == PORT_REFUSED; tries++) {
        struct format_row format;
        struct port_op *op;

        if (format_look(beat->options.port, beat->options.known, &format, ret_problem))
            return false;
        op = arrival_op();
        format_join(op, beat->options.incarnation, beat->options.known, &format);
        port_set(op, living_key(op->arena, beat->options.incarnation), living_value());
        set_own(beat, op);
        beat->format = format.format;
        result = run_block(beat->options.port, BEAT_OBJECT, op);
    }
    if (result)
        log_failure("a heartbeat", result);
    return result == PORT_OK;
}

/* Unless others have taken it for dead: what they do about it is theirs. */
static void remove_own(struct beat *beat)
{
    struct port_op *op = arrival_op();
    uint32_t incarnation = beat->options.incarnation;
    enum port_result result;

    port_compare(op, living_key(op->arena, incarnation), living_value());
    port_remove(op, living_key(op->arena, incarnation));
    port_remove(op, beat_key(op->arena, incarnation));
    port_remove(op, known_key(op->arena, incarnation));
    port_remove_range(op, intent_prefix(op->arena, incarnation),
                      intent_end(op->arena, incarnation));
    result = run_block(beat->options.port, BEAT_OBJECT, op);
    if (result && result != PORT_REFUSED)
        log_failure("a heartbeat stays", result);
}

static void take_row(struct beat *beat, struct beat_look *look, const struct port_row *row)
{
    struct beat_row read;
    uint32_t incarnation;

    if (!beat_read(row, &incarnation, &read)) {
        log_line(LOG_ERROR, "rados: a heartbeat is damaged");
        look->oldest = 0;
        return;
    }
    if (incarnation == beat->options.incarnation)
        return;
    if (look->all_count < BEAT_PEERS_MAX)
        look->all[look->all_count++] = (struct beat_quiet){ incarnation, read, 0 };
    if (above(look->begun, read.at) > BEAT_DEAD_TICKS)
        return;
    if (read.oldest < look->oldest)
        look->oldest = read.oldest;
    if (look->count < BEAT_PEERS_MAX)
        look->peers[look->count++] =
            (struct beat_peer){ .incarnation = incarnation, .at = read.at };
}

static void take_format(struct beat *beat, const struct port_step *step)
{
    struct format_row row;
    bool is_new;

    if (!format_read(step, &row) || row.format > beat->options.known) {
        log_line(LOG_ERROR, "rados: the store's format is damaged, or not known here");
        return;
    }
    lock_take(&beat->lock);
    is_new = row.format > beat->format;
    if (is_new)
        beat->format = row.format;
    lock_give(&beat->lock);
    if (is_new)
        log_line(LOG_INFO, "rados: the store's format is %u from now on", row.format);
}

/* False: it cannot be read. */
static bool look(struct beat *beat, struct beat_look *ret_look)
{
    const struct bytes none = { NULL, 0 };
    struct port_op *op = arrival_op();
    struct port_step *format = port_get(op, format_key());
    struct port_step *list = port_list(op, none, bytes_from_string("b"), PORT_ROWS_MAX);
    struct arrival *arrival;
    bool is_read;

    ret_look->begun = clock_now();
    ret_look->count = ret_look->all_count = 0;
    ret_look->oldest = INSTANT_MAX;
    arrival = send_block(beat->options.port, BEAT_OBJECT, op);
    ret_look->ended = clock_now();
    ret_look->ended_ms = clock_monotonic_ms();
    is_read = op->result == PORT_OK;
    if (!is_read)
        log_failure("the heartbeats", op->result);
    if (is_read && list->is_cut)
        ret_look->oldest = 0; /* there are more than can be known */
    for (uint32_t i = 0; is_read && i < list->row_count; i++)
        take_row(beat, ret_look, &list->rows[i]);
    if (is_read)
        take_format(beat, format);
    arrival_drop(arrival);
    return is_read;
}

static void judge(struct beat *beat)
{
    const struct beat_look *before = &beat->looks[beat->newest];
    struct beat_look *now = &beat->looks[1 - beat->newest];
    struct beat_judgement judgement;
    bool did_agree;

    if (!look(beat, now)) {
        lock_take(&beat->lock);
        beat->others = 0;
        lock_give(&beat->lock);
        return;
    }
    judgement = beat_judge(before, now);
    beat_count_quiet(before, now);
    beat->newest = 1 - beat->newest;
    lock_take(&beat->lock);
    did_agree = beat->clock_agrees;
    beat->clock_agrees = judgement.agrees;
    beat->others = now->oldest;
    note_dead(beat, now);
    lock_give(&beat->lock);
    if (judgement.agrees != did_agree || judgement.ahead + judgement.behind > BEAT_SKEW_WARNED)
        say(&judgement, did_agree);
}

static void *run(void *argument)
{
    struct beat *beat = argument;

    lock_take(&beat->lock);
    while (!beat->is_stopping) {
        beat->is_sent = true;
        beat->sent_ms = clock_monotonic_ms();
        lock_give(&beat->lock);
        write_own(beat);
        judge(beat);
        lock_take(&beat->lock);
        beat->is_sent = false;
        if (!beat->is_stopping)
            lock_wait(&beat->lock, &beat->stop, BEAT_STEP_MS);
    }
    lock_give(&beat->lock);
    return NULL;
}

static void release(struct beat *beat)
{
    pthread_cond_destroy(&beat->stop);
    lock_release(&beat->lock);
    free(beat);
}

struct beat *beat_start(const struct beat_options *options, const char **ret_problem)
{
    struct beat *beat = xcalloc(1, sizeof *beat);

    beat->options = *options;
    beat->clock_agrees = true;
    lock_init(&beat->lock, RANK_PARTITION);
    lock_condition_init(&beat->stop);
    *ret_problem = "the pool cannot be written, or a thread cannot be started";
    if (write_first(beat, ret_problem))
        judge(beat);
    else
        beat->is_stopping = true;
    if (!beat->is_stopping && thread_start(&beat->thread, run, beat))
        return beat;
    release(beat);
    return NULL;
}

void beat_stop(struct beat *beat, bool is_last)
{
    if (!beat)
        return;
    lock_take(&beat->lock);
    beat->is_stopping = true;
    pthread_cond_signal(&beat->stop);
    lock_give(&beat->lock);
    thread_join(&beat->thread);
    if (is_last)
        remove_own(beat);
    release(beat);
}

bool beat_is_answered(struct beat *beat)
{
    bool is_answered;

    lock_take(&beat->lock);
    is_answered = !beat->is_sent || clock_monotonic_ms() - beat->sent_ms < BEAT_PATIENCE_MS;
    lock_give(&beat->lock);
    return is_answered;
}

bool beat_clock_agrees(struct beat *beat)
{
    bool agrees;

    lock_take(&beat->lock);
    agrees = beat->clock_agrees;
    lock_give(&beat->lock);
    return agrees;
}

uint32_t beat_format(struct beat *beat)
{
    uint32_t format;

    lock_take(&beat->lock);
    format = beat->format;
    lock_give(&beat->lock);
    return format;
}

instant beat_oldest_of_others(struct beat *beat)
{
    instant oldest;

    lock_take(&beat->lock);
    oldest = beat->others;
    lock_give(&beat->lock);
    return oldest;
}

bool beat_is_fenced(struct beat *beat)
{
    bool is_fenced;

    lock_take(&beat->lock);
    is_fenced = beat->is_fenced;
    lock_give(&beat->lock);
    return is_fenced;
}

size_t beat_dead(struct beat *beat, struct beat_dead *ret_dead, size_t max)
{
    size_t count;

    lock_take(&beat->lock);
    count = beat->dead_count < max ? beat->dead_count : max;
    memcpy(ret_dead, beat->dead, count * sizeof ret_dead[0]);
    lock_give(&beat->lock);
    return count;
}

bool beat_is_first(struct beat *beat)
{
    bool is_first;

    lock_take(&beat->lock);
    is_first = beat->is_first;
    lock_give(&beat->lock);
    return is_first;
}
