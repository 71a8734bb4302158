/* A read-only store that shows what the embedded store showed a while ago (lag.h). Its snapshots
 * are snapshots of that store in a kept state, so the store's functions handle them. */
#include <stdlib.h>

#include "store/embedded/counters.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/piece_read.h"

struct lag_view {
    struct store base;
    struct embedded *of;
};

static struct embedded *store_of(struct store *base)
{
    return ((struct lag_view *)(void *)base)->of;
}

static void view_close(struct store *base)
{
    lag_end(store_of(base));
    free(base);
}

static bool view_healthy(struct store *base)
{
    return store_healthy(&store_of(base)->store);
}

/* If no kept state is shown yet, a commit may come before the snapshot is opened: then the state
 * kept by that commit replaces it. */
static struct snapshot *view_snapshot_open(struct store *base, struct partition partition)
{
    struct embedded *embedded = store_of(base);
    struct snapshot *newest = NULL;
    struct lag_state *shown;
    instant until;

    shown = lag_enter(embedded, &until);
    if (!shown) {
        newest = embedded_snapshot_open(&embedded->store, partition);
        shown = lag_enter(embedded, &until);
    }
    if (!shown)
        return newest;
    if (newest)
        embedded_snapshot_close(newest);
    return embedded_snapshot_of_state(&embedded->store, partition, shown);
}

static struct cursor *state_cursor(struct embedded *embedded, struct lag_state *shown,
                                   const struct guid *space, struct bytes end,
                                   struct store_access access, uint64_t *ret_sequence)
{
    struct cursor *cursor = NULL;

    *ret_sequence = shown->sequence;
    if (!lag_state_lacks(embedded, shown, space))
        cursor = embedded_state_cursor(&embedded->store, view_state(shown->view), end, access);
    lag_leave(embedded, shown);
    return cursor;
}

static struct cursor *view_space_cursor(struct store *base, const struct guid *space,
                                        struct bytes end, struct store_access access,
                                        uint64_t *ret_sequence)
{
    struct embedded *embedded = store_of(base);
    struct cursor *newest = NULL;
    struct lag_state *shown;
    instant until;

    shown = lag_enter(embedded, &until);
    if (!shown) {
        newest = embedded_space_cursor(&embedded->store, space, end, access, ret_sequence);
        shown = lag_enter(embedded, &until);
    }
    if (!shown)
        return newest;
    if (newest)
        embedded_cursor_close(newest);
    return state_cursor(embedded, shown, space, end, access, ret_sequence);
}

static enum store_result view_count(struct store *base, const struct guid *space, struct bytes key,
                                    struct store_access access, int64_t *ret_sum,
                                    uint64_t *ret_sequence)
{
    struct embedded *embedded = store_of(base);
    enum store_result result = STORE_OK;
    struct lag_state *shown;
    instant until;

    shown = lag_enter(embedded, &until);
    if (!shown) {
        result = embedded_count(&embedded->store, space, key, access, ret_sum, ret_sequence);
        shown = lag_enter(embedded, &until);
    }
    if (!shown)
        return result;
    *ret_sum = 0;
    *ret_sequence = shown->sequence;
    if (lag_state_lacks(embedded, shown, space))
        result = STORE_OK;
    else
        result = embedded_count_in(&embedded->store, view_read_options(shown->view), key, access,
                                   ret_sum);
    lag_leave(embedded, shown);
    return result;
}

static enum store_result view_piece_read(struct store *base, const struct piece *piece,
                                         uint32_t offset, uint32_t length, void *to,
                                         struct waiter *waiter)
{
    return embedded_piece_read(&store_of(base)->store, piece, offset, length, to, waiter);
}

static enum store_result view_piece_check(struct store *base, const struct piece *piece,
                                          uint32_t offset, uint32_t length,
                                          struct piece_file *ret_file, struct waiter *waiter)
{
    return embedded_piece_check(&store_of(base)->store, piece, offset, length, ret_file, waiter);
}

static void view_piece_give(struct store *base, const struct piece_file *file)
{
    embedded_piece_give(&store_of(base)->store, file);
}

static void view_wait_durable(struct store *base, uint64_t sequence, struct waiter *waiter)
{
    store_wait_durable(&store_of(base)->store, sequence, waiter);
}

static enum store_result view_durable(struct store *base, uint64_t sequence)
{
    return store_durable(&store_of(base)->store, sequence);
}

static instant view_shows_until(struct store *base)
{
    struct embedded *embedded = store_of(base);
    instant until;
    struct lag_state *shown = lag_enter(embedded, &until);

    if (shown)
        lag_leave(embedded, shown);
    return until;
}

static const struct store_operations view_operations = {
    .close = view_close,
    .healthy = view_healthy,
    .snapshot_open = view_snapshot_open,
    .wait_durable = view_wait_durable,
    .durable = view_durable,
    .space_cursor = view_space_cursor,
    .count = view_count,
    .piece_read = view_piece_read,
    .piece_check = view_piece_check,
    .piece_give = view_piece_give,
    .shows_until = view_shows_until,
};

struct store *embedded_open_lagging(struct store *store, uint64_t ticks)
{
    struct lag_view *view = xcalloc(1, sizeof *view);

    view->of = embedded_of(store);
    view->base.operations = &view_operations;
    view->base.deferred = store->deferred;
    lag_begin(view->of, ticks);
    return &view->base;
}
