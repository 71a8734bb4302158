/* Reads the memory store: snapshots of a partition, and cursors over a root that they hold. */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

void memory_snapshot_look(struct memory_snapshot *snapshot)
{
    snapshot->version = memory_partition_version(snapshot->root, snapshot->base.prefix);
    snapshot->base.gone = memory_space_is_dropped(snapshot->root, &snapshot->base.space);
    snapshot->base.sequence = snapshot->version > 0 ? snapshot->version : snapshot->seen;
    assert(snapshot->base.sequence <= snapshot->seen);
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

struct cursor *memory_scan_cursor(struct snapshot *base, struct bytes end, enum scan_kind kind)
{
    const struct memory_snapshot *snapshot = (const struct memory_snapshot *)(void *)base;

    (void)kind; /* everything is in memory */
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

struct cursor *memory_space_cursor(struct store *base, const struct guid *space, struct bytes end,
                                   struct store_access access, uint64_t *ret_sequence)
{
    struct memory_store *store = (struct memory_store *)(void *)base;
    struct treap_node *root;

    (void)access;
    lock_take(&store->lock);
    root = treap_hold(store->root);
    *ret_sequence = store->sequence;
    lock_give(&store->lock);
    return memory_root_cursor(base, root, space, end);
}

struct cursor *memory_row_cursor(struct store *base, struct bytes end)
{
    struct memory_store *store = (struct memory_store *)(void *)base;
    struct treap_node *root;

    lock_take(&store->lock);
    root = treap_hold(store->root);
    lock_give(&store->lock);
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
