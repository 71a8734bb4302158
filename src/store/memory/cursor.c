/* Reads the memory store: snapshots of a partition, cursors over a root that they hold, and frozen
 * states. */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

static struct memory_store *store_of(struct store *base)
{
    return (struct memory_store *)(void *)base;
}

/* ---- snapshots ---- */

/* Sets the public members from the state it shows. Called without the lock. */
static void set_members(struct memory_snapshot *snapshot)
{
    snapshot->version = memory_partition_version(snapshot->root, snapshot->base.prefix);
    snapshot->base.gone = memory_space_is_dropped(snapshot->root, &snapshot->base.space);
    snapshot->base.sequence = snapshot->version > 0 ? snapshot->version : snapshot->seen;
    assert(snapshot->base.sequence <= snapshot->seen);
}

struct read_view *memory_snapshot_open(struct store *base, struct partition partition)
{
    struct memory_store *store = store_of(base);
    struct memory_snapshot *snapshot = memory_snapshot_new(store, partition);

    lock_acquire(&store->lock);
    memory_snapshot_enter(store, snapshot, NULL);
    lock_release(&store->lock);
    set_members(snapshot);
    return &snapshot->base;
}

bool memory_snapshot_is_newest(const struct read_view *base)
{
    const struct memory_snapshot *snapshot = (const struct memory_snapshot *)(const void *)base;
    struct memory_store *store = store_of(base->store);
    bool is_newest;

    lock_acquire(&store->lock);
    is_newest = store->sequence == snapshot->seen;
    lock_release(&store->lock);
    return is_newest;
}

void memory_snapshot_close(struct read_view *base)
{
    struct memory_snapshot *snapshot = (struct memory_snapshot *)(void *)base;
    struct memory_store *store = store_of(base->store);
    struct memory_piece *freed;

    lock_acquire(&store->lock);
    memory_snapshot_leave(store, snapshot);
    freed = memory_collect(store);
    lock_release(&store->lock);

    memory_pieces_free(freed);
    treap_release(snapshot->root);
    free(snapshot);
}

/* ---- cursors ---- */

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

/* Takes over the caller's reference to the root. */
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

struct cursor *memory_scan_cursor(struct read_view *base, struct bytes end, enum scan_kind kind)
{
    const struct memory_snapshot *snapshot = (const struct memory_snapshot *)(void *)base;

    (void)kind; /* everything is in memory */
    assert(!snapshot->spent);
    return cursor_new(base->store, treap_hold(snapshot->root), end);
}

/* Returns a cursor over a space in a root, whose reference it takes over, or NULL if the space is
 * dropped there. */
static struct cursor *root_cursor(struct store *base, struct treap_node *root,
                                  const struct guid *space, struct bytes end)
{
    if (!memory_space_is_dropped(root, space))
        return cursor_new(base, root, end);
    treap_release(root);
    return NULL;
}

struct cursor *memory_space_cursor(struct store *base, const struct guid *space, struct bytes end,
                                   struct store_access access, uint64_t *ret_sequence)
{
    struct memory_store *store = store_of(base);
    struct treap_node *root;

    (void)access;
    lock_acquire(&store->lock);
    root = treap_hold(store->root);
    *ret_sequence = store->sequence;
    lock_release(&store->lock);
    return root_cursor(base, root, space, end);
}

struct cursor *memory_row_cursor(struct store *base, struct bytes end)
{
    struct memory_store *store = store_of(base);
    struct treap_node *root;

    lock_acquire(&store->lock);
    root = treap_hold(store->root);
    lock_release(&store->lock);
    return cursor_new(base, root, end);
}

/* Sets key and value from the current node, if it is below the end. */
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

enum store_result memory_cursor_seek(struct cursor *base, struct bytes key)
{
    struct memory_cursor *cursor = cursor_of(base);

    treap_seek(&cursor->path, cursor->root, key);
    return cursor_show(cursor);
}

enum store_result memory_cursor_next(struct cursor *base)
{
    struct memory_cursor *cursor = cursor_of(base);

    assert(cursor->path.depth <= TREE_DEPTH_MAX);
    if (cursor->path.depth > 0)
        treap_next(&cursor->path);
    return cursor_show(cursor);
}

void memory_cursor_close(struct cursor *base)
{
    struct memory_cursor *cursor = cursor_of(base);

    treap_release(cursor->root);
    free(cursor);
}

/* ---- frozen states, for a lagging view (store/lag.h) ---- */

/* A snapshot of a partition that does not exist. */
struct frozen_state {
    struct memory_snapshot *snapshot;
};

struct frozen_state *memory_freeze(struct store *base, uint64_t *ret_sequence)
{
    static const struct partition nowhere = { .space = { { 0 } }, .key = BYTES("") };
    struct memory_store *store = store_of(base);
    struct frozen_state *frozen = xcalloc(1, sizeof *frozen);

    frozen->snapshot = memory_snapshot_new(store, nowhere);
    lock_acquire(&store->lock);
    memory_snapshot_enter(store, frozen->snapshot, NULL);
    lock_release(&store->lock);
    *ret_sequence = frozen->snapshot->seen;
    return frozen;
}

void memory_thaw(struct store *base, struct frozen_state *frozen)
{
    (void)base;
    memory_snapshot_close(&frozen->snapshot->base);
    free(frozen);
}

struct read_view *memory_frozen_snapshot(struct store *base, struct frozen_state *frozen,
                                         struct partition partition)
{
    struct memory_store *store = store_of(base);
    struct memory_snapshot *snapshot = memory_snapshot_new(store, partition);

    lock_acquire(&store->lock);
    memory_snapshot_enter(store, snapshot, frozen->snapshot);
    lock_release(&store->lock);
    set_members(snapshot);
    return &snapshot->base;
}

struct cursor *memory_frozen_cursor(struct store *base, struct frozen_state *frozen,
                                    const struct guid *space, struct bytes end,
                                    struct store_access access)
{
    (void)access;
    return root_cursor(base, treap_hold(frozen->snapshot->root), space, end);
}

enum store_result memory_frozen_count(struct store *base, struct frozen_state *frozen,
                                      const struct guid *space, struct bytes key,
                                      struct store_access access, int64_t *ret_sum)
{
    (void)base;
    (void)access;
    *ret_sum = memory_count_in(frozen->snapshot->root, space, key);
    return STORE_OK;
}
