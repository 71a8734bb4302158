/* A counter. */
#include "base/memory_budget.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/episode.h"

static _Atomic size_t held;

bool memory_budget_charge(size_t bytes)
{
    size_t before = atomic_load_explicit(&held, memory_order_relaxed);

    do {
        if (bytes > MEMORY_BUDGET_BYTES - before) {
            episode_refused(EPISODE_MEMORY);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&held, &before, before + bytes));
    return true;
}

void memory_budget_release(size_t bytes)
{
    size_t before = atomic_fetch_sub(&held, bytes);

    assert(before >= bytes);
    (void)before;
}

bool memory_budget_covers(size_t bytes)
{
    bool covers = memory_budget_charge(bytes);

    if (covers)
        memory_budget_release(bytes);
    return covers;
}

bool memory_budget_is_short(void)
{
    return atomic_load(&held) > MEMORY_BUDGET_BYTES / 2;
}
