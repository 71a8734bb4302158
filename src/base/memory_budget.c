/* A counter, and the highest value that it had since memory was last given back. */
#include "base/memory_budget.h"

#include <assert.h>
#include <malloc.h>
#include <stdatomic.h>

/* So much less than at most is worth a trim. */
#define TRIM_WORTH_BYTES ((size_t)16 << 20)

static _Atomic size_t held;
static _Atomic size_t most;

bool memory_budget_charge(size_t bytes)
{
    size_t before = atomic_load_explicit(&held, memory_order_relaxed);
    size_t highest;

    do {
        if (bytes > MEMORY_BUDGET_BYTES - before)
            return false;
    } while (!atomic_compare_exchange_weak(&held, &before, before + bytes));
    highest = atomic_load_explicit(&most, memory_order_relaxed);
    while (before + bytes > highest &&
           !atomic_compare_exchange_weak(&most, &highest, before + bytes)) {
    }
    return true;
}

void memory_budget_release(size_t bytes)
{
    size_t before = atomic_fetch_sub(&held, bytes);

    assert(before >= bytes);
    (void)before;
}

bool memory_budget_is_short(void)
{
    return atomic_load(&held) > MEMORY_BUDGET_BYTES / 2;
}

void memory_budget_trim(void)
{
    size_t now = atomic_load(&held);
    size_t highest = atomic_load(&most);

    if (highest < now + TRIM_WORTH_BYTES)
        return;
    if (atomic_compare_exchange_strong(&most, &highest, now))
        malloc_trim(0);
}
