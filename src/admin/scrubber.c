/* The thread of the scrub: see scrubber.h. */
#include "admin/scrubber.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "admin/admin_private.h"
#include "admin/scrub_file.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"

#define NOTE_EVERY_MS    10000u
#define POLL_INTERVAL_MS 60000u /* limits the effect of a step of the wall clock */
#define LOGGED_MAX       1000u  /* maximum number of errors logged per pass */
#define NAME_BYTES       1300u  /* names of an account, a container, a blob */
#define MS_PER_SECOND    1000u

struct scrubber {
    struct scrub_options options;
    int folder;
    struct thread thread;
    struct lock lock;
    pthread_cond_t wake;
    bool stopping; /* under lock, like the next three */
    bool is_requested;
    uint64_t pending_rate; /* rate requested but not applied yet; 0 if none */
    /* written only by the scrub thread, which may read it without the lock; other threads need the
     * lock */
    struct scrub_state state;
    /* used only by the scrub thread, like all following members; NULL between passes */
    struct scrub *scrub;
    uint64_t rate; /* rate of the current pass */
    /* time and number of bytes at the start of measuring the rate */
    uint64_t paced_ms, paced_bytes;
    uint64_t noted_ms;
};

static const struct metric_family read_family = { "lagra_scrub_bytes_total",
                                                  "Bytes read by scrubs.", METRIC_COUNTER };
static const struct metric_family error_family = { "lagra_scrub_errors_total",
                                                   "Damaged records found by scrubs.",
                                                   METRIC_COUNTER };
static const struct metric_family running_family = { "lagra_scrub_running",
                                                     "1 while a scrub is running.", METRIC_GAUGE };
static const struct metric_family end_family = {
    "lagra_scrub_last_end_timestamp_seconds",
    "Unix time at which the last scrub ended, or 0 if none has.", METRIC_GAUGE
};
static const struct metric_family last_errors_family = {
    "lagra_scrub_last_errors", "Damaged records found by the last completed scrub.", METRIC_GAUGE
};
static struct {
    metric_slot bytes, errors, running, end, last_errors;
} slots;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_series(void)
{
    slots.bytes = metric_series(&read_family, "");
    slots.errors = metric_series(&error_family, "");
    slots.running = metric_series(&running_family, "");
    slots.end = metric_series(&end_family, "");
    slots.last_errors = metric_series(&last_errors_family, "");
}

static int64_t unix_seconds(instant t)
{
    return t > INSTANT_UNIX_EPOCH ? (int64_t)((t - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND) : 0;
}

/* ---- running a pass ---- */

static void note(struct scrubber *scrubber)
{
    struct bytes nowhere = { NULL, 0 };

    scrubber->noted_ms = clock_monotonic_ms();
    scrub_note_write(scrubber->folder, &scrubber->state,
                     scrubber->scrub ? scrub_place(scrubber->scrub) : nowhere);
}

static void report(void *context, const struct record_place *place, const char *what)
{
    struct scrubber *scrubber = context;
    char name[NAME_BYTES];
    uint64_t errors;

    lock_acquire(&scrubber->lock);
    errors = ++scrubber->state.errors;
    lock_release(&scrubber->lock);
    metric_add(slots.errors, 1);
    if (errors > LOGGED_MAX)
        return;
    scrubber->options.describe(scrubber->options.context, place, name, sizeof name);
    log_line(LOG_ERROR, "scrub: %s: %s", name, what);
    if (errors == LOGGED_MAX)
        log_line(LOG_ERROR, "scrub: too many errors in this pass; further ones are not logged");
}

/* Applies the requested rate, if any. Caller holds the lock. */
static void take_rate(struct scrubber *scrubber)
{
    if (scrubber->pending_rate == 0)
        return;
    scrubber->rate = scrubber->pending_rate;
    scrubber->pending_rate = 0;
    scrubber->paced_ms = clock_monotonic_ms();
    scrubber->paced_bytes = 0;
}

/* Counts bytes read, and waits to stay within the rate. */
static bool pace(void *context, uint64_t bytes)
{
    struct scrubber *scrubber = context;
    uint64_t due_ms;
    bool goes_on;

    metric_add(slots.bytes, (int64_t)bytes);
    lock_acquire(&scrubber->lock);
    take_rate(scrubber);
    scrubber->paced_bytes += bytes;
    due_ms = scrubber->paced_ms + scrubber->paced_bytes * MS_PER_SECOND / scrubber->rate;
    scrubber->state.bytes += bytes;
    for (uint64_t now; !scrubber->stopping && (now = clock_monotonic_ms()) < due_ms;)
        lock_wait(&scrubber->lock, &scrubber->wake,
                  due_ms - now < POLL_INTERVAL_MS ? (int)(due_ms - now) : (int)POLL_INTERVAL_MS);
    goes_on = !scrubber->stopping;
    lock_release(&scrubber->lock);
    return goes_on;
}

static void end_pass(struct scrubber *scrubber)
{
    struct scrub_state *state = &scrubber->state;
    int64_t before = unix_seconds(state->last_end);
    int64_t errors_before = (int64_t)state->last_errors;

    scrub_close(scrubber->scrub);
    scrubber->scrub = NULL;
    lock_acquire(&scrubber->lock);
    state->is_running = false;
    scrubber->pending_rate = 0; /* the requested rate applied only to the pass that has ended */
    state->last_end = clock_now();
    state->last_errors = state->errors;
    state->ended++;
    lock_release(&scrubber->lock);
    metric_add(slots.end, unix_seconds(state->last_end) - before);
    metric_add(slots.last_errors, (int64_t)state->last_errors - errors_before);
    metric_add(slots.running, -1);
    note(scrubber);
    log_line(state->errors > 0 ? LOG_ERROR : LOG_INFO,
             "scrub: %" PRIu64 " records and %" PRIu64 " bytes read, damaged: %" PRIu64,
             state->records, state->bytes, state->errors);
}

/* Caller must not hold the lock. */
static void step(struct scrubber *scrubber)
{
    const struct scrub_listener listener = { report, pace, scrubber };
    uint64_t before = scrub_records(scrubber->scrub);
    enum store_result result = scrub_step(scrubber->scrub, &listener);

    lock_acquire(&scrubber->lock);
    scrubber->state.records += scrub_records(scrubber->scrub) - before;
    lock_release(&scrubber->lock);
    if (result)
        end_pass(scrubber);
    else if (clock_monotonic_ms() - scrubber->noted_ms > NOTE_EVERY_MS)
        note(scrubber);
}

/* ---- starting a pass ---- */

/* Starts or resumes a pass. A resumed pass already has its counts. */
static void begin_pass(struct scrubber *scrubber, struct bytes place)
{
    scrubber->scrub = scrub_open(scrubber->options.store, place);
    scrubber->rate = scrubber->options.rate;
    scrubber->paced_ms = clock_monotonic_ms();
    scrubber->paced_bytes = 0;
    metric_add(slots.running, 1);
}

/* Returns the start of the next periodic pass, or INSTANT_MAX if none exists. */
static instant due(const struct scrubber *scrubber)
{
    if (scrubber->options.every_ms == 0)
        return INSTANT_MAX;
    return scrubber->state.last_end +
           scrubber->options.every_ms * (TICKS_PER_SECOND / MS_PER_SECOND);
}

/* Waits until a pass must start, or the thread must stop. Caller holds the lock. */
static void wait_for_pass(struct scrubber *scrubber)
{
    while (!scrubber->stopping && !scrubber->is_requested) {
        instant now = clock_now(), at = due(scrubber);
        uint64_t left_ms = at > now ? (at - now) / (TICKS_PER_SECOND / MS_PER_SECOND) + 1 : 0;

        if (left_ms == 0)
            break;
        lock_wait(&scrubber->lock, &scrubber->wake,
                  at == INSTANT_MAX
                      ? -1
                      : (int)(left_ms < POLL_INTERVAL_MS ? left_ms : POLL_INTERVAL_MS));
    }
    if (scrubber->stopping)
        return;
    scrubber->state = (struct scrub_state){ .is_running = true,
                                            .began = clock_now(),
                                            .last_end = scrubber->state.last_end,
                                            .last_errors = scrubber->state.last_errors,
                                            .ended = scrubber->state.ended };
    scrubber->is_requested = false;
}

/* Resumes the pass recorded by the previous process, if any. */
static void resume_pass(struct scrubber *scrubber)
{
    struct scrub_note before;

    scrub_note_read(scrubber->folder, &before);
    lock_acquire(&scrubber->lock);
    scrubber->state = before.state;
    lock_release(&scrubber->lock);
    metric_add(slots.end, unix_seconds(before.state.last_end));
    metric_add(slots.last_errors, (int64_t)before.state.last_errors);
    if (before.state.is_running)
        begin_pass(scrubber, bytes_of(before.place, before.place_size));
    free(before.place);
}

static void *scrub_over_and_over(void *argument)
{
    struct scrubber *scrubber = argument;

    thread_give_way();
    resume_pass(scrubber);
    lock_acquire(&scrubber->lock);
    while (!scrubber->stopping) {
        if (!scrubber->scrub)
            wait_for_pass(scrubber);
        if (scrubber->stopping)
            break;
        lock_release(&scrubber->lock);
        if (!scrubber->scrub)
            begin_pass(scrubber, bytes_of(NULL, 0));
        step(scrubber);
        lock_acquire(&scrubber->lock);
    }
    lock_release(&scrubber->lock);
    if (scrubber->scrub) {
        note(scrubber);
        scrub_close(scrubber->scrub);
        metric_add(slots.running, -1);
    }
    return NULL;
}

/* ---- interface ---- */

struct scrubber *scrubber_start(const struct scrub_options *options)
{
    struct scrubber *scrubber = xcalloc(1, sizeof *scrubber);

    pthread_once(&once, make_series);
    scrubber->options = *options;
    scrubber->folder = open(options->location, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lock_init(&scrubber->lock, RANK_SCRUBBER);
    lock_condition_init(&scrubber->wake);
    if (scrubber->folder >= 0 && thread_start(&scrubber->thread, scrub_over_and_over, scrubber))
        return scrubber;
    log_errno("scrub: start a thread");
    scrubber_stop(scrubber);
    return NULL;
}

void scrubber_stop(struct scrubber *scrubber)
{
    if (!scrubber)
        return;
    lock_acquire(&scrubber->lock);
    scrubber->stopping = true;
    pthread_cond_signal(&scrubber->wake);
    lock_release(&scrubber->lock);
    thread_join(&scrubber->thread);
    metric_add(slots.end, -unix_seconds(scrubber->state.last_end));
    metric_add(slots.last_errors, -(int64_t)scrubber->state.last_errors);
    pthread_cond_destroy(&scrubber->wake);
    lock_destroy(&scrubber->lock);
    if (scrubber->folder >= 0)
        close(scrubber->folder);
    free(scrubber);
}

/* Starts a pass, unless one is running. rate: rate of the new pass, or of the rest of the running
 * one; 0 means the current rate, which is initially that of the options */
static void start_pass(struct scrubber *scrubber, uint64_t rate)
{
    lock_acquire(&scrubber->lock);
    if (!scrubber->state.is_running)
        scrubber->is_requested = true;
    if (rate > 0)
        scrubber->pending_rate = rate;
    pthread_cond_signal(&scrubber->wake);
    lock_release(&scrubber->lock);
}

static struct scrub_state read_state(struct scrubber *scrubber)
{
    struct scrub_state state;

    lock_acquire(&scrubber->lock);
    state = scrubber->state;
    state.is_running = state.is_running || scrubber->is_requested;
    lock_release(&scrubber->lock);
    return state;
}

#define RATE_MAX_MIB (1u << 20)

/* Returns the total size of a pass: the bytes read if it has ended; otherwise the store's current
 * size, an estimate, because changed data may be read twice or not at all. */
static uint64_t total_of(const struct admin_call *call, const struct scrub_state *state)
{
    struct store_figures figures = { 0 };
    uint64_t all;

    if (!state->is_running)
        return state->bytes;
    (void)store_figures(call->admin->store, &figures);
    all = figures.piece_bytes + figures.live_record_bytes;
    return all > state->bytes ? all : state->bytes;
}

void admin_scrub_state(struct admin_call *call)
{
    struct json_writer *out = &call->out;
    struct scrub_state state = read_state(call->admin->scrubber);

    json_write_bool(out, "running", state.is_running);
    admin_write_instant(out, "began", state.began);
    json_write_number(out, "records", state.records);
    json_write_number(out, "bytes", state.bytes);
    json_write_number(out, "bytesTotal", total_of(call, &state));
    json_write_number(out, "errors", state.errors);
    admin_write_instant(out, "lastEnd", state.last_end);
    json_write_number(out, "lastErrors", state.last_errors);
    json_write_number(out, "ended", state.ended);
}

void admin_scrub(struct admin_call *call)
{
    uint64_t mib = 0;

    if (call->given[0].ptr && (!bytes_parse_u64(call->given[0], RATE_MAX_MIB, &mib) || mib == 0)) {
        admin_fail(call, 400, "InvalidArgument",
                   "The rate must be a number of MiB per second from 1 to %u.", RATE_MAX_MIB);
        return;
    }
    admin_scrub_state(call);
    start_pass(call->admin->scrubber, mib << 20);
}
