/* The thread of Storage Analytics: see analytics.h. */
#include "analytics/analytics.h"

#include <pthread.h>
#include <stdlib.h>

#include "analytics/analytics_private.h"
#include "base/event_log.h"

/* ---- writing ---- */

/* Writes the parts; failed ones are retried in the next interval, but dropped at the end. */
static void write_parts(struct analytics *a, struct monitored *w, struct log_part *part,
                        bool is_last)
{
    struct log_part *failed = NULL;

    while (part) {
        struct log_part *next = part->next;
        enum error e = failed ? OK : logs_write(a, w, part);

        if (e && is_last)
            event_log_lost(EVENTS_ANALYTICS, part->line_count, error_code(e));
        if ((e || failed) && !is_last) {
            part->next = failed;
            failed = part;
        } else {
            log_part_free(a, part);
        }
        part = next;
    }
    while (failed) { /* newest first, each pushed to the front, which restores the order */
        struct log_part *next = failed->next;

        collected_put_back(a, w, failed);
        failed = next;
    }
}

static void write_monitored(struct analytics *a, struct monitored *w, instant now, bool is_last)
{
    struct collected collected;

    collected_take(a, w, &collected);
    write_parts(a, w, collected.parts, is_last);
    if (collected.tallies)
        metrics_write(a, w, &collected);
    while (collected.tallies) {
        struct api_tally *next = collected.tallies->next;

        api_tally_free(a, collected.tallies);
        collected.tallies = next;
    }
    if (is_last || is_other_cell(a))
        return;
    metrics_finish_hours(a, w, now);
    capacity_begin(a, w, now);
    retention_apply(a, w, now);
}

static void write_all(struct analytics *a, bool is_last)
{
    instant now = clock_wall();

    for (size_t i = 0; i < MONITORED_BUCKETS; i++)
        for (struct monitored *w = a->monitored[i]; w; w = w->next)
            write_monitored(a, w, now, is_last);
}

/* "Automatically created when Storage Analytics is enabled". source: storage-analytics-logging */
static void apply_settings(struct analytics *a)
{
    collect_settings(a);
    for (size_t i = 0; i < MONITORED_BUCKETS; i++)
        for (struct monitored *w = a->monitored[i]; w; w = w->next)
            if (w->logging.kinds != 0 && !w->has_logs && !is_other_cell(a))
                w->has_logs = logs_make(a, w->account) == OK;
}

/* ---- the thread ---- */

/* Intervals end on a grid of the wall clock, so that minutes are complete. */
static int until_next_ms(const struct analytics *a)
{
    uint64_t interval = a->every_s * TICKS_PER_SECOND;

    return (int)((interval - clock_wall() % interval) / (TICKS_PER_SECOND / 1000)) + 1;
}

enum reason { REASON_INTERVAL, REASON_FULL, REASON_SETTINGS, REASON_STOP };

static enum reason wait_for_reason(struct analytics *a)
{
    enum reason reason = REASON_INTERVAL;

    lock_acquire(&a->lock);
    if (!a->stopping && !a->is_full && !a->is_stale)
        lock_wait(&a->lock, &a->changed, until_next_ms(a));
    if (a->stopping)
        reason = REASON_STOP;
    else if (a->is_stale)
        reason = REASON_SETTINGS;
    else if (a->is_full)
        reason = REASON_FULL;
    lock_release(&a->lock);
    return reason;
}

static void *run(void *argument)
{
    struct analytics *a = argument;

    pthread_setname_np(pthread_self(), "analytics");
    thread_give_way();
    for (;;) {
        switch (wait_for_reason(a)) {
        case REASON_STOP:
            return NULL;
        case REASON_SETTINGS:
            apply_settings(a);
            break;
        case REASON_INTERVAL:
            if (is_other_cell(a)) /* settings are copied from the root without a call */
                apply_settings(a);
            write_all(a, false);
            break;
        case REASON_FULL:
            write_all(a, false);
            break;
        }
    }
}

struct analytics *analytics_start(const struct endpoint_set *endpoints, struct store *store,
                                  const struct accounts *accounts, unsigned every_s)
{
    struct analytics *a = xcalloc(1, sizeof *a);

    a->endpoints = endpoints;
    a->store = store;
    a->accounts = accounts;
    a->every_s = every_s;
    lock_init(&a->lock, RANK_ANALYTICS);
    lock_condition_init(&a->changed);
    lock_condition_init(&a->stops);
    collect_into(a);
    apply_settings(a);
    if (thread_start(&a->thread, run, a))
        return a;
    analytics_stop(a);
    return NULL;
}

void analytics_stop(struct analytics *a)
{
    lock_acquire(&a->lock);
    a->stopping = true;
    pthread_cond_signal(&a->changed);
    pthread_cond_signal(&a->stops);
    lock_release(&a->lock);
    thread_join(&a->thread);
    capacity_join(a);
    write_all(a, true);
    collect_into(NULL);
    for (size_t i = 0; i < MONITORED_BUCKETS; i++) {
        while (a->monitored[i]) {
            struct monitored *next = a->monitored[i]->next;

            free(a->monitored[i]);
            a->monitored[i] = next;
        }
    }
    pthread_cond_destroy(&a->changed);
    pthread_cond_destroy(&a->stops);
    lock_destroy(&a->lock);
    free(a);
}
