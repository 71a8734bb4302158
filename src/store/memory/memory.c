/* The store in memory (--inMemoryPersistence): for tests and throw-away use. Opening it costs
 * nothing, and all is durable, in its way, at once.
 *
 * All records of all partitions lie in one persistent tree (tree.h). A snapshot or an iterator is a hold
 * on the root of that moment; a commit makes a new root under the one lock. Readers take the lock
 * only to get the root. Pieces are buffers with counted references (pieces.h). */
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

    memory_lag_release(store);
    assert(!store->oldest_snapshot && store->stage_count == 0);

    treap_release(store->root);
    memory_pieces_release(&store->pieces);
    deferred_release(&store->deferred);
    lock_release(&store->lock);
    free(store);
}

static bool memory_healthy(struct store *base)
{
    (void)base;
    return true;
}

static struct store_limits memory_limits(const struct store *base)
{
    (void)base;
    return (struct store_limits){
        .inline_bytes = LOCAL_INLINE_BYTES,
        .record_bytes = LOCAL_RECORD_BYTES,
        .commit_bytes = UINT64_MAX,
        .group_parts = COMMIT_PARTS_MAX,
    };
}

void memory_snapshot_look(struct memory_snapshot *snapshot)
{
    snapshot->version = memory_partition_version(snapshot->root, snapshot->base.prefix);
    snapshot->base.gone = memory_space_is_dropped(snapshot->root, &snapshot->base.space);
    snapshot->base.sequence = snapshot->version > 0 ? snapshot->version : snapshot->seen;
    assert(snapshot->base.sequence <= snapshot->seen);
}

static struct snapshot *memory_snapshot_open(struct store *base, struct partition partition)
{
    struct memory_store *store = store_of(base);
    struct memory_snapshot *snapshot = memory_snapshot_new(store, partition);

    lock_take(&store->lock);
    memory_snapshot_enter(store, snapshot, NULL);
    lock_give(&store->lock);
    memory_snapshot_look(snapshot);
    return &snapshot->base;
}

static bool memory_snapshot_is_newest(const struct snapshot *base)
{
    const struct memory_snapshot *snapshot = (const struct memory_snapshot *)(const void *)base;
    struct memory_store *store = store_of(base->store);
    bool is_newest;

    lock_take(&store->lock);
    is_newest = store->sequence == snapshot->seen;
    lock_give(&store->lock);
    return is_newest;
}

static void memory_snapshot_close(struct snapshot *base)
{
    struct memory_snapshot *snapshot = (struct memory_snapshot *)(void *)base;
    struct memory_store *store = store_of(base->store);
    struct memory_piece *freed;

    lock_take(&store->lock);
    memory_snapshot_leave(store, snapshot);
    freed = memory_collect(store);
    lock_give(&store->lock);

    memory_pieces_free(freed);
    treap_release(snapshot->root);
    free(snapshot);
}

static enum store_result memory_get(struct snapshot *base, struct bytes key, struct arena *arena,
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

static enum store_result memory_settled(struct store *base, uint64_t sequence)
{
    (void)base;
    (void)sequence;
    return STORE_OK;
}

struct memory_cursor {
    struct cursor base;
    struct treap_node *root;
    struct treap_path path;
    size_t end_len;
    char end[];
};

static struct memory_cursor *cursor_of(struct cursor *base)
{
    return (struct memory_cursor *)(void *)base;
}

/* Takes over the caller's hold on the root. */
static struct cursor *cursor_new(struct store *base, struct treap_node *root, struct bytes end)
{
    struct memory_cursor *cursor = xmalloc(sizeof *cursor + end.len);

    cursor->base = (struct cursor){ .store = base };
    cursor->root = root;
    cursor->path.depth = 0;
    cursor->end_len = end.len;
    memcpy(cursor->end, end.ptr, end.len);
    return &cursor->base;
}

static struct cursor *memory_scan_cursor(struct snapshot *base, struct bytes end,
                                         enum scan_kind kind)
{
    const struct memory_snapshot *snapshot = (const struct memory_snapshot *)(void *)base;

    (void)kind; /* all is in memory */
    assert(!snapshot->spent);
    return cursor_new(base->store, treap_hold(snapshot->root), end);
}

struct cursor *memory_root_cursor(struct store *base, struct treap_node *root,
                                  const struct guid *space, struct bytes end)
{
    if (!memory_space_is_dropped(root, space))
        return cursor_new(base, root, end);
    treap_release(root);
    return NULL;
}

static struct cursor *memory_space_cursor(struct store *base, const struct guid *space,
                                          struct bytes end, struct store_access access,
                                          uint64_t *ret_sequence)
{
    struct memory_store *store = store_of(base);
    struct treap_node *root;

    (void)access;
    lock_take(&store->lock);
    root = treap_hold(store->root);
    *ret_sequence = store->sequence;
    lock_give(&store->lock);
    return memory_root_cursor(base, root, space, end);
}

static struct cursor *memory_row_cursor(struct store *base, struct bytes end)
{
    struct memory_store *store = store_of(base);
    struct treap_node *root;

    lock_take(&store->lock);
    root = treap_hold(store->root);
    lock_give(&store->lock);
    return cursor_new(base, root, end);
}

/* Shows what the path stands on, if it is below the end. */
static enum store_result cursor_show(struct memory_cursor *cursor)
{
    struct bytes key, value;

    if (!treap_at(&cursor->path, &key, &value) ||
        bytes_compare(key, bytes_of(cursor->end, cursor->end_len)) >= 0) {
        cursor->path.depth = 0;
        return STORE_NOT_FOUND;
    }
    cursor->base.key = key;
    cursor->base.value = value;
    return STORE_OK;
}

static enum store_result memory_cursor_seek(struct cursor *base, struct bytes key)
{
    struct memory_cursor *cursor = cursor_of(base);

    treap_seek(&cursor->path, cursor->root, key);
    return cursor_show(cursor);
}

static enum store_result memory_cursor_next(struct cursor *base)
{
    struct memory_cursor *cursor = cursor_of(base);

    assert(cursor->path.depth <= TREE_DEPTH_MAX);
    if (cursor->path.depth > 0)
        treap_next(&cursor->path);
    return cursor_show(cursor);
}

static void memory_cursor_close(struct cursor *base)
{
    struct memory_cursor *cursor = cursor_of(base);

    treap_release(cursor->root);
    free(cursor);
}

/* Nothing waits to be collected: that is done by the commit, snapshot or stage that ends a use. */
static void memory_collect_now(struct store *base, struct store_usage *ret_usage)
{
    struct memory_store *store = store_of(base);

    lock_take(&store->lock);
    *ret_usage = store->pieces.usage;
    lock_give(&store->lock);
}

static const struct store_operations memory_operations = {
    .close = memory_close,
    .healthy = memory_healthy,
    .limits = memory_limits,
    .snapshot_open = memory_snapshot_open,
    .snapshot_close = memory_snapshot_close,
    .snapshot_is_newest = memory_snapshot_is_newest,
    .snapshot_hold = local_snapshot_hold,
    .get = memory_get,
    .commit = memory_commit,
    .wait_durable = memory_wait_durable,
    .settled = memory_settled,
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
    store->random |= 1; /* never 0, from where the generator does not move */
    memory_pieces_init(&store->pieces);
    return &store->base;
}
