/* A read-only store that shows what the memory store showed a while ago (lag.c). Its snapshots are
 * snapshots of that store with another root, so the store's functions handle them. */
#include "store/memory/memory_private.h"

#include <stdlib.h>

struct lag_view {
    struct store base;
    struct memory_store *of;
};

static struct memory_store *store_of(struct store *base)
{
    return ((struct lag_view *)(void *)base)->of;
}

static void view_close(struct store *base)
{
    struct memory_store *store = store_of(base);
    struct memory_piece *freed;

    memory_lag_end(store);
    lock_take(&store->lock);
    freed = memory_collect(store);
    lock_give(&store->lock);
    memory_pieces_free(freed);
    free(base);
}

static bool view_healthy(struct store *base)
{
    return store_healthy(&store_of(base)->base);
}

static struct snapshot *view_snapshot_open(struct store *base, struct partition partition)
{
    struct memory_store *store = store_of(base);
    struct memory_snapshot *snapshot = memory_snapshot_new(store, partition);
    instant until;

    lock_take(&store->lock);
    memory_snapshot_enter(store, snapshot, memory_lag_shown(store, &until));
    lock_give(&store->lock);
    memory_snapshot_look(snapshot);
    return &snapshot->base;
}

static struct treap_node *hold_root(struct memory_store *store, uint64_t *ret_sequence)
{
    struct memory_snapshot *shown;
    struct treap_node *root;
    instant until;

    lock_take(&store->lock);
    shown = memory_lag_shown(store, &until);
    root = treap_hold(shown ? shown->root : store->root);
    *ret_sequence = shown ? shown->seen : store->sequence;
    lock_give(&store->lock);
    return root;
}

static struct cursor *view_space_cursor(struct store *base, const struct guid *space,
                                        struct bytes end, struct store_access access,
                                        uint64_t *ret_sequence)
{
    struct memory_store *store = store_of(base);

    (void)access;
    return memory_root_cursor(&store->base, hold_root(store, ret_sequence), space, end);
}

static enum store_result view_count(struct store *base, const struct guid *space, struct bytes key,
                                    struct store_access access, int64_t *ret_sum,
                                    uint64_t *ret_sequence)
{
    struct treap_node *root = hold_root(store_of(base), ret_sequence);

    (void)access;
    *ret_sum = memory_count_in(root, space, key);
    treap_release(root);
    return STORE_OK;
}

static enum store_result view_piece_read(struct store *base, const struct piece *piece,
                                         uint32_t offset, uint32_t length, void *to,
                                         struct waiter *waiter)
{
    return memory_piece_read(&store_of(base)->base, piece, offset, length, to, waiter);
}

static void view_wait_durable(struct store *base, uint64_t sequence, struct waiter *waiter)
{
    store_wait_durable(&store_of(base)->base, sequence, waiter);
}

static enum store_result view_durable(struct store *base, uint64_t sequence)
{
    return store_durable(&store_of(base)->base, sequence);
}

static instant view_shows_until(struct store *base)
{
    struct memory_store *store = store_of(base);
    instant until;

    lock_take(&store->lock);
    (void)memory_lag_shown(store, &until);
    lock_give(&store->lock);
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
    .shows_until = view_shows_until,
};

struct store *memory_open_lagging(struct store *memory, uint64_t lag_ticks)
{
    struct lag_view *view = xcalloc(1, sizeof *view);
    struct memory_store *store = (struct memory_store *)(void *)memory;

    memory_lag_begin(store, lag_ticks);
    view->base.operations = &view_operations;
    view->base.deferred = memory->deferred;
    view->of = store;
    return &view->base;
}
