/* The capacity of an account's Blob service, as two entities a day in $MetricsCapacityBlob: one for
 * client data, one for $logs. Counting reads the records of all blobs, which may take a long time,
 * so it has its own thread, which yields to others. The owner of a cluster's root cell requests the
 * count of the account's blobs in each other cell from that cell's owner.
 * rest: Storage-Analytics-Metrics-Table-Schema; decision: 575 */
#include <assert.h>

#include "analytics/analytics_private.h"
#include "base/codec.h"
#include "base/event_log.h"
#include "service/other_cells.h"
#include "service/usage.h"

#define TABLE        "$MetricsCapacity"

/* Pauses nine times as long as it has worked, but at most a second. */
#define RESTS_SHARE  9u
#define REST_MAX_US  1000000u

/* The requests to other cells. */
#define VERSION      1
#define COUNT_MS     600000u
#define RESPONSE_MAX 64u

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

static void add(struct kept *to, const struct usage *usage)
{
    to->usage.bytes += usage->bytes;
    if (usage->is_kept)
        return;
    to->containers++;
    to->usage.objects += usage->objects;
    to->usage.uncommitted += usage->uncommitted;
}

static bool found(void *context, struct bytes name, const struct usage *usage)
{
    struct count *count = context;

    add(bytes_is(name, logs_container) ? &count->logs : &count->data, usage);
    return true;
}

/* ---- other cells ---- */

struct served {
    const struct endpoint_set *all;
    uint64_t since_ns; /* start of the current work period */
    struct kept data;
};

/* Works half of the time, because another server waits for the result. */
static bool pace_served(void *context, uint64_t records)
{
    struct served *served = context;
    uint64_t rest_ns = clock_monotonic_ns() - served->since_ns;

    (void)records;
    thread_sleep_ns(rest_ns < NS_PER_MS * 1000 ? rest_ns : NS_PER_MS * 1000);
    served->since_ns = clock_monotonic_ns();
    return !atomic_load(&served->all->is_stopping);
}

static bool found_served(void *context, struct bytes name, const struct usage *usage)
{
    struct served *served = context;

    (void)name;
    add(&served->data, usage);
    return true;
}

static bool count_served(struct served *served, struct bytes account)
{
    const struct endpoint *endpoint = endpoint_find(served->all, bytes_from_string("blob"));

    return endpoint && usage_look(&(struct usage_walk){ .store = endpoint->store,
                                                        .service = endpoint->service,
                                                        .account = account,
                                                        .pace = pace_served,
                                                        .found = found_served,
                                                        .context = served }) == STORE_OK;
}

int capacity_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body)
{
    static atomic_bool counts; /* takes one thread of the pool at most */
    struct served served = { .all = context, .since_ns = clock_monotonic_ns() };
    struct decoder in;
    struct bytes account;
    bool is_counted;

    (void)arena;
    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return 400;
    account = decode_bytes(&in);
    if (!decoder_ok(&in) || account.len == 0)
        return 400;
    if (atomic_exchange(&counts, true))
        return 503;
    is_counted = count_served(&served, account);
    atomic_store(&counts, false);
    encode_u8(ret_body, VERSION);
    encode_u64(ret_body, served.data.containers);
    encode_u64(ret_body, served.data.usage.bytes);
    encode_u64(ret_body, served.data.usage.objects);
    encode_u64(ret_body, served.data.usage.uncommitted);
    return !is_counted ? 500 : atomic_load(&served.all->is_stopping) ? 503 : 200;
}

static bool add_response(struct kept *data, struct bytes body)
{
    struct decoder in;

    decoder_init(&in, body);
    if (decode_u8(&in) != VERSION)
        return false;
    data->containers += decode_u64(&in);
    data->usage.bytes += decode_u64(&in);
    data->usage.objects += decode_u64(&in);
    data->usage.uncommitted += decode_u64(&in);
    return decoder_ok(&in);
}

static bool has_owner(const struct other_cells *cells, uint32_t cell)
{
    struct owner_target target;
    uint64_t asked_ns;

    return route_find(cells->peers->route, cell, &target, &asked_ns) == ROUTE_FOUND;
}

/* Has the cells count at the same time, and adds up their results. */
static enum error ask_cells(struct kept *data, const struct other_cells *cells,
                            const struct placed_count *placed, struct peer_request *request,
                            struct arena *arena)
{
    struct peer_call *calls[CLUSTER_CELLS_MAX];
    enum error e = OK;

    for (unsigned i = 0; i < placed->cell_count; i++)
        if (!has_owner(cells, placed->cells[i])) /* the others would count in vain */
            return E_ServerBusy;
    for (unsigned i = 0; i < placed->cell_count; i++) {
        request->cell = placed->cells[i];
        calls[i] = peer_begin(cells->peers, request, arena);
    }
    for (unsigned i = 0; i < placed->cell_count; i++) {
        struct peer_response response;
        enum peer_result result = peer_end(calls[i], &response);

        if (result == PEER_NO_OWNER || (result == PEER_OK && response.status == 503))
            e = e ? e : E_ServerBusy;
        else if (result != PEER_OK || response.status != 200 || !add_response(data, response.body))
            e = E_InternalError;
    }
    return e;
}

/* Adds the blobs of the account in other cells. Returns E_ServerBusy if a cell's owner cannot be
 * reached, so that the count must be repeated later. */
static enum error count_others(struct kept *data, const struct endpoint *endpoint,
                               struct bytes account)
{
    struct arena *arena;
    struct placed_count placed;
    struct text body;
    enum error e;

    if (other_cells_count(endpoint, account, &placed) != STORE_OK)
        return E_InternalError;
    if (placed.cell_count == 0)
        return OK;
    arena = arena_new_background(STEP_ARENA_MAX);
    text_init(&body, arena, 64);
    encode_u8(&body, VERSION);
    encode_bytes(&body, account);
    e = ask_cells(data, endpoint->cells, &placed,
                  &(struct peer_request){ .path = CAPACITY_PATH,
                                          .body = text_bytes(&body),
                                          .response_max = RESPONSE_MAX,
                                          .response_ms = COUNT_MS,
                                          .is_repeatable = true },
                  arena);
    arena_free(arena);
    return e;
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
    const struct endpoint *endpoint = &a->endpoints->endpoints[w->service];
    const struct usage_walk walk = { .store = a->store,
                                     .service = endpoint->service,
                                     .account = account_name(w->account),
                                     .pace = pace,
                                     .found = found,
                                     .context = &count };
    enum error e = count_others(&count.data, endpoint, account_name(w->account));

    if (e)
        return e;
    count.since_ns = clock_monotonic_ns();
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
    if (e == E_ServerBusy)
        w->capacity_day = 0; /* again after the next interval */
    else if (e)
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

/* A failed day is not retried, unless another cell could not be reached. */
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
