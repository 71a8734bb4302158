/* See slowest.h. */
#include "observe/slowest.h"

#include <stdatomic.h>
#include <stdlib.h>

void slowest_init(struct slowest *slowest)
{
    memset(slowest, 0, sizeof *slowest);
    lock_init(&slowest->lock, RANK_SLOWEST);
}

/* Returns the number of the period, which is at least 1. */
static uint64_t period_of(uint64_t now_ns)
{
    return now_ns / SLOWEST_PERIOD_NS + 1;
}

bool slowest_wants(const struct slowest *slowest, uint64_t now_ns, uint64_t all_ns)
{
    return atomic_load_explicit(&slowest->period, memory_order_relaxed) < period_of(now_ns) ||
           atomic_load_explicit(&slowest->least_ns, memory_order_relaxed) < all_ns;
}

static unsigned find_least(const struct slow_request *of, unsigned count)
{
    unsigned least = 0;

    for (unsigned i = 1; i < count; i++) {
        if (of[i].all_ns < of[least].all_ns)
            least = i;
    }
    return least;
}

void slowest_put(struct slowest *slowest, const struct slow_request *request)
{
    uint64_t number = period_of(request->ended_ns);
    unsigned slot = (unsigned)(number % SLOWEST_PERIODS), least;
    __typeof__(&slowest->periods[0]) period = &slowest->periods[slot];

    lock_acquire(&slowest->lock);
    if (period->number < number) {
        period->number = number;
        period->count = 0;
    }
    least = find_least(period->of, period->count);
    if (period->count < SLOWEST_SHOWN)
        period->of[period->count++] = *request;
    else if (period->of[least].all_ns < request->all_ns)
        period->of[least] = *request;
    if (number >= atomic_load(&slowest->period)) {
        least = find_least(period->of, period->count);
        atomic_store(&slowest->least_ns,
                     period->count < SLOWEST_SHOWN ? 0 : period->of[least].all_ns);
        atomic_store(&slowest->period, number);
    }
    lock_release(&slowest->lock);
}

static int by_time(const void *a, const void *b)
{
    const struct slow_request *x = a, *y = b;

    return (x->all_ns < y->all_ns) - (x->all_ns > y->all_ns);
}

size_t slowest_read(struct slowest *slowest, uint64_t now_ns,
                    struct slow_request ret_requests[SLOWEST_MAX])
{
    size_t count = 0;

    lock_acquire(&slowest->lock);
    for (unsigned i = 0; i < SLOWEST_PERIODS; i++)
        for (unsigned k = 0; k < slowest->periods[i].count; k++)
            if (slowest->periods[i].of[k].ended_ns + SLOWEST_HOUR_NS > now_ns)
                ret_requests[count++] = slowest->periods[i].of[k];
    lock_release(&slowest->lock);
    if (count > 0)
        qsort(ret_requests, count, sizeof ret_requests[0], by_time);
    return count < SLOWEST_SHOWN ? count : SLOWEST_SHOWN;
}

/* ---- the instance of the process ---- */

static struct slowest of_process;

/* Runs before main(), so that requests need not check whether the lock is initialized. */
__attribute__((constructor)) static void init_of_process(void)
{
    lock_init(&of_process.lock, RANK_SLOWEST);
}

struct slowest *slowest_of_process(void)
{
    return &of_process;
}
