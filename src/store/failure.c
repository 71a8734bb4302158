/* See failure.h. */
#include "store/failure.h"

#include "base/tenure.h"
#include "store/store_private.h"

void store_use_tenure(struct store *store, struct tenure *tenure)
{
    store->tenure = tenure;
}

bool store_failure_stands(struct store *store, uint64_t failed_ns, struct waiter *waiter)
{
    return tenure_confirms(store->tenure, failed_ns, waiter);
}
