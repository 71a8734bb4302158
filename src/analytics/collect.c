/* Accepts events, and holds their data until it is written: see analytics_private.h. */
#include <assert.h>
#include <stdlib.h>

#include "analytics/analytics_private.h"
#include "base/log.h"
#include "service/names.h"

/* Set while no event is accepted: before the threads that produce events start, and after they have
 * ended. */
static struct analytics *running;
static struct arena *scratch; /* for lines */

/* ---- monitored services ---- */

static size_t bucket_of(const struct account *account, unsigned service)
{
    return ((uintptr_t)account / 64 * ENDPOINTS_MAX + service) % MONITORED_BUCKETS;
}

static struct monitored *find(struct analytics *a, const struct account *account, unsigned service)
{
    struct monitored *at = a->monitored[bucket_of(account, service)];

    while (at && (at->account != account || at->service != service))
        at = at->next;
    return at;
}

static struct monitored *watch(struct analytics *a, const struct account *account, unsigned service)
{
    struct monitored *new = find(a, account, service), **bucket;

    if (new)
        return new;
    bucket = &a->monitored[bucket_of(account, service)];
    new = xcalloc(1, sizeof *new);
    new->account = account;
    new->service = service;
    new->service_name = a->endpoints->endpoints[service].service->name;
    new->next = *bucket;
    *bucket = new;
    return new;
}

bool collect_is_stopping(struct analytics *a)
{
    bool stopping;

    lock_acquire(&a->lock);
    stopping = a->stopping;
    lock_release(&a->lock);
    return stopping;
}

/* ---- settings ---- */

static bool read_settings(struct analytics *a, struct arena *arena, const struct account *account,
                          unsigned service, struct service_properties *ret_properties)
{
    const char *name = a->endpoints->endpoints[service].service->name;
    struct partition at = { .space = account_space(name, account_name(account)), .key = BYTES("") };
    struct read_view *snapshot = read_view_open(a->store, at, STORE_MAY_BLOCK);
    enum store_result result = service_properties_read(snapshot, arena, ret_properties);

    read_view_close(snapshot);
    return result == STORE_OK;
}

static bool has_any(const struct service_properties *properties)
{
    return properties->logging.kinds != 0 || properties->logging.retention_days > 0 ||
           properties->hour_metrics.enabled || properties->hour_metrics.retention_days > 0 ||
           properties->minute_metrics.enabled || properties->minute_metrics.retention_days > 0;
}

static bool keeps_as_long(const struct monitored *w, const struct service_properties *properties)
{
    return w->logging.retention_days == properties->logging.retention_days &&
           w->hour.retention_days == properties->hour_metrics.retention_days &&
           w->minute.retention_days == properties->minute_metrics.retention_days;
}

/* Returns the bits for account_note(). */
static uint32_t set_settings(struct analytics *a, const struct account *account, unsigned service,
                             const struct service_properties *properties)
{
    bool counts = properties->hour_metrics.enabled || properties->minute_metrics.enabled;
    struct monitored *monitored;

    lock_acquire(&a->lock);
    monitored = find(a, account, service);
    if (!monitored && has_any(properties))
        monitored = watch(a, account, service);
    if (monitored) {
        if (!keeps_as_long(monitored, properties))
            monitored->expired_until = 0;
        monitored->logging = properties->logging;
        monitored->hour = properties->hour_metrics;
        monitored->minute = properties->minute_metrics;
    }
    lock_release(&a->lock);
    return (properties->logging.kinds | (counts ? ANALYTICS_METRICS : 0u))
           << ANALYTICS_BITS * service;
}

/* Updates an account's settings; if they cannot be read, they remain unchanged. */
static void look(const struct account *account, void *context)
{
    struct analytics *a = context;
    struct arena *arena = arena_new_background(STEP_ARENA_MAX);
    uint32_t before = account_note(account), note = 0;

    for (unsigned i = 0; i < a->endpoints->count; i++) {
        struct service_properties properties;

        if (a->endpoints->endpoints[i].service->data_of)
            continue;
        if (!collect_is_stopping(a) && read_settings(a, arena, account, i, &properties))
            note |= set_settings(a, account, i, &properties);
        else
            note |= before & ((1u << ANALYTICS_BITS) - 1) << ANALYTICS_BITS * i;
    }
    account_set_note(account, note);
    arena_free(arena);
}

void collect_settings(struct analytics *a)
{
    lock_acquire(&a->lock);
    a->is_stale = false;
    lock_release(&a->lock);
    accounts_each(a->accounts, look, a);
}

static void settings_changed(struct bytes account)
{
    (void)account;
    if (!running)
        return;
    lock_acquire(&running->lock);
    running->is_stale = true;
    pthread_cond_signal(&running->changed);
    lock_release(&running->lock);
}

/* ---- lines ---- */

static struct log_part *part_for(struct monitored *w, const struct analytics_event *event,
                                 size_t more)
{
    instant hour = event->ended - event->ended % (3600 * TICKS_PER_SECOND);
    struct log_part *part = w->newest;

    if (part && part->hour == hour && part->version == w->logging.version &&
        part->length + more <= LOG_PART_BYTES_MAX)
        return part;
    part = xcalloc(1, sizeof *part);
    part->hour = hour;
    part->version = w->logging.version;
    if (w->newest)
        w->newest->next = part;
    else
        w->oldest = part;
    w->newest = part;
    return part;
}

static void append(struct analytics *a, struct log_part *part, struct bytes lines)
{
    if (part->capacity - part->length < lines.len) {
        size_t capacity = part->capacity < 4096 ? 4096 : 2 * part->capacity;

        while (capacity - part->length < lines.len)
            capacity *= 2;
        part->bytes = xrealloc(part->bytes, capacity);
        a->pending_bytes += capacity - part->capacity;
        part->capacity = capacity;
    }
    memcpy(part->bytes + part->length, lines.ptr, lines.len);
    part->length += lines.len;
    part->line_count++;
}

/* Returns false if it does not fit. */
static bool take_line(struct analytics *a, struct monitored *w, const struct analytics_event *event,
                      struct bytes lines)
{
    instant began = event->ended - event->all_ns / 100;
    struct log_part *part;

    if (a->pending_bytes + 2 * lines.len > PENDING_BYTES_MAX)
        return false;
    part = part_for(w, event, lines.len);
    append(a, part, lines);
    part->kinds |= event->kind;
    if (part->first == 0 || began < part->first)
        part->first = began;
    if (began > part->last)
        part->last = began;
    if (a->pending_bytes > PENDING_BYTES_MAX / 2 && !a->is_full) {
        a->is_full = true;
        pthread_cond_signal(&a->changed);
    }
    return true;
}

/* ---- counts ---- */

/* Returns NULL if there are too many. */
static struct tally *tally_named(struct analytics *a, struct monitored *w, const char *name,
                                 bool is_system)
{
    struct api_tally *at = w->tallies;

    while (at && (at->is_system != is_system || strcmp(at->name, name) != 0))
        at = at->next;
    if (at)
        return &at->tally;
    if (a->tally_count == TALLIES_MAX)
        return NULL;
    a->tally_count++;
    at = xcalloc(1, sizeof *at);
    memcpy(at->name, name, strlen(name) + 1);
    at->is_system = is_system;
    at->next = w->tallies;
    w->tallies = at;
    return &at->tally;
}

static bool count(struct analytics *a, struct monitored *w, const struct analytics_event *event,
                  bool is_system)
{
    struct tally *all = tally_named(a, w, "All", is_system), *of_api = NULL;
    char name[ANALYTICS_NAME_SIZE];

    if (event->ended > w->tallied)
        w->tallied = event->ended;
    if (all)
        tally_count(all, event);
    if (w->hour.includes_apis || w->minute.includes_apis) {
        analytics_name(event, name);
        of_api = tally_named(a, w, name, is_system);
        if (!of_api)
            return false;
        tally_count(of_api, event);
    }
    return all;
}

/* Counts a request of Storage Analytics itself. */
static void collect_own(struct analytics *a, const struct account *account, unsigned service,
                        const struct analytics_event *event)
{
    struct monitored *w;

    lock_acquire(&a->lock);
    w = find(a, account, service);
    if (w && (w->hour.enabled || w->minute.enabled))
        count(a, w, event, true);
    lock_release(&a->lock);
}

/* ---- events ---- */

static bool take(struct bytes bytes)
{
    const struct analytics_event *event = (const struct analytics_event *)(const void *)bytes.ptr;
    struct arena_mark mark = arena_mark(scratch);
    struct analytics *a = running;
    struct monitored *w;
    struct text lines;
    bool is_taken = true;

    if (!a)
        return false;
    lock_acquire(&a->lock);
    w = find(a, event->account, event->service);
    if (w && event->is_counted && (w->hour.enabled || w->minute.enabled))
        is_taken = count(a, w, event, false);
    if (w && event->is_logged && w->logging.kinds & event->kind) {
        text_init(&lines, scratch, 4096);
        line_write(event, w->logging.version, &lines);
        is_taken &= take_line(a, w, event, text_bytes(&lines));
        arena_rewind(scratch, mark);
    }
    lock_release(&a->lock);
    return is_taken;
}

void analytics_open(void)
{
    event_log_hand(EVENTS_ANALYTICS, take);
}

void collect_into(struct analytics *a)
{
    if (!scratch)
        scratch = arena_new_background(4 * LINES_BYTES_MAX);
    running = a;
    service_properties_watch(a ? settings_changed : NULL);
}

/* ---- collected data ---- */

void collected_take(struct analytics *a, struct monitored *w, struct collected *ret_collected)
{
    lock_acquire(&a->lock);
    *ret_collected = (struct collected){ .parts = w->oldest,
                                         .tallies = w->tallies,
                                         .tallied = w->tallied,
                                         .logging = w->logging,
                                         .hour = w->hour,
                                         .minute = w->minute };
    w->oldest = w->newest = NULL;
    w->tallies = NULL;
    a->is_full = false;
    lock_release(&a->lock);
}

void collected_put_back(struct analytics *a, struct monitored *w, struct log_part *part)
{
    lock_acquire(&a->lock);
    part->next = w->oldest;
    w->oldest = part;
    if (!w->newest)
        w->newest = part;
    lock_release(&a->lock);
}

void log_part_free(struct analytics *a, struct log_part *part)
{
    lock_acquire(&a->lock);
    assert(a->pending_bytes >= part->capacity);
    a->pending_bytes -= part->capacity;
    lock_release(&a->lock);
    free(part->bytes);
    free(part);
}

void api_tally_free(struct analytics *a, struct api_tally *tally)
{
    lock_acquire(&a->lock);
    assert(a->tally_count > 0);
    a->tally_count--;
    lock_release(&a->lock);
    free(tally);
}

enum error ask(struct analytics *a, const struct account *account, const char *service,
               struct arena *arena, struct internal_request *asked,
               struct internal_response *ret_answer)
{
    const struct endpoint *endpoint = endpoint_find(a->endpoints, bytes_from_string(service));
    unsigned i = (unsigned)(endpoint - a->endpoints->endpoints);
    uint64_t began_ns = clock_monotonic_ns();
    struct analytics_event event = { .account = account, .service = i };

    asked->by_service = true;
    asked->path =
        arena_printf(arena, "/%.*s/%.*s", BYTES_ARG(account_name(account)), BYTES_ARG(asked->path));
    (is_other_cell(a) ? cell_request_run : internal_request_run)(endpoint, arena, asked,
                                                                 ret_answer);
    event.operation = ret_answer->operation;
    event.outcome = !ret_answer->error                       ? OUTCOME_SUCCESS
                    : error_status(ret_answer->error) >= 500 ? OUTCOME_SERVER_OTHER
                                                             : OUTCOME_CLIENT_OTHER;
    event.ended = clock_wall();
    event.all_ns = clock_monotonic_ns() - began_ns;
    event.received = asked->source ? asked->source->length : asked->body.len;
    if (ret_answer->response.body_kind == BODY_BYTES)
        event.sent = ret_answer->response.body.len;
    collect_own(a, account, i, &event);
    return ret_answer->error;
}
