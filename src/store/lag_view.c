/* The read-only lagging view of a store (lag.h). Its snapshots and cursors are those of the store
 * itself; only opening one differs. */
#include <assert.h>
#include <stdlib.h>

#include "store/store_private.h"

struct lag_view {
    struct store base;
    struct store *of;
};

static struct store *store_of(struct store *view)
{
    return ((struct lag_view *)(void *)view)->of;
}

static void view_close(struct store *view)
{
    lag_end(store_of(view));
    free(view);
}

static bool view_healthy(struct store *view)
{
    return store_healthy(store_of(view));
}

/* If the view shows the current state, a commit may happen before the snapshot is opened. The view
 * then shows the state that was frozen before that commit. Cursors and counts are opened the same
 * way. */
static struct read_view *view_snapshot_open(struct store *view, struct partition partition)
{
    struct store *store = store_of(view);
    const struct store_operations *operations = store->operations;
    struct read_view *snapshot = NULL;
    struct lag_state *shown;
    instant until;

    shown = lag_enter(store->lag, &until);
    if (!shown) {
        snapshot = operations->read_view_open(store, partition);
        shown = lag_enter(store->lag, &until);
    }
    if (!shown)
        return snapshot;
    if (snapshot)
        operations->read_view_close(snapshot);
    snapshot = operations->frozen_snapshot(store, shown->frozen, partition);
    snapshot->shown = shown;
    return snapshot;
}

static struct cursor *view_space_cursor(struct store *view, const struct guid *space,
                                        struct bytes end, struct store_access access,
                                        uint64_t *ret_sequence)
{
    struct store *store = store_of(view);
    const struct store_operations *operations = store->operations;
    struct cursor *cursor = NULL;
    struct lag_state *shown;
    instant until;

    shown = lag_enter(store->lag, &until);
    if (!shown) {
        cursor = operations->space_cursor(store, space, end, access, ret_sequence);
        shown = lag_enter(store->lag, &until);
    }
    if (!shown)
        return cursor;
    if (cursor)
        operations->cursor_close(cursor);
    *ret_sequence = shown->sequence;
    cursor = operations->frozen_cursor(store, shown->frozen, space, end, access);
    lag_leave(store->lag, shown);
    return cursor;
}

static enum store_result view_count(struct store *view, const struct guid *space, struct bytes key,
                                    struct store_access access, int64_t *ret_sum,
                                    uint64_t *ret_sequence)
{
    struct store *store = store_of(view);
    const struct store_operations *operations = store->operations;
    enum store_result result = STORE_OK;
    struct lag_state *shown;
    instant until;

    shown = lag_enter(store->lag, &until);
    if (!shown) {
        result = operations->count(store, space, key, access, ret_sum, ret_sequence);
        shown = lag_enter(store->lag, &until);
    }
    if (!shown)
        return result;
    *ret_sequence = shown->sequence;
    result = operations->frozen_count(store, shown->frozen, space, key, access, ret_sum);
    lag_leave(store->lag, shown);
    return result;
}

static enum store_result view_piece_read(struct store *view, const struct piece *piece,
                                         uint32_t offset, uint32_t length, void *to,
                                         struct waiter *waiter)
{
    return piece_read(store_of(view), piece, offset, length, to, waiter);
}

static enum store_result view_piece_check(struct store *view, const struct piece *piece,
                                          uint32_t offset, uint32_t length,
                                          struct piece_file *ret_file, struct waiter *waiter)
{
    return piece_check(store_of(view), piece, offset, length, ret_file, waiter);
}

static void view_piece_give(struct store *view, const struct piece_file *file)
{
    piece_give(store_of(view), file);
}

static void view_wait_durable(struct store *view, uint64_t sequence, struct waiter *waiter)
{
    store_wait_durable(store_of(view), sequence, waiter);
}

static enum store_result view_durable(struct store *view, uint64_t sequence)
{
    return store_durable(store_of(view), sequence);
}

static const struct store_operations view_operations = {
    .close = view_close,
    .healthy = view_healthy,
    .read_view_open = view_snapshot_open,
    .wait_durable = view_wait_durable,
    .durable = view_durable,
    .space_cursor = view_space_cursor,
    .count = view_count,
    .piece_read = view_piece_read,
    .piece_check = view_piece_check,
    .piece_give = view_piece_give,
};

struct store *store_open_lagging(struct store *store, uint64_t lag_ticks)
{
    struct lag_view *view = xcalloc(1, sizeof *view);

    view->base.operations = &view_operations;
    view->base.deferred = store->deferred;
    view->base.tenure = store->tenure;
    view->of = store;
    lag_begin(store, lag_ticks);
    return &view->base;
}

instant store_shows_until(struct store *store, instant now)
{
    instant until = now;
    struct lag_state *shown;
    struct lag *lag;

    if (store->operations != &view_operations)
        return now;
    lag = store_of(store)->lag;
    shown = lag_enter(lag, &until);
    if (shown)
        lag_leave(lag, shown);
    return until;
}
