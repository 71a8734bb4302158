/* See tenure.h. */
#include "base/tenure.h"

#include <assert.h>

void tenure_start(struct tenure *tenure, uint64_t began_ns, uint64_t ends_ns)
{
    lock_init(&tenure->lock, RANK_TENURE);
    tenure->waiters = NULL;
    atomic_init(&tenure->renewed_ns, began_ns);
    atomic_init(&tenure->ends_ns, ends_ns);
}

/* Wakes all waiters, which check again. */
static void wake_waiters(struct tenure *tenure)
{
    struct waiter *waiters;

    lock_acquire(&tenure->lock);
    waiters = tenure->waiters;
    tenure->waiters = NULL;
    lock_release(&tenure->lock);
    while (waiters) {
        struct waiter *next = waiters->next; /* a woken waiter may be freed */

        waiters->wake(waiters);
        waiters = next;
    }
}

void tenure_renew(struct tenure *tenure, uint64_t began_ns, uint64_t ends_ns)
{
    assert(began_ns < ends_ns);
    atomic_store(&tenure->ends_ns, ends_ns);
    atomic_store(&tenure->renewed_ns, began_ns);
    wake_waiters(tenure);
}

void tenure_lose(struct tenure *tenure)
{
    atomic_store(&tenure->ends_ns, 0);
}

void tenure_give_up(struct tenure *tenure)
{
    atomic_store(&tenure->ends_ns, 0);
    atomic_store(&tenure->renewed_ns, UINT64_MAX);
    wake_waiters(tenure);
}

bool tenure_confirms(struct tenure *tenure, uint64_t since_ns, struct waiter *waiter)
{
    bool is_renewed;

    if (!tenure || atomic_load(&tenure->renewed_ns) > since_ns)
        return true;
    lock_acquire(&tenure->lock);
    is_renewed = atomic_load(&tenure->renewed_ns) > since_ns;
    if (!is_renewed) {
        waiter->next = tenure->waiters;
        tenure->waiters = waiter;
    }
    lock_release(&tenure->lock);
    return is_renewed;
}
