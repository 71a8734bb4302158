/* The capacity of an account's Blob service, as two entities a day in $MetricsCapacityBlob: one for
 * client data, one for $logs. Counting reads the records of all blobs, which may take long, so it
 * has its own thread, which yields to others. rest: Storage-Analytics-Metrics-Table-Schema;
 * decision: 575 */
#include <assert.h>

#include "analytics/analytics_private.h"
#include "base/event_log.h"
#include "service/usage.h"

#define TABLE       "$MetricsCapacity"

/* Pauses nine times as long as it has worked, but at most a second. */
#define RESTS_SHARE 9u
#define REST_MAX_US 1000000u

static const char logs_container[] = "$logs";

struct kept {
    uint64_t containers;
    struct usage usage;
};

struct count {
    struct analytics *analytics;
    uint64_t since_ns; /* start of the current work period */
    struct kept data, logs;
};

/* ---- counting ---- */

static bool pace(void *context, uint64_t records)
{
    struct count *count = context;
    struct analytics *a = count->analytics;
    uint64_t rest_us = (clock_monotonic_ns() - count->since_ns) * RESTS_SHARE / 1000;
    bool goes_on;

    (void)records;
    lock_acquire(&a->lock);
    if (!a->stopping)
        lock_wait_us(&a->lock, &a->stops, rest_us < REST_MAX_US ? (unsigned)rest_us : REST_MAX_US);
    goes_on = !a->stopping;
    lock_release(&a->lock);
    count->since_ns = clock_monotonic_ns();
    return goes_on;
}

static bool found(void *context, struct bytes name, const struct usage *usage)
{
    struct count *count = context;
    struct kept *kept = bytes_is(name, logs_container) ? &count->logs : &count->data;

    kept->usage.bytes += usage->bytes;
    if (usage->is_kept)
        return true;
    kept->containers++;
    kept->usage.objects += usage->objects;
    kept->usage.uncommitted += usage->uncommitted;
    return true;
}

/* ---- entities ---- */

static void add_long(struct text *to, const char *name, uint64_t value)
{
    text_printf(to, "%s\"%s@odata.type\":\"Edm.Int64\",\"%s\":\"", to->len > 1 ? "," : "{", name,
                name);
    text_add_u64(to, value);
    text_add_char(to, '"');
}

static enum error put(struct analytics *a, const struct metrics_place *place, const char *row,
                      const struct kept *kept)
{
    struct arena *arena = arena_new_background(STEP_ARENA_MAX);
    struct text json;
    enum error e;

    text_init(&json, arena, 256);
    add_long(&json, "Capacity", kept->usage.bytes);
    add_long(&json, "ContainerCount", kept->containers);
    add_long(&json, "ObjectCount", kept->usage.objects + kept->usage.uncommitted);
    text_add_char(&json, '}');
    e = metrics_put(a, arena, place, bytes_from_string(row), text_bytes(&json));
    arena_free(arena);
    return e;
}

static enum error count_and_put(struct analytics *a, const struct monitored *w, instant day)
{
    struct count count = { .analytics = a, .since_ns = clock_monotonic_ns() };
    const struct metrics_place place = { TABLE, day, w };
    const struct usage_walk walk = { .store = a->store,
                                     .service = a->endpoints->endpoints[w->service].service,
                                     .account = account_name(w->account),
                                     .pace = pace,
                                     .found = found,
                                     .context = &count };
    enum error e;

    if (usage_look(&walk) != STORE_OK)
        return E_InternalError;
    if (collect_is_stopping(a)) /* incomplete; the next start counts again */
        return OK;
    e = put(a, &place, "data", &count.data);
    return e ? e : put(a, &place, "analytics", &count.logs);
}

/* ---- once a day ---- */

static void *run(void *argument)
{
    struct analytics *a = argument;
    struct monitored *w = a->counted;
    enum error e;

    pthread_setname_np(pthread_self(), "capacity");
    thread_give_way();
    e = count_and_put(a, w, w->capacity_day);
    if (e)
        event_log_lost(EVENTS_ANALYTICS, 2, error_code(e));
    lock_acquire(&a->lock);
    a->has_counted = true;
    lock_release(&a->lock);
    return NULL;
}

/* Returns true if an earlier process has stored this day's count; checks the entity written
 * last. */
static bool is_stored(struct analytics *a, const struct monitored *w, instant day)
{
    const struct metrics_place place = { TABLE, day, w };
    struct arena *arena = arena_new_background(STEP_ARENA_MAX);
    enum error e = metrics_find(a, arena, &place, bytes_from_string("analytics"));

    arena_free(arena);
    return e == OK;
}

static bool is_counting(struct analytics *a)
{
    bool has_counted;

    if (!a->counted)
        return false;
    lock_acquire(&a->lock);
    has_counted = a->has_counted;
    lock_release(&a->lock);
    if (has_counted)
        capacity_join(a);
    return !has_counted;
}

/* A failed day is not retried. */
void capacity_begin(struct analytics *a, struct monitored *w, instant now)
{
    instant day = now - now % TICKS_PER_DAY;

    if (!w->hour.enabled || w->capacity_day == day || strcmp(w->service_name, "blob") != 0 ||
        is_counting(a))
        return;
    w->capacity_day = day;
    if (is_stored(a, w, day))
        return;
    a->has_counted = false;
    a->counted = w;
    if (thread_start(&a->counter, run, a))
        return;
    a->counted = NULL;
    event_log_lost(EVENTS_ANALYTICS, 2, "no thread");
}

void capacity_join(struct analytics *a)
{
    if (!a->counted)
        return;
    thread_join(&a->counter);
    a->counted = NULL;
}
