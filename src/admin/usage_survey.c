/* See usage_survey.h. */
#include "admin/usage_survey.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "admin/admin_private.h"
#include "auth/account_limits.h"
#include "base/clock.h"
#include "base/log.h"

#define REPORT_MAX_BYTES ((size_t)64 << 20)
#define TOTALS_MAX       (ACCOUNTS_MAX * ENDPOINTS_MAX)
#define WANTED_MS        10000u
#define PAUSE_FACTOR     9u /* pauses are nine times as long as work periods */

/* Result of a count; constant once complete. */
struct report {
    struct arena *arena;
    struct survey_total *totals;
    size_t total_count;
    struct survey_container shown[SURVEY_SHOWN_MAX];
    size_t shown_count;
    uint64_t took_ms;
    instant at;
};

struct usage_survey {
    struct survey_options options;
    struct thread thread;
    struct lock lock;
    pthread_cond_t changed;
    bool stopping;    /* under lock, like the following members */
    bool is_counting; /* a count is running */
    struct report *newest;
    /* number of readers of `newest`; the counting thread frees the report only if none exist */
    size_t readers;
};

static void report_free(struct report *report)
{
    if (!report)
        return;
    arena_free(report->arena);
    free(report);
}

/* ---- counting ---- */

struct counting {
    struct usage_survey *survey;
    struct report *report;
    struct survey_total *total; /* current total */
    uint64_t since_ns;          /* start of the current work period */
    bool rests;
    enum store_result result;
};

/* Adds a container to the largest ones, which are unsorted, if it is one of them. */
static void show(struct report *report, const struct survey_total *total, struct bytes name,
                 const struct usage *usage)
{
    size_t at = report->shown_count;

    if (at < SURVEY_SHOWN_MAX) {
        report->shown_count++;
    } else {
        at = 0;
        for (size_t i = 1; i < SURVEY_SHOWN_MAX; i++)
            if (report->shown[i].of.usage.bytes < report->shown[at].of.usage.bytes)
                at = i;
        if (report->shown[at].of.usage.bytes >= usage->bytes)
            return;
    }
    report->shown[at] = (struct survey_container){ .of = *total };
    report->shown[at].of.containers = 1;
    report->shown[at].of.usage = *usage;
    report->shown[at].name = arena_copy(report->arena, name);
}

static bool found(void *context, struct bytes name, const struct usage *usage)
{
    struct counting *counting = context;
    struct survey_total *total = counting->total;

    total->usage.bytes += usage->bytes;
    if (usage->is_kept)
        return true;
    total->containers++;
    total->usage.objects += usage->objects;
    total->usage.quota_bytes += usage->quota_bytes;
    show(counting->report, total, name, usage);
    return true;
}

/* Sleeps, so that a count takes ten times as long as its work. Returns false if the server is
 * stopping. */
static bool pace(void *context, uint64_t records)
{
    struct counting *counting = context;
    struct usage_survey *survey = counting->survey;
    uint64_t took_ns = clock_monotonic_ns() - counting->since_ns;
    bool goes_on;

    (void)records;
    lock_acquire(&survey->lock);
    if (counting->rests && !survey->stopping)
        lock_wait_us(&survey->lock, &survey->changed,
                     (unsigned)(took_ns < 1000000000 ? took_ns * PAUSE_FACTOR / 1000 : 1000000));
    goes_on = !survey->stopping;
    lock_release(&survey->lock);
    counting->since_ns = clock_monotonic_ns();
    return goes_on;
}

static void count_account(const struct account *account, void *context)
{
    struct counting *counting = context;
    const struct survey_options *options = &counting->survey->options;
    struct report *report = counting->report;
    uint64_t bytes = 0;

    account_usage_begins(account);
    for (size_t i = 0; i < options->endpoints->count && !counting->result; i++) {
        const struct usage_walk walk = { .store = options->store,
                                         .service = options->endpoints->endpoints[i].service,
                                         .account = account_name(account),
                                         .pace = pace,
                                         .found = found,
                                         .context = counting };

        if (walk.service->data_of)
            continue;
        if (report->total_count == TOTALS_MAX)
            return;
        counting->total = &report->totals[report->total_count++];
        counting->total->account = account_name(account);
        counting->total->service = walk.service->name;
        counting->result = usage_look(&walk);
        bytes += counting->total->usage.bytes;
    }
    if (!counting->result)
        account_usage_found(account, bytes);
}

/* Counts everything. Returns NULL if a record cannot be read. Caller must not hold the lock. */
static struct report *count_all(struct usage_survey *survey, bool rests)
{
    struct report *report = xcalloc(1, sizeof *report);
    struct counting counting = { .survey = survey, .report = report, .rests = rests };
    uint64_t began_ms = clock_monotonic_ms();

    report->arena = arena_new(REPORT_MAX_BYTES);
    report->totals = arena_array(report->arena, TOTALS_MAX, sizeof report->totals[0]);
    counting.since_ns = clock_monotonic_ns();
    accounts_each(survey->options.accounts, count_account, &counting);
    report->took_ms = clock_monotonic_ms() - began_ms;
    report->at = clock_wall();
    if (!counting.result)
        return report;
    log_line(LOG_WARN, "cannot count the storage used by accounts: %s",
             store_result_text(counting.result));
    report_free(report);
    return NULL;
}

/* Counts once, after waiting for a running count. */
static bool count_once(struct usage_survey *survey, bool rests)
{
    struct report *report;

    lock_acquire(&survey->lock);
    while (survey->is_counting)
        lock_wait(&survey->lock, &survey->changed, -1);
    survey->is_counting = true;
    lock_release(&survey->lock);
    report = count_all(survey, rests);
    lock_acquire(&survey->lock);
    while (report && survey->readers > 0)
        lock_wait(&survey->lock, &survey->changed, -1);
    if (report) {
        report_free(survey->newest);
        survey->newest = report;
    }
    survey->is_counting = false;
    pthread_cond_broadcast(&survey->changed);
    lock_release(&survey->lock);
    return report != NULL;
}

bool usage_survey_count(struct usage_survey *survey)
{
    return count_once(survey, false);
}

/* ---- the thread ---- */

static void check_refused(const struct account *account, void *context)
{
    bool *is_wanted = context;

    *is_wanted |= account_usage_is_wanted(account);
}

/* Returns true if a request was refused because of a limit; a new count may then show that deletes
 * have freed enough space. */
static bool is_wanted(const struct usage_survey *survey)
{
    bool wanted = false;

    accounts_each(survey->options.accounts, check_refused, &wanted);
    return wanted;
}

/* Returns the pause until the next count. To limit the load, it is at least as long as the last
 * count took. Caller holds the lock. */
static int pause_ms(const struct usage_survey *survey)
{
    uint64_t took_ms = survey->newest ? survey->newest->took_ms : 0;
    uint64_t every_ms = survey->options.every_ms;

    return (int)(took_ms > every_ms ? took_ms < INT32_MAX ? took_ms : INT32_MAX : every_ms);
}

static void *count_periodically(void *argument)
{
    struct usage_survey *survey = argument;
    uint64_t began_ms;

    pthread_setname_np(pthread_self(), "usage");
    thread_give_way();
    lock_acquire(&survey->lock);
    while (!survey->stopping) {
        lock_release(&survey->lock);
        count_once(survey, true);
        lock_acquire(&survey->lock);
        began_ms = clock_monotonic_ms();
        for (uint64_t end = began_ms + (uint64_t)pause_ms(survey), now = began_ms;
             !survey->stopping && now < end && !(now - began_ms >= WANTED_MS && is_wanted(survey));
             now = clock_monotonic_ms())
            lock_wait(&survey->lock, &survey->changed,
                      (int)(end - now < WANTED_MS ? end - now : WANTED_MS));
    }
    lock_release(&survey->lock);
    return NULL;
}

struct usage_survey *usage_survey_start(const struct survey_options *options)
{
    struct usage_survey *survey = xcalloc(1, sizeof *survey);

    survey->options = *options;
    lock_init(&survey->lock, RANK_USAGE);
    lock_condition_init(&survey->changed);
    if (options->every_ms == 0 || thread_start(&survey->thread, count_periodically, survey))
        return survey;
    log_errno("start a thread to count storage");
    usage_survey_stop(survey);
    return NULL;
}

void usage_survey_stop(struct usage_survey *survey)
{
    if (!survey)
        return;
    lock_acquire(&survey->lock);
    survey->stopping = true;
    pthread_cond_broadcast(&survey->changed);
    lock_release(&survey->lock);
    thread_join(&survey->thread);
    report_free(survey->newest);
    pthread_cond_destroy(&survey->changed);
    lock_destroy(&survey->lock);
    free(survey);
}

/* ---- reading ---- */

/* Returns the newest report, for reading, or NULL if none exists yet. */
static const struct report *report_take(struct usage_survey *survey)
{
    const struct report *report;

    lock_acquire(&survey->lock);
    report = survey->newest;
    if (report)
        survey->readers++;
    lock_release(&survey->lock);
    return report;
}

static void report_give(struct usage_survey *survey)
{
    lock_acquire(&survey->lock);
    assert(survey->readers > 0);
    survey->readers--;
    pthread_cond_broadcast(&survey->changed);
    lock_release(&survey->lock);
}

void usage_survey_read(struct usage_survey *survey, const struct survey_listener *listener)
{
    const struct report *report = report_take(survey);

    if (!report)
        return;
    for (size_t i = 0; i < report->total_count; i++)
        listener->total(listener->context, &report->totals[i]);
    for (size_t i = 0; i < report->shown_count; i++)
        listener->container(listener->context, &report->shown[i]);
    report_give(survey);
}

/* ---- metrics ---- */

static void print_head(struct text *to, const char *name, const char *help)
{
    text_printf(to, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

enum figure { CONTAINERS, OBJECTS, BYTES_KEPT, QUOTA };

static uint64_t figure_of(const struct survey_total *total, enum figure figure)
{
    return figure == CONTAINERS ? total->containers
           : figure == OBJECTS  ? total->usage.objects
           : figure == QUOTA    ? total->usage.quota_bytes
                                : total->usage.bytes;
}

static void print_totals(const struct report *report, struct text *to, const char *name,
                         const char *help, enum figure figure)
{
    print_head(to, name, help);
    for (size_t i = 0; i < report->total_count; i++) {
        const struct survey_total *total = &report->totals[i];

        if (total->containers > 0 || total->usage.bytes > 0)
            text_printf(to, "%s{account=\"%.*s\",service=\"%s\"} %" PRIu64 "\n", name,
                        BYTES_ARG(total->account), total->service, figure_of(total, figure));
    }
}

static void print_shown(const struct report *report, struct text *to, const char *name,
                        const char *help, enum figure figure)
{
    print_head(to, name, help);
    for (size_t i = 0; i < report->shown_count; i++) {
        const struct survey_container *one = &report->shown[i];

        if (figure != QUOTA || one->of.usage.quota_bytes > 0)
            text_printf(to, "%s{account=\"%.*s\",service=\"%s\",container=\"%.*s\"} %" PRIu64 "\n",
                        name, BYTES_ARG(one->of.account), one->of.service, BYTES_ARG(one->name),
                        figure_of(&one->of, figure));
    }
}

void usage_survey_print(struct usage_survey *survey, struct text *to)
{
    const struct report *report = report_take(survey);

    if (!report)
        return;
    print_totals(report, to, "lagra_account_containers",
                 "Number of containers, queues, tables or shares of an account.", CONTAINERS);
    print_totals(report, to, "lagra_account_objects",
                 "Number of blobs, messages, entities or files of an account.", OBJECTS);
    print_totals(report, to, "lagra_account_bytes", "Total size of the objects of an account.",
                 BYTES_KEPT);
    print_totals(report, to, "lagra_account_quota_bytes", "Total quota of an account's shares.",
                 QUOTA);
    print_shown(report, to, "lagra_container_objects",
                "Number of objects in each of the largest containers.", OBJECTS);
    print_shown(report, to, "lagra_container_bytes",
                "Total size of the objects in each of the largest containers.", BYTES_KEPT);
    print_shown(report, to, "lagra_container_quota_bytes", "Quota of each of the largest shares.",
                QUOTA);
    print_head(to, "lagra_usage_seconds", "Duration of the last usage survey.");
    text_printf(to, "lagra_usage_seconds %.3f\n", (double)report->took_ms / 1e3);
    print_head(to, "lagra_usage_last_end_timestamp_seconds",
               "Unix time at which the last usage survey ended.");
    text_printf(to, "lagra_usage_last_end_timestamp_seconds %" PRIu64 "\n",
                (uint64_t)((report->at - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND));
    report_give(survey);
}
