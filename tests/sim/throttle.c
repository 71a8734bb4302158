/* See throttle.h. */
#include "throttle.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "auth/account.h"
#include "judge.h"
#include "scheduler.h"
#include "service/waiting.h"
#include "services.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)
/* Prices are rounded down to a nanosecond. */
#define SLACK_NS  1000u

static bool is_used(void)
{
    return world->plan.service < SIM_FILE && world->plan.fronts == 0 &&
           world_mix(world->plan.seed ^ 0x717) % 4 == 0;
}

/* Returns the least time after which a refusal for a rate is sent: 100 ms by the server's clock,
 * which may be fast by one part in 16, and follows the wall clock. decision: 460 */
static uint64_t hold_ns(void)
{
    return world->plan.faults & FAULT_CLOCK ? 0 : SECOND_NS / 10 * 15 / 16;
}

/* ---- limits and counts, which end with the process ---- */

/* The settings from one moment on. */
struct settings {
    uint64_t since_ns;
    uint64_t of[ACCOUNT_LIMITS];
    bool is_disabled; /* the account, so that all requests are refused; decision: 380 */
    /* The last count of the usage: when it started, and its result. */
    uint64_t counted_since_ns, counted;
};

static struct settings *history;
static size_t history_count;
static struct account *limited;
static bool has_ended;

static void set(const struct settings *settings)
{
    struct account_limits limits;

    memcpy(limits.of, settings->of, sizeof limits.of);
    sched_hold();
    history = realloc(history, (history_count + 1) * sizeof *history);
    history[history_count] = *settings;
    history[history_count++].since_ns = world->now_ns;
    account_set_standing(limited, ACCOUNT_DEVELOPMENT,
                         STANDING_PRESENT | (settings->is_disabled ? STANDING_DISABLED : 0u));
    account_set_limits(limited, &limits);
    sched_release();
    world_say("%.6f %s limits: %" PRIu64 " requests, %" PRIu64 " bytes, capacity %" PRIu64
              ", %" PRIu64 " containers, of which counted %" PRIu64,
              (double)world->now_ns / 1e9, settings->is_disabled ? "disabled" : "",
              limits.of[LIMIT_REQUESTS], limits.of[LIMIT_BYTES], limits.of[LIMIT_CAPACITY],
              limits.of[LIMIT_CONTAINERS], settings->counted);
}

static uint64_t draw_limit(enum account_limit which)
{
    static const uint64_t rates[] = { 1, 3, 10, 50, 500, 5000 };
    static const uint64_t bytes[] = { 1000, 20000, 100000, 1000000 };

    switch (which) {
    case LIMIT_REQUESTS:
        return rates[world_draw(STREAM_SYSTEM, 6)];
    case LIMIT_BYTES:
        return bytes[world_draw(STREAM_SYSTEM, 4)];
    case LIMIT_CAPACITY:
        return bytes[world_draw(STREAM_SYSTEM, 4)] * 2;
    case LIMIT_CONTAINERS:
        return 1 + world_draw(STREAM_SYSTEM, 3);
    case ACCOUNT_LIMITS:
        break;
    }
    return 0;
}

/* Sleeps for at most this time, or as long as a few requests take. */
static void sleep_up_to(unsigned ms)
{
    uint64_t most_ns =
        world_draw(STREAM_SYSTEM, 2) == 0 ? 5 * (SECOND_NS / 1000) : ms * (SECOND_NS / 1000);

    sched_sleep(world_draw(STREAM_SYSTEM, 1000) * (most_ns / 1000));
}

/* Counts the usage, during which requests continue. The result is as if clients had deleted most. */
static void count_usage(struct settings *settings)
{
    uint64_t since_ns = world->now_ns;

    account_usage_begins(limited);
    if (world_draw(STREAM_SYSTEM, 2) == 0)
        sleep_up_to(2000);
    settings->counted_since_ns = since_ns;
    settings->counted = world_draw(STREAM_SYSTEM, 2) * draw_limit(LIMIT_CAPACITY);
    account_usage_found(limited, settings->counted);
}

static void *change_limits(void *unused)
{
    struct settings settings = history[history_count - 1];

    (void)unused;
    sched_name("limits");
    while (!has_ended) {
        enum account_limit which =
            (enum account_limit)world_draw(STREAM_SYSTEM, ACCOUNT_LIMITS + 1);

        settings.is_disabled = world_draw(STREAM_SYSTEM, 8) == 0;
        if (settings.of[LIMIT_CAPACITY] > 0 && world_draw(STREAM_SYSTEM, 2) == 0)
            which = ACCOUNT_LIMITS;
        if (which == ACCOUNT_LIMITS)
            count_usage(&settings);
        else
            settings.of[which] = world_draw(STREAM_SYSTEM, 2) * draw_limit(which);
        if (has_ended)
            break;
        set(&settings);
        sleep_up_to(6000);
    }
    return NULL;
}

void throttle_start(const struct account *account)
{
    pthread_t id;

    if (!is_used())
        return;
    waiters_start(); /* ends the delays of refused requests */
    limited = (struct account *)(uintptr_t)account;
    set(&(struct settings){ .since_ns = 0 });
    pthread_create(&id, NULL, change_limits, NULL);
}

void throttle_end(void)
{
    if (!limited || has_ended)
        return;
    has_ended = true;
    set(&(struct settings){ .counted_since_ns = world->now_ns });
}

/* ---- requests and their bounds ---- */

struct bounds {
    uint64_t least, most;
};

/* A request, in the order of their starts. */
struct charged {
    uint64_t began_ns, ended_ns; /* UINT64_MAX while in progress */
    uint64_t bytes;              /* of its body */
    struct bounds price_ns, price_in_ns, price_out_ns;
    struct bounds kept; /* bytes charged to the capacity */
};
static struct charged *requests;
static size_t request_count;
/* Indices of requests, in the order of their ends. */
static size_t *ended;
static size_t ended_count;

static struct {
    const struct ask *ask; /* NULL if no request is in progress */
    size_t request;
    bool is_read;             /* GET or HEAD, whose rate is that of egress */
    struct bounds containers; /* existing, since it started */
} slots[SLOTS_MAX];

void throttle_draw(struct ask *ask)
{
    /* The parts of a batch are refused one by one, and so is the source of a copy. */
    bool has_parts = ask->op == OP_BATCH || (ask->op == OP_COPY && !ask->is_remote);

    if (is_used() && world->plan.service == SIM_BLOB && has_parts)
        *ask = (struct ask){ .op = OP_GET_CONTAINER, .container = ask->container, .break_s = -1 };
}

static unsigned count_containers(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < sim_service()->name_count; i++)
        count += sim_service()->cell_of(i) > 0;
    return count;
}

void throttle_asked(unsigned slot, const struct ask *ask)
{
    unsigned containers;

    slots[slot].ask = NULL;
    if (!limited)
        return;
    containers = count_containers();
    requests = realloc(requests, (request_count + 1) * sizeof *requests);
    requests[request_count] = (struct charged){ .began_ns = world->now_ns, .ended_ns = UINT64_MAX };
    slots[slot].ask = ask;
    slots[slot].request = request_count++;
    slots[slot].containers = (struct bounds){ containers, containers };
}

/* Returns the settings next older than `after` that were in effect while the request was in
 * progress, or the newest; NULL if there are no others. */
static const struct settings *settings_before(const struct charged *request,
                                              const struct settings *after)
{
    const struct settings *at = after ? after : history + history_count;

    if (after && after->since_ns < request->began_ns)
        return NULL;
    do {
        if (at == history)
            return NULL;
        at--;
    } while (at->since_ns > request->ended_ns);
    return at;
}

/* Returns the price of units while the request is in progress. */
static struct bounds price_of(struct bounds units, enum account_limit which,
                              const struct charged *request)
{
    struct bounds price = { .least = UINT64_MAX };
    const struct settings *at = NULL;

    while ((at = settings_before(request, at))) {
        double each = at->of[which] > 0 ? 1e9 / (double)at->of[which] : 0;
        uint64_t least = (uint64_t)((double)units.least * each);
        uint64_t most = (uint64_t)((double)units.most * each);

        price.least = least < price.least ? least : price.least;
        price.most = most > price.most ? most : price.most;
    }
    return price;
}

void throttle_sends(unsigned slot, uint64_t bytes, bool is_read)
{
    if (!slots[slot].ask)
        return;
    requests[slots[slot].request].bytes = bytes;
    slots[slot].is_read = is_read;
}

void throttle_committed(void)
{
    unsigned count = limited ? count_containers() : 0;

    for (unsigned i = 0; limited && i < SLOTS_MAX; i++) {
        struct bounds *containers = &slots[i].containers;

        containers->least = count < containers->least ? count : containers->least;
        containers->most = count > containers->most ? count : containers->most;
    }
}

/* ---- what a request was charged ---- */

/* The longest response of this run, or of a client that has gone. */
#define RESPONSE_MAX ((uint64_t)1 << 20)

static bool is_by_wire(void)
{
    return world->plan.faults & FAULT_WIRE;
}

static void charge(struct charged *request, bool is_admitted, struct bounds sent,
                   bool has_committed)
{
    bool is_sure = is_admitted && !is_by_wire();
    struct bounds one = { is_admitted, 1 },
                  received = { is_sure ? request->bytes : 0, request->bytes };
    const struct settings *at = NULL;

    if (!is_admitted)
        sent.least = 0;
    request->price_ns = price_of(one, LIMIT_REQUESTS, request);
    request->price_in_ns = price_of(received, LIMIT_BYTES, request);
    request->price_out_ns = price_of(sent, LIMIT_BYTES, request);
    request->kept = (struct bounds){ has_committed && is_sure ? request->bytes : 0, 0 };
    while ((at = settings_before(request, at))) {
        if (at->of[LIMIT_CAPACITY] > 0)
            request->kept.most = request->bytes;
        else
            request->kept.least = 0;
    }
}

static struct bounds of_requests(const struct charged *request)
{
    return request->price_ns;
}

static struct bounds of_ingress(const struct charged *request)
{
    return request->price_in_ns;
}

static struct bounds of_egress(const struct charged *request)
{
    return request->price_out_ns;
}

typedef struct bounds part_fn(const struct charged *request);

/* Charges each request in progress the most that it may cost, until its response is known. */
static void charge_unfinished(const struct charged *but)
{
    for (size_t i = 0; i < request_count; i++)
        if (requests[i].ended_ns == UINT64_MAX && &requests[i] != but)
            charge(&requests[i], false, (struct bounds){ 0, RESPONSE_MAX }, false);
}

/* ---- rates: account_limits.h, invariant 1 ---- */

/* Returns whether the request may have been refused at a moment before `until_ns`: from some moment
 * on, requests have cost more than the time since then and one second. */
static bool may_be_over(const struct charged *self, uint64_t until_ns, uint64_t price_ns,
                        part_fn *part)
{
    uint64_t all_ns = 0, gone_ns = 0;
    size_t left = ended_count;

    for (size_t i = 0; i < request_count; i++) {
        if (&requests[i] != self)
            all_ns += part(&requests[i]).most;
        if (&requests[i] != self && requests[i].ended_ns != UINT64_MAX)
            gone_ns += part(&requests[i]).most;
    }
    for (size_t i = request_count; i-- > 0;) {
        uint64_t from_ns = requests[i].began_ns;
        uint64_t passed_ns = self->began_ns > from_ns ? self->began_ns - from_ns : 0;

        if (from_ns > until_ns)
            continue;
        for (; left > 0 && requests[ended[left - 1]].ended_ns >= from_ns; left--)
            gone_ns -= part(&requests[ended[left - 1]]).most;
        if (all_ns - gone_ns + price_ns + SLACK_NS > passed_ns + SECOND_NS)
            return true;
    }
    return false;
}

/* Returns whether requests that ended by `by_ns` must have cost too much for one that was admitted
 * before now. */
static bool must_be_over(uint64_t by_ns, part_fn *part)
{
    uint64_t cost_ns = 0;

    for (size_t i = request_count; i-- > 0;) {
        if (requests[i].ended_ns > by_ns)
            continue;
        cost_ns += part(&requests[i]).least;
        if (cost_ns > world->now_ns - requests[i].began_ns + SECOND_NS + SLACK_NS)
            return true;
    }
    return false;
}

/* ---- capacity, as of the settings ---- */

static bool may_be_full(const struct charged *self, const struct settings *settings)
{
    uint64_t limit = settings->of[LIMIT_CAPACITY], has = settings->counted;

    for (size_t i = 0; i < request_count; i++)
        if (&requests[i] != self && requests[i].ended_ns >= settings->counted_since_ns)
            has += requests[i].kept.most;
    return limit > 0 && (has >= limit || self->bytes > limit - has);
}

static bool must_be_full(const struct charged *self, const struct settings *settings)
{
    uint64_t limit = settings->of[LIMIT_CAPACITY], has = settings->counted;

    for (size_t i = 0; i < request_count; i++)
        if (requests[i].began_ns >= settings->counted_since_ns &&
            requests[i].ended_ns <= self->began_ns)
            has += requests[i].kept.least;
    /* A request without bytes adds none. */
    return limit > 0 && self->bytes > 0 && has + self->bytes > limit;
}

/* Returns whether the bytes of the request's body count if it commits. */
static bool keeps_bytes(const struct ask *ask)
{
    if (world->plan.service == SIM_QUEUE)
        return ask->queue.op == QUEUE_PUT;
    if (world->plan.service == SIM_TABLE)
        return ask->table.op >= TABLE_INSERT && ask->table.op <= TABLE_MERGE;
    return (ask->op == OP_PUT_BLOB && ask->kind == KIND_BLOCKS) || ask->op == OP_PUT_BLOCK ||
           ask->op == OP_APPEND_BLOCK || ask->op == OP_PUT_PAGE;
}

static bool adds_container(const struct ask *ask)
{
    if (world->plan.service == SIM_QUEUE)
        return ask->queue.op == QUEUE_CREATE;
    if (world->plan.service == SIM_TABLE)
        return ask->table.op == TABLE_CREATE;
    return ask->op == OP_CREATE_CONTAINER;
}

/* ---- the judge ---- */

static noreturn void fail(unsigned slot, const struct reply *answer, const char *why)
{
    char asked[400];

    ask_format(slots[slot].ask, asked, sizeof asked);
    world_fail("%s\n  asked:    %s\n  response: %d %s\n  from %.6f to %.6f, %" PRIu64
               " bytes, between %" PRIu64 " and %" PRIu64 " containers",
               why, asked, answer->status, answer->code,
               (double)requests[slots[slot].request].began_ns / 1e9, (double)world->now_ns / 1e9,
               requests[slots[slot].request].bytes, slots[slot].containers.least,
               slots[slot].containers.most);
}

static bool has_text(const struct reply *answer, const char *text)
{
    return answer->body_size > 0 && memmem(answer->body, answer->body_size, text, strlen(text));
}

/* Returns whether the response says so; one to HEAD says nothing. */
static bool is_busy(const struct reply *answer, const char *with)
{
    return answer->status == 503 && strcmp(answer->code, "ServerBusy") == 0 &&
           (answer->body_size == 0 || has_text(answer, with));
}

static bool is_storage(const struct reply *answer, const char *with)
{
    return answer->status == 507 && has_text(answer, with);
}

/* Returns whether the response refuses the request for a limit; *ret_is_right: whether it may. */
static bool is_refusal(unsigned slot, const struct reply *answer, bool *ret_is_right)
{
    const struct charged *self = &requests[slots[slot].request];
    bool is_busy_at_all = is_busy(answer, "over the account limit");
    bool is_full = is_storage(answer, "as much as it may keep");
    bool has_too_many = is_storage(answer, "as many containers");
    bool is_disabled = strcmp(answer->code, "AccountIsDisabled") == 0;
    const struct settings *at = NULL;
    uint64_t until_ns = world->now_ns - hold_ns();

    *ret_is_right = false;
    if (is_busy_at_all && world->now_ns >= self->began_ns + hold_ns()) {
        uint64_t price_ns = price_of((struct bounds){ 1, 1 }, LIMIT_REQUESTS, self).most;

        if (is_busy(answer, "Operations"))
            *ret_is_right = price_ns > 0 && may_be_over(self, until_ns, price_ns, of_requests);
        if (is_busy(answer, "Ingress") && !slots[slot].is_read)
            *ret_is_right |= may_be_over(self, until_ns, 0, of_ingress);
        if (is_busy(answer, "Egress") && slots[slot].is_read)
            *ret_is_right |= may_be_over(self, until_ns, 0, of_egress);
    }
    while ((at = settings_before(self, at))) {
        uint64_t most = at->of[LIMIT_CONTAINERS];

        *ret_is_right |= (is_disabled && at->is_disabled) || (is_full && may_be_full(self, at)) ||
                         (has_too_many && most > 0 && slots[slot].containers.most >= most);
    }
    return is_busy_at_all || is_full || has_too_many || is_disabled;
}

/* Fails if the request must have been refused. */
static void check_admitted(unsigned slot, const struct reply *answer, bool has_committed)
{
    const struct ask *ask = slots[slot].ask;
    const struct charged *self = &requests[slots[slot].request];
    bool must_pay = price_of((struct bounds){ 1000000000, 0 }, LIMIT_BYTES, self).least > 0;
    bool is_over = true, is_full = has_committed && keeps_bytes(ask) && !is_by_wire();
    bool has_too_many = has_committed && adds_container(ask);
    const struct settings *at = NULL;

    if (self->price_ns.least > 0 && must_be_over(self->ended_ns, of_requests))
        fail(slot, answer, "more requests than in the account's limit");
    if (must_pay && must_be_over(self->began_ns, slots[slot].is_read ? of_egress : of_ingress))
        fail(slot, answer, "more bytes than in the account's limit");
    while ((at = settings_before(self, at))) {
        uint64_t most = at->of[LIMIT_CONTAINERS];

        is_over &= at->is_disabled;
        is_full &= must_be_full(self, at);
        has_too_many &= most > 0 && slots[slot].containers.least >= most;
    }
    if (is_over)
        fail(slot, answer, "a request to a disabled account is served");
    if (is_full)
        fail(slot, answer, "more is stored than the account's capacity");
    if (has_too_many)
        fail(slot, answer, "more containers than in the account's limit");
}

bool throttle_refused(unsigned slot, const struct reply *answer, bool has_committed, bool may_fail)
{
    const struct ask *ask = slots[slot].ask;
    /* Such a request may have been refused before the limits were checked. */
    bool is_early = answer->status == 400 || answer->status == 403;
    bool is_unclear = !answer->came || (may_fail && judge_says_cannot(answer)) || is_early;
    struct bounds sent = { answer->body_size, answer->length + answer->body_size };
    struct charged *self;
    bool is_right;

    if (!ask)
        return false;
    self = &requests[slots[slot].request];
    self->ended_ns = world->now_ns;
    ended = realloc(ended, (ended_count + 1) * sizeof *ended);
    ended[ended_count++] = slots[slot].request;
    charge_unfinished(self);
    if (answer->came && is_refusal(slot, answer, &is_right)) {
        if (!is_right && !may_fail)
            fail(slot, answer, "a request within the account's limits is refused");
        if (has_committed)
            fail(slot, answer, "a request that is refused has committed");
        if (answer->status == 507) /* capacity is checked later than rates */
            charge(self, !may_fail, sent, false);
        slots[slot].ask = NULL;
        return is_right;
    }
    if (!answer->came)
        sent.most = RESPONSE_MAX;
    charge(self, !is_unclear, sent, has_committed && keeps_bytes(ask));
    if (!is_unclear)
        check_admitted(slot, answer, has_committed);
    slots[slot].ask = NULL;
    return false;
}
