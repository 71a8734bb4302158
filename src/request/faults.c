/* Rules for faults; see faults.h. A single lock suffices because only test servers have rules. */
#include "request/faults.h"

#include <assert.h>

#include "base/clock.h"
#include "base/lock.h"
#include "service/operation.h"

struct kept_rule {
    struct arena *arena; /* holds the rule and this struct */
    struct fault_rule rule;
    uint64_t put_ms; /* monotonic clock */
    uint64_t matched, fired;
    bool is_over;
};

_Atomic unsigned faults_active;

static struct {
    struct lock lock;
    size_t count;                             /* protected by the lock, like all fields below */
    struct kept_rule *rules[FAULT_RULES_MAX]; /* in the order in which they were added */
} room;

__attribute__((constructor)) static void room_init(void)
{
    lock_init(&room.lock, RANK_FAULTS);
}

/* ---- matching requests ---- */

/* Matches the text against the pattern. On a mismatch, backtracks only to the last '*', because it
 * can match everything that an earlier one could. */
static bool fits(struct bytes pattern, struct bytes text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, taken = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.len && pattern.ptr[p] == text.ptr[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

static struct bytes name_of(const struct call *call)
{
    struct bytes container = { NULL, 0 }, object = { NULL, 0 };

    if (call->service->names)
        call->service->names(call->input.resource, &container, &object);
    if (!object.ptr || object.len == 0)
        return container;
    return arena_printf(call->arena, "%.*s/%.*s", BYTES_ARG(container), BYTES_ARG(object));
}

static bool headers_fit(const struct fault_match *match, const struct call *call)
{
    for (size_t i = 0; i < match->header_count; i++) {
        struct bytes value = call_find_header(call, match->headers[i].name);

        if (!value.ptr || !fits(match->headers[i].value, value))
            return false;
    }
    return true;
}

static bool matches(const struct fault_match *match, const struct call *call, struct bytes name)
{
    return (!match->account.ptr || bytes_equal(match->account, call->account_name)) &&
           (!match->service.ptr || bytes_is(match->service, call->service->name)) &&
           (!match->operation.ptr || bytes_is(match->operation, call->operation->name)) &&
           (!match->name.ptr || fits(match->name, name)) && headers_fit(match, call);
}

/* ---- schedule ---- */

static void end_rule(struct kept_rule *kept)
{
    assert(!kept->is_over);
    kept->is_over = true;
    atomic_fetch_sub(&faults_active, 1);
}

/* Returns true if the rule has started and not ended. Ends a rule whose duration has elapsed. */
static bool is_in_force(struct kept_rule *kept, uint64_t now_ms)
{
    const struct fault_when *when = &kept->rule.when;
    uint64_t age_ms = now_ms - kept->put_ms;

    if (!kept->is_over && when->for_ms > 0 && age_ms >= when->after_ms + when->for_ms)
        end_rule(kept);
    return !kept->is_over && age_ms >= when->after_ms;
}

/* Returns a pseudorandom number in [0, 1) from the seed and the position. Uses SplitMix64's output
 * function. */
static double chance(uint64_t seed, uint64_t place)
{
    uint64_t x = seed + (place + 1) * 0x9E3779B97F4A7C15u;

    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return (double)(x >> 11) / 9007199254740992.0; /* 2^53 */
}

/* Returns true if the rule selects this match. place: its position from 0, after the skipped
 * ones. */
static bool is_chosen(const struct fault_when *when, uint64_t place)
{
    if (when->schedule.ptr)
        return when->schedule.ptr[place % when->schedule.len] == 'x';
    return when->share >= 1 || chance(when->seed, place) < when->share;
}

/* Counts a match. Returns true if the rule fires. */
static bool fires(struct kept_rule *kept)
{
    const struct fault_when *when = &kept->rule.when;
    uint64_t place = kept->matched++;
    bool chosen;

    if (place < when->skip)
        return false;
    place -= when->skip;
    chosen = is_chosen(when, place);
    if (chosen)
        kept->fired++;
    if ((when->count > 0 && kept->fired >= when->count) ||
        (when->schedule.ptr && !when->repeats && place + 1 >= when->schedule.len))
        end_rule(kept);
    return chosen;
}

bool faults_take(const struct call *call, struct fault *ret_fault)
{
    struct bytes name = name_of(call);
    uint64_t now_ms = clock_monotonic_ms();
    bool found = false;

    assert(call->operation);
    lock_acquire(&room.lock);
    for (size_t i = 0; i < room.count && !found; i++) {
        struct kept_rule *kept = room.rules[i];

        if (!is_in_force(kept, now_ms) || !matches(&kept->rule.match, call, name) || !fires(kept))
            continue;
        *ret_fault = kept->rule.fault;
        found = true;
    }
    lock_release(&room.lock);
    return found;
}

/* ---- list of rules ---- */

static void drop_at(size_t i)
{
    struct kept_rule *kept = room.rules[i];

    lock_assert_held(&room.lock);
    assert(i < room.count);
    if (!kept->is_over)
        end_rule(kept);
    room.count--;
    memmove(&room.rules[i], &room.rules[i + 1], (room.count - i) * sizeof room.rules[0]);
    arena_free(kept->arena); /* kept is in this arena */
}

/* Returns the index of the rule, or room.count if it does not exist. */
static size_t place_of(struct bytes name)
{
    size_t i = 0;

    while (i < room.count && !bytes_equal(room.rules[i]->rule.name, name))
        i++;
    return i;
}

/* Drops ended rules, oldest first, while the list is full. */
static void make_room(uint64_t now_ms)
{
    for (size_t i = 0; room.count == FAULT_RULES_MAX && i < room.count; i++) {
        is_in_force(room.rules[i], now_ms);
        if (room.rules[i]->is_over)
            drop_at(i);
    }
}

bool faults_put(struct arena *arena, const struct fault_rule *rule)
{
    struct kept_rule *kept = arena_alloc(arena, sizeof *kept);
    size_t i;
    bool has_room;

    assert(rule->name.len > 0 && rule->name.len <= FAULT_NAME_MAX);
    *kept = (struct kept_rule){ .arena = arena, .rule = *rule, .put_ms = clock_monotonic_ms() };
    lock_acquire(&room.lock);
    i = place_of(rule->name);
    if (i < room.count)
        drop_at(i);
    make_room(kept->put_ms);
    has_room = room.count < FAULT_RULES_MAX;
    if (has_room) {
        room.rules[room.count++] = kept;
        atomic_fetch_add(&faults_active, 1);
    }
    lock_release(&room.lock);
    return has_room;
}

bool faults_drop(struct bytes name)
{
    size_t i;
    bool found;

    lock_acquire(&room.lock);
    i = place_of(name);
    found = i < room.count;
    if (found)
        drop_at(i);
    lock_release(&room.lock);
    return found;
}

void faults_drop_all(void)
{
    lock_acquire(&room.lock);
    while (room.count > 0)
        drop_at(room.count - 1);
    lock_release(&room.lock);
}

void faults_each(void (*show)(const struct fault_state *state, void *context), void *context)
{
    uint64_t now_ms = clock_monotonic_ms();

    lock_acquire(&room.lock);
    for (size_t i = 0; i < room.count; i++) {
        struct kept_rule *kept = room.rules[i];

        is_in_force(kept, now_ms);
        show(&(struct fault_state){ .name = kept->rule.name,
                                    .text = kept->rule.text,
                                    .matched = kept->matched,
                                    .fired = kept->fired,
                                    .is_over = kept->is_over },
             context);
    }
    lock_release(&room.lock);
}
