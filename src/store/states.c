/* See states.h. */
#include "store/states.h"

#include <assert.h>

#include "store/store_private.h"

struct store_state *store_keep_state(struct store *store)
{
    return store->operations->keep_state ? store->operations->keep_state(store) : NULL;
}

void store_drop_state(struct store *store, struct store_state *state)
{
    store->operations->drop_state(store, state);
}

enum store_result store_return_to(struct store *store, struct store_state *state,
                                  const struct guid *except, uint64_t *ret_sequence)
{
    return store->operations->return_to(store, state, except, ret_sequence);
}

uint64_t store_returns(const struct store *store)
{
    return atomic_load(&store->returns) + 1;
}

struct store *store_open_lagging(struct store *store, uint64_t lag_ticks)
{
    assert(store->operations->open_lagging);
    return store->operations->open_lagging(store, lag_ticks);
}

instant store_shows_until(struct store *store, instant now)
{
    return store->operations->shows_until ? store->operations->shows_until(store) : now;
}
