/* The store in memory (--inMemoryPersistence): for tests and throw-away use. Opening it costs
 * nothing, and everything counts as durable at once.
 *
 * All records of all partitions are in one persistent tree (treap.h). A snapshot or an iterator
 * holds the root at the time when it was opened; a commit creates a new root under the only lock.
 * Readers take the lock only to get the root. Pieces are buffers with reference counts
 * (pieces.h). */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

#include "store/record_key.h"
#include "store/record_value.h"

static struct memory_store *store_of(struct store *base)
{
    return (struct memory_store *)(void *)base;
}

static void memory_close(struct store *base)
{
    struct memory_store *store = store_of(base);

    assert(!store->oldest_snapshot && store->stage_count == 0);
    treap_release(store->root);
    memory_pieces_release(&store->pieces);
    deferred_release(&store->deferred);
    lock_destroy(&store->lock);
    free(store);
}

static bool memory_healthy(struct store *base)
{
    (void)base;
    return true;
}

static enum store_result memory_get(struct read_view *base, struct bytes key, struct arena *arena,
                                    struct record *ret_record)
{
    const struct memory_snapshot *snapshot = (const struct memory_snapshot *)(void *)base;
    struct bytes value;

    assert(!snapshot->spent);
    if (!treap_find(snapshot->root, key, &value))
        return STORE_NOT_FOUND;
    return record_value_read(value, arena, ret_record);
}

static void memory_wait_durable(struct store *base, uint64_t sequence, struct waiter *waiter)
{
    (void)base;
    (void)sequence;
    waiter->wake(waiter);
}

static enum store_result memory_durable(struct store *base, uint64_t sequence)
{
    (void)base;
    (void)sequence;
    return STORE_OK;
}

/* There is nothing to collect, because the commit, snapshot or stage that ends a use frees its
 * data. */
static void memory_collect_now(struct store *base, struct store_usage *ret_usage)
{
    struct memory_store *store = store_of(base);

    lock_acquire(&store->lock);
    *ret_usage = store->pieces.usage;
    lock_release(&store->lock);
}

static const struct store_operations memory_operations = {
    .close = memory_close,
    .healthy = memory_healthy,
    .read_view_open = memory_snapshot_open,
    .read_view_close = memory_snapshot_close,
    .read_view_is_newest = memory_snapshot_is_newest,
    .get = memory_get,
    .commit = memory_commit,
    .restart_decisions = memory_restart_decisions,
    .wait_durable = memory_wait_durable,
    .durable = memory_durable,
    .scan_cursor = memory_scan_cursor,
    .space_cursor = memory_space_cursor,
    .cursor_seek = memory_cursor_seek,
    .cursor_next = memory_cursor_next,
    .cursor_close = memory_cursor_close,
    .row_cursor = memory_row_cursor,
    .delete_row = memory_delete_row,
    .count = memory_count,
    .stage_open = memory_stage_open,
    .stage_write = memory_stage_write,
    .stage_finish = memory_stage_finish,
    .stage_pieces = memory_stage_pieces,
    .stage_close = memory_stage_close,
    .piece_read = memory_piece_read,
    .freeze = memory_freeze,
    .thaw = memory_thaw,
    .frozen_snapshot = memory_frozen_snapshot,
    .frozen_cursor = memory_frozen_cursor,
    .frozen_count = memory_frozen_count,
    .keep_state = memory_keep_state,
    .drop_state = memory_drop_state,
    .return_to = memory_return_to,
    .collect_now = memory_collect_now,
};

struct store *store_open_memory(void)
{
    struct memory_store *store = xcalloc(1, sizeof *store);
    struct guid seed = guid_new();

    store->base.operations = &memory_operations;
    store->base.deferred = &store->deferred;
    deferred_init(&store->deferred);
    lock_init(&store->lock, RANK_MEMORY_TREE);
    memcpy(&store->random, seed.b, sizeof store->random);
    store->random |= 1; /* never 0, on which the generator would get stuck */
    memory_pieces_init(&store->pieces);
    return &store->base;
}
