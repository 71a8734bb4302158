/* See account_limits.h. */
#include "auth/account_limits.h"

#include <assert.h>

#include "auth/account.h"

#define SECOND_NS  UINT64_C(1000000000)
#define COST_MAX_S (UINT64_C(1) << 20)

unsigned account_hindrances(const struct account *account)
{
    return account ? account_standing(account) & (unsigned)ACCOUNT_HINDRANCES : 0;
}
_Static_assert((unsigned)ACCOUNT_IS_DISABLED == (unsigned)STANDING_DISABLED &&
                   (unsigned)ACCOUNT_IS_LIMITED == (unsigned)STANDING_LIMITED &&
                   (unsigned)ACCOUNT_IS_NOT_PUBLIC == (unsigned)STANDING_NO_PUBLIC_ACCESS &&
                   (unsigned)ACCOUNT_REFUSES_KEYS == (unsigned)STANDING_NO_SHARED_KEY &&
                   (unsigned)ACCOUNT_TRACKS_ACCESS == (unsigned)STANDING_TRACKS_ACCESS,
               "the same bits");

uint64_t account_limit(const struct account *account, enum account_limit which)
{
    return atomic_load_explicit(&account->meter->limits[which], memory_order_relaxed);
}

void account_set_limits(struct account *account, const struct account_limits *limits)
{
    unsigned limited = 0;

    for (size_t i = 0; i < ACCOUNT_LIMITS; i++) {
        uint64_t limit = limits->of[i] == LIMIT_NONE ? 0 : limits->of[i];

        assert(limit <= LIMIT_MAX);
        atomic_store_explicit(&account->meter->limits[i], limit, memory_order_relaxed);
        limited |= limit > 0 ? STANDING_LIMITED : 0u;
    }
    atomic_fetch_and(&account->standing, ~(unsigned)STANDING_LIMITED);
    atomic_fetch_or(&account->standing, limited);
}

/* Returns the cost of `count` units at this rate; at most twelve days. */
static uint64_t cost_ns(uint64_t count, uint64_t rate)
{
    uint64_t whole = count / rate;

    assert(rate > 0 && rate <= LIMIT_MAX);
    if (whole >= COST_MAX_S)
        return COST_MAX_S * SECOND_NS;
    return whole * SECOND_NS +
           (uint64_t)((double)(count % rate) / (double)rate * (double)SECOND_NS);
}

/* Charges the price unless the account would be in debt by more than `ahead_ns`. Returns 0, or how
 * long the account must wait. */
static uint64_t pay(_Atomic uint64_t *paid_ns, uint64_t now_ns, uint64_t price_ns,
                    uint64_t ahead_ns)
{
    uint64_t was = atomic_load_explicit(paid_ns, memory_order_relaxed), from;

    do {
        from = was > now_ns ? was : now_ns;
        if (from - now_ns + price_ns > ahead_ns)
            return from - now_ns + price_ns - ahead_ns;
    } while (!atomic_compare_exchange_weak_explicit(paid_ns, &was, from + price_ns,
                                                    memory_order_relaxed, memory_order_relaxed));
    return 0;
}

enum error account_admit(const struct account *account, enum account_way way, uint64_t now_ns,
                         uint64_t *ret_wait_ns)
{
    struct meter *meter = account->meter;
    uint64_t requests = account_limit(account, LIMIT_REQUESTS), wait_ns = 0;

    /* A refused request is not charged. */
    if (account_limit(account, LIMIT_BYTES) > 0)
        wait_ns = pay(&meter->paid_ns[way], now_ns, 0, SECOND_NS);
    if (wait_ns > 0) {
        *ret_wait_ns = wait_ns;
        return way == WAY_IN ? E_ServerBusyIngress : E_ServerBusyEgress;
    }
    if (requests > 0)
        wait_ns = pay(&meter->paid_ns[METER_REQUESTS], now_ns, cost_ns(1, requests), SECOND_NS);
    if (wait_ns == 0)
        return OK;
    *ret_wait_ns = wait_ns;
    return E_ServerBusyOperations;
}

void account_pay(const struct account *account, enum account_way way, uint64_t bytes,
                 uint64_t now_ns)
{
    uint64_t rate = account_limit(account, LIMIT_BYTES);

    if (rate > 0 && bytes > 0)
        pay(&account->meter->paid_ns[way], now_ns, cost_ns(bytes, rate), UINT64_MAX);
}

/* ---- capacity ---- */

void account_usage_begins(const struct account *account)
{
    struct meter *meter = account->meter;

    atomic_store(&meter->came_before, atomic_load(&meter->came_bytes));
}

void account_usage_found(const struct account *account, uint64_t bytes)
{
    struct meter *meter = account->meter;

    atomic_store(&meter->kept_bytes, bytes);
    atomic_fetch_sub(&meter->came_bytes, atomic_load(&meter->came_before));
    atomic_store(&meter->was_full, false);
    atomic_store(&meter->is_wanted, false);
    atomic_store(&meter->is_counted, true);
}

/* Returns the bytes in all cells. */
static uint64_t bytes_of_all(const struct meter *meter)
{
    return atomic_load(&meter->kept_bytes) + atomic_load(&meter->came_bytes) +
           atomic_load(&meter->elsewhere_bytes);
}

bool account_has_room(const struct account *account, uint64_t bytes)
{
    struct meter *meter = account->meter;
    uint64_t limit = account_limit(account, LIMIT_CAPACITY);
    uint64_t has = bytes_of_all(meter);
    bool has_room = limit == 0 || (has < limit && bytes <= limit - has);

    if (!has_room)
        atomic_store(&meter->was_full, true);
    return has_room;
}

bool account_keep(const struct account *account, uint64_t bytes)
{
    if (!account_has_room(account, bytes))
        return false;
    if (account_limit(account, LIMIT_CAPACITY) > 0)
        atomic_fetch_add_explicit(&account->meter->came_bytes, bytes, memory_order_relaxed);
    return true;
}

bool account_is_full(const struct account *account)
{
    struct meter *meter = account->meter;
    uint64_t limit = account_limit(account, LIMIT_CAPACITY);

    return limit > 0 && bytes_of_all(meter) >= limit;
}

bool account_usage_is_wanted(const struct account *account)
{
    return atomic_load(&account->meter->was_full) || atomic_load(&account->meter->is_wanted);
}

struct account_usage account_usage_here(const struct account *account)
{
    struct meter *meter = account->meter;

    return (struct account_usage){
        .bytes = atomic_load(&meter->kept_bytes) + atomic_load(&meter->came_bytes),
        .is_counted = atomic_load(&meter->is_counted),
        .was_refused = atomic_load(&meter->was_full),
    };
}

void account_usage_elsewhere(const struct account *account, const struct account_usage *usage)
{
    atomic_store(&account->meter->elsewhere_bytes, usage->bytes);
    if (usage->was_refused)
        atomic_store(&account->meter->is_wanted, true);
}

/* ---- notes of services ---- */

uint32_t account_note(const struct account *account)
{
    return atomic_load_explicit(&account->meter->note, memory_order_relaxed);
}

void account_set_note(const struct account *account, uint32_t note)
{
    atomic_store_explicit(&account->meter->note, note, memory_order_relaxed);
}
