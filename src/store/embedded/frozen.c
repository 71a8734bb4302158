/* The operations of a frozen state, for a lagging view (store/lag.h). */
#include <stdlib.h>

#include "store/embedded/counters.h"
#include "store/embedded/embedded_private.h"

struct frozen_state {
    struct store_state *state;
    struct view *view; /* for its readers */
    /* It shows all commits up to the first and none after the second. */
    uint64_t shown_from, sequence;
    instant taken;
};

struct frozen_state *embedded_freeze(struct store *store, uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    struct frozen_state *frozen = xcalloc(1, sizeof *frozen);

    frozen->shown_from = keyspace_sequence(&embedded->keyspace);
    frozen->state = states_show(embedded);
    frozen->sequence = keyspace_sequence(&embedded->keyspace);
    frozen->view = view_of_state(frozen->state);
    frozen->taken = clock_now();
    *ret_sequence = frozen->sequence;
    return frozen;
}

void embedded_thaw(struct store *store, struct frozen_state *frozen)
{
    states_over(embedded_of(store), frozen->state);
    free(frozen->view);
    free(frozen);
}

/* A drop that is no longer remembered needs no check: the state has all of the space or nothing. */
static bool frozen_lacks(struct embedded *embedded, const struct frozen_state *frozen,
                         const struct guid *space)
{
    uint64_t dropped_at;

    spaces_enter(&embedded->spaces, space);
    dropped_at = spaces_dropped_at(&embedded->spaces, space);
    spaces_leave(&embedded->spaces, space);
    return dropped_at > 0 && dropped_at <= frozen->shown_from;
}

struct read_view *embedded_frozen_snapshot(struct store *store, struct frozen_state *frozen,
                                           struct partition partition)
{
    struct read_view *snapshot = embedded_snapshot_of_view(store, partition, frozen->view);

    snapshot->gone = frozen_lacks(embedded_of(store), frozen, &partition.space);
    snapshot->sequence = frozen->sequence;
    snapshot->newest = frozen->taken; /* different for each state */
    return snapshot;
}

struct cursor *embedded_frozen_cursor(struct store *store, struct frozen_state *frozen,
                                      const struct guid *space, struct bytes end,
                                      struct store_access access)
{
    if (frozen_lacks(embedded_of(store), frozen, space))
        return NULL;
    return embedded_state_cursor(store, view_state(frozen->view), end, access);
}

enum store_result embedded_frozen_count(struct store *store, struct frozen_state *frozen,
                                        const struct guid *space, struct bytes key,
                                        struct store_access access, int64_t *ret_sum)
{
    *ret_sum = 0;
    if (frozen_lacks(embedded_of(store), frozen, space))
        return STORE_OK;
    return embedded_count_in(store, view_read_options(frozen->view), key, access, ret_sum);
}
