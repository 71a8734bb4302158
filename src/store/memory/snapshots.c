/* The open snapshots of the memory store, ordered by sequence: a released piece is freed when no
 * open snapshot is older than its release. */
#include "store/memory/memory_private.h"

#include <assert.h>

#include "store/record_key.h"

struct memory_snapshot *memory_snapshot_new(struct memory_store *store, struct partition partition)
{
    struct memory_snapshot *snapshot;
    struct key key;

    key_init(&key);
    key_set_partition(&key, RECORD_LISTED, partition);
    snapshot = xcalloc(1, sizeof *snapshot + key.len);
    memcpy(snapshot->prefix, key.ptr, key.len);
    snapshot->base.store = &store->base;
    snapshot->base.space = partition.space;
    snapshot->base.prefix = bytes_of(snapshot->prefix, key.len);
    key_release(&key);
    return snapshot;
}

void memory_snapshot_enter(struct memory_store *store, struct memory_snapshot *snapshot,
                           struct memory_snapshot *like)
{
    struct memory_snapshot *older = like ? like : store->newest_snapshot;

    lock_assert_held(&store->lock);
    snapshot->root = treap_hold(like ? like->root : store->root);
    snapshot->seen = like ? like->seen : store->sequence;
    snapshot->base.newest = like ? like->base.newest : store->newest;
    snapshot->older = older;
    snapshot->newer = older ? older->newer : NULL;
    assert(!older || older->seen <= snapshot->seen);
    assert(!snapshot->newer || snapshot->newer->seen >= snapshot->seen);
    if (older)
        older->newer = snapshot;
    else
        store->oldest_snapshot = snapshot;
    if (snapshot->newer)
        snapshot->newer->older = snapshot;
    else
        store->newest_snapshot = snapshot;
}

void memory_snapshot_leave(struct memory_store *store, struct memory_snapshot *snapshot)
{
    lock_assert_held(&store->lock);
    assert(snapshot->older ? snapshot->older->newer == snapshot
                           : store->oldest_snapshot == snapshot);
    assert(snapshot->newer ? snapshot->newer->older == snapshot
                           : store->newest_snapshot == snapshot);
    if (snapshot->older)
        snapshot->older->newer = snapshot->newer;
    else
        store->oldest_snapshot = snapshot->newer;
    if (snapshot->newer)
        snapshot->newer->older = snapshot->older;
    else
        store->newest_snapshot = snapshot->older;
}
