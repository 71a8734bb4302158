/* See recorded.h. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analytics/analytics_private.h"
#include "observe/observed_request.h"
#include "recorded.h"
#include "recorded_sink.h"
#include "scheduler.h"
#include "services.h"

#define SECOND_NS  UINT64_C(1000000000)
/* Time that a thread may be held up by others and by the disk. */
#define HELD_UP_NS (300 * SECOND_NS)
/* The log thread hands events over this much later, at most. */
#define LATE_MS    20u
#define LINES_MAX  (4 * LINES_BYTES_MAX)

#define UNSURE     UINT_MAX

/* What the settings of the service say, in place of those in the store. */
struct settings {
    struct analytics_logging logging;
    struct analytics_metrics hour, minute;
};

/* An event between its request and analytics_take(). */
struct queued {
    struct queued *next;
    size_t index; /* in the world */
    size_t size;
    unsigned epoch;
    _Alignas(16) char bytes[];
};

static struct analytics *analytics; /* NULL while it does not run */
static const struct account *recorded_account;
static event_take *taker;
static service_properties_changed *changed;
static struct queued *oldest, *newest;
static struct settings chosen, in_force;
static _Thread_local bool is_reading; /* in collect_settings() */
static unsigned epoch;                /* odd while settings are applied */
static bool ends;
static unsigned every_s;
static size_t answered; /* requests */
static pthread_t handing, changing;
static struct arena *scratch;
static _Thread_local struct queued *filling;
static _Thread_local unsigned described_epoch; /* UNSURE for the parts of a batch */

bool recorded_is_used(void)
{
    return world->plan.service < SIM_FILE && world->plan.fronts == 0 &&
           world_mix(world->plan.seed ^ 0xA11A) % 8 == 0;
}

/* ---- settings ---- */

static struct analytics_logging draw_logging(void)
{
    return (struct analytics_logging){
        .kinds = world_draw(STREAM_SYSTEM, 3) == 0 ? world_draw(STREAM_SYSTEM, 8) : 7,
        .version = 1 + world_draw(STREAM_SYSTEM, 2),
    };
}

/* Metrics are on or off for a life: counts that were collected before are not written once they
 * are off. */
static struct settings draw_settings(void)
{
    unsigned metrics = world_draw(STREAM_SYSTEM, 4);

    return (struct settings){
        .logging = draw_logging(),
        .hour = { .enabled = metrics != 1, .includes_apis = world_draw(STREAM_SYSTEM, 2) == 0 },
        .minute = { .enabled = metrics != 2, .includes_apis = world_draw(STREAM_SYSTEM, 2) == 0 },
    };
}

static void *change_settings(void *unused)
{
    (void)unused;
    sched_name("settings of analytics");
    while (!ends) {
        sched_sleep(world_draw(STREAM_SYSTEM, 5000) * (SECOND_NS / 1000));
        chosen.logging = draw_logging();
        if (changed)
            changed(account_name(recorded_account));
    }
    return NULL;
}

__typeof__(service_properties_watch) __real_service_properties_watch,
    __wrap_service_properties_watch;
void __wrap_service_properties_watch(service_properties_changed *callback)
{
    changed = callback;
    __real_service_properties_watch(callback);
}

__typeof__(collect_settings) __real_collect_settings, __wrap_collect_settings;
void __wrap_collect_settings(struct analytics *a)
{
    epoch++;
    is_reading = true;
    __real_collect_settings(a);
    is_reading = false;
    epoch++;
}

__typeof__(service_properties_read) __real_service_properties_read, __wrap_service_properties_read;
enum store_result __wrap_service_properties_read(struct read_view *snapshot, struct arena *arena,
                                                 struct service_properties *ret_properties)
{
    enum store_result result = __real_service_properties_read(snapshot, arena, ret_properties);

    if (is_reading && !result) {
        in_force = chosen;
        ret_properties->logging = in_force.logging;
        ret_properties->hour_metrics = in_force.hour;
        ret_properties->minute_metrics = in_force.minute;
    }
    return result;
}

/* ---- events ---- */

__typeof__(analytics_log) __real_analytics_log, __wrap_analytics_log;
void __wrap_analytics_log(const struct observed_request *request, uint64_t now_ns)
{
    described_epoch = epoch;
    __real_analytics_log(request, now_ns);
}

__typeof__(event_log_hand) __wrap_event_log_hand;
void __wrap_event_log_hand(enum event_log log, event_take *take)
{
    (void)log;
    taker = take;
}

__typeof__(event_logs_on) __wrap_event_logs_on;
unsigned __wrap_event_logs_on(void)
{
    return analytics ? 1u << EVENTS_ANALYTICS : 0;
}

__typeof__(event_begin) __wrap_event_begin;
void *__wrap_event_begin(unsigned logs, size_t size)
{
    (void)logs;
    filling = malloc(sizeof *filling + size);
    *filling = (struct queued){ .size = size };
    return filling->bytes;
}

/* "Anonymous requests are logged only in these cases": decision 512 */
static bool is_of_interest(const struct analytics_event *event)
{
    return event->who != WHO_ANONYMOUS || event->outcome == OUTCOME_SUCCESS ||
           event->status >= 500 || event->status == 304;
}

/* Compares with the settings, unless they were changed while the event was described. The parts of
 * a batch were described before. */
static void check_event(const struct analytics_event *event)
{
    bool is_logged = in_force.logging.kinds & event->kind && is_of_interest(event);
    bool is_counted = in_force.hour.enabled || in_force.minute.enabled;

    if (epoch % 2 == 0 && epoch == described_epoch &&
        (event->is_logged != is_logged || event->is_counted != is_counted))
        world_fail("a request is%s logged and%s counted", event->is_logged ? "" : " not",
                   event->is_counted ? "" : " not");
}

__typeof__(event_finish) __wrap_event_finish;
void __wrap_event_finish(void)
{
    const struct analytics_event *event = (const void *)filling->bytes;
    struct arena_mark empty = arena_mark(scratch);
    struct text lines;

    check_event(event);
    text_init(&lines, scratch, 4096);
    if (event->is_logged)
        line_write(event, in_force.logging.version, &lines);
    filling->epoch = described_epoch == epoch ? epoch : UNSURE;
    described_epoch = UNSURE;
    filling->index = sink_record(event, text_bytes(&lines));
    arena_rewind(scratch, empty);
    if (newest)
        newest->next = filling;
    else
        oldest = filling;
    newest = filling;
    filling = NULL;
    sched_wake(WAIT_EVENT, &oldest, 1);
}

/* The settings that are in force when the event is taken decide. */
static void hand(struct queued *event)
{
    bool is_taken = taker(bytes_of(event->bytes, event->size));

    if (!is_taken)
        world_fail("an event for Storage Analytics is not taken");
    sink_taken(event->index, event->epoch == epoch && epoch % 2 == 0);
}

static void *hand_over(void *unused)
{
    (void)unused;
    sched_name("event log");
    while (oldest || !ends) {
        struct queued *event = oldest;

        if (!event) {
            sched_wait(WAIT_EVENT, &oldest, 0);
            continue;
        }
        oldest = event->next;
        if (!oldest)
            newest = NULL;
        hand(event);
        free(event);
        if (world_draw(STREAM_SYSTEM, 4) == 0)
            sched_sleep(world_draw(STREAM_SYSTEM, LATE_MS) * (SECOND_NS / 1000));
    }
    return NULL;
}

/* ---- start and end ---- */

void recorded_answered(void)
{
    answered++;
}

void recorded_start(const struct endpoint_set *endpoints, struct store *store,
                    const struct accounts *accounts, const struct account *account)
{
    if (!recorded_is_used())
        return;
    chosen = draw_settings();
    every_s = 1 + world_draw(STREAM_SYSTEM, 10);
    recorded_account = account;
    scratch = arena_new_background(LINES_MAX);
    sink_begin_life(every_s * SECOND_NS + HELD_UP_NS);
    analytics_open();
    analytics = analytics_start(endpoints, store, accounts, every_s);
    if (!analytics)
        world_fail("Storage Analytics does not start");
    pthread_create(&handing, NULL, hand_over, NULL);
    pthread_create(&changing, NULL, change_settings, NULL);
}

void recorded_end(void)
{
    if (!analytics)
        return;
    sched_sleep(SECOND_NS); /* a response may be received before its request is recorded */
    ends = true;
    sched_wake(WAIT_EVENT, &oldest, 1);
    pthread_join(changing, NULL);
    pthread_join(handing, NULL);
    sink_calm();
    analytics_stop(analytics);
    analytics = NULL;
    sink_check_all(answered, in_force.hour.enabled, in_force.minute.enabled);
    arena_free(scratch);
}
