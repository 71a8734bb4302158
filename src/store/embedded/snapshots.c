/* Snapshots, views and stripes. */
#include "store/embedded/snapshots.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

struct view {
    const rocksdb_snapshot_t *state;
    rocksdb_readoptions_t *read;
    size_t holders;             /* snapshots; under the stripe's lock */
    struct view *older, *newer; /* of the stripe; under its lock */
    struct freed *freed;        /* what this view sees, and no newer one; under the stripe's lock */
    uint64_t frontier;          /* pieces at or behind it are not seen; extents_frontier() */
};

struct stripe *stripes_new(void)
{
    struct stripe *stripes = xcalloc(STRIPES, sizeof stripes[0]);

    for (size_t i = 0; i < STRIPES; i++)
        lock_init(&stripes[i].lock, RANK_PARTITION);
    return stripes;
}

void stripes_free(struct stripe *stripes)
{
    for (size_t i = 0; i < STRIPES; i++) {
        assert(!stripes[i].first && !stripes[i].newest_view);
        record_cache_empty(&stripes[i].cache);
        lock_release(&stripes[i].lock);
    }
    free(stripes);
}

uint32_t partition_hash(struct bytes partition_prefix)
{
    /* The first byte tells the family. */
    return crc32c(0, partition_prefix.ptr + 1, partition_prefix.len - 1);
}

bool snapshot_is_old(const struct embedded_snapshot *snapshot)
{
    const struct stripe *stripe = snapshot->stripe;
    uint64_t changed =
        snapshot->hash == stripe->newest_hash ? stripe->sequence : stripe->other_sequence;

    return changed > snapshot->snapshot.sequence;
}

void stripe_changed(struct stripe *stripe, uint32_t hash, uint64_t sequence)
{
    if (hash != stripe->newest_hash)
        stripe->other_sequence = stripe->sequence;
    stripe->newest_hash = hash;
    stripe->sequence = sequence;
    record_cache_empty(&stripe->cache);
}

static void enter_list(struct embedded_snapshot *snapshot)
{
    struct stripe *stripe = snapshot->stripe;

    snapshot->next = stripe->first;
    if (stripe->first)
        stripe->first->previous = snapshot;
    stripe->first = snapshot;
}

static void leave_list(struct embedded_snapshot *snapshot)
{
    if (snapshot->previous)
        snapshot->previous->next = snapshot->next;
    else
        snapshot->stripe->first = snapshot->next;
    if (snapshot->next)
        snapshot->next->previous = snapshot->previous;
}

struct snapshot *embedded_snapshot_open(struct store *store, struct partition partition)
{
    struct embedded *embedded = embedded_of(store);
    struct embedded_snapshot *snapshot;
    struct stripe *stripe;
    uint64_t dropped_at;
    struct key prefix;
    uint32_t hash;

    key_init(&prefix);
    key_set_partition(&prefix, RECORD_LISTED, partition);
    hash = partition_hash(key_bytes(&prefix));
    stripe = stripe_of(embedded->stripes, hash);
    snapshot = xmalloc(sizeof *snapshot + prefix.len);
    *snapshot = (struct embedded_snapshot){ .stripe = stripe, .hash = hash };
    memcpy(snapshot->prefix, prefix.ptr, prefix.len);
    snapshot->snapshot = (struct snapshot){
        .store = store,
        .space = partition.space,
        .prefix = { snapshot->prefix, prefix.len },
    };
    key_release(&prefix);

    spaces_enter(&embedded->spaces, &partition.space);
    dropped_at = spaces_dropped_at(&embedded->spaces, &partition.space);
    snapshot->snapshot.gone = dropped_at > 0;
    lock_take(&stripe->lock);
    snapshot->snapshot.sequence = stripe->sequence > dropped_at ? stripe->sequence : dropped_at;
    snapshot->snapshot.newest =
        stripe->newest > embedded->newest_at_start ? stripe->newest : embedded->newest_at_start;
    snapshot->frontier = extents_frontier(&embedded->extents);
    enter_list(snapshot);
    lock_give(&stripe->lock);
    spaces_leave(&embedded->spaces, &partition.space);
    return &snapshot->snapshot;
}

/* Pieces lie in the order in which their places were given out, so those that a snapshot can see lie
 * before the frontier of the time when it was opened. */
static bool view_sees(const struct view *view, const struct freed *freed)
{
    return extents_place(freed->pieces[0].extent, freed->pieces[0].offset) < view->frontier;
}

/* Hangs what was freed on the newest view from `view` on that sees it. False: none does. Under the
 * lock. */
static bool keep_freed(struct view *view, struct freed *freed)
{
    while (view && !view_sees(view, freed))
        view = view->older;
    if (!view)
        return false;
    freed->next = view->freed;
    view->freed = freed;
    return true;
}

/* What an older view sees too waits for that one. Leaves what nobody sees. Under the lock. */
static void pass_freed_on(struct view *view)
{
    struct freed *unseen = NULL;

    while (view->freed) {
        struct freed *freed = view->freed;

        view->freed = freed->next;
        if (keep_freed(view->older, freed))
            continue;
        freed->next = unseen;
        unseen = freed;
    }
    view->freed = unseen;
}

/* One holder less. True when there is none left: the view is the caller's, to be freed. Under the
 * lock. */
static bool release_view(struct stripe *stripe, struct view *view)
{
    assert(view->holders > 0);
    if (--view->holders > 0)
        return false;
    pass_freed_on(view);
    if (view->newer)
        view->newer->older = view->older;
    else
        stripe->newest_view = view->older;
    if (view->older)
        view->older->newer = view->newer;
    return true;
}

static void free_view(struct embedded *embedded, struct view *view)
{
    rocksdb_readoptions_destroy(view->read);
    rocksdb_release_snapshot(embedded->keyspace.db, view->state);
    reclaim_add(&embedded->reclaim, view->freed);
    free(view);
}

void embedded_snapshot_close(struct snapshot *base)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    struct stripe *stripe = snapshot->stripe;
    struct view *view;
    bool was_last = false;

    lock_take(&stripe->lock);
    view = atomic_load(&snapshot->view);
    if (view)
        was_last = release_view(stripe, view);
    else if (!snapshot->spent)
        leave_list(snapshot);
    lock_give(&stripe->lock);
    if (was_last)
        free_view(embedded_of(base->store), view);
    free(snapshot);
}

/* Of the view, or of the newest state. */
static const rocksdb_readoptions_t *snapshot_read_options(const struct embedded_snapshot *snapshot)
{
    struct view *view = atomic_load(&snapshot->view);

    assert(!snapshot->spent);
    return view ? view->read : embedded_of(snapshot->snapshot.store)->keyspace.read;
}

const rocksdb_snapshot_t *snapshot_state(const struct embedded_snapshot *snapshot)
{
    struct view *view = atomic_load(&snapshot->view);

    assert(!snapshot->spent);
    return view ? view->state : NULL;
}

static enum store_result read_value(struct bytes key, struct bytes value, struct arena *arena,
                                    struct record *ret_record)
{
    enum store_result result = record_value_read(value, arena, ret_record);

    if (result)
        log_line(LOG_ERROR, "store: a record with a key of %zu bytes is damaged", key.len);
    return result;
}

/* STORE_NOT_FOUND: not cached, or the stripe has changed since the snapshot. */
static enum store_result get_cached(struct embedded_snapshot *snapshot, struct bytes key,
                                    struct arena *arena, struct record *ret_record)
{
    struct stripe *stripe = snapshot->stripe;
    enum store_result result = STORE_NOT_FOUND;

    lock_take(&stripe->lock);
    if (!atomic_load(&snapshot->view)) {
        struct bytes value = record_cache_find(&stripe->cache, key);

        if (value.ptr)
            result = read_value(key, value, arena, ret_record);
    }
    lock_give(&stripe->lock);
    return result;
}

static void cache(struct embedded_snapshot *snapshot, struct bytes key, struct bytes value)
{
    struct stripe *stripe = snapshot->stripe;

    if (key.len + value.len > CACHED_BYTES_MAX)
        return;
    lock_take(&stripe->lock);
    if (!atomic_load(&snapshot->view))
        record_cache_add(&stripe->cache, key, value);
    lock_give(&stripe->lock);
}

/* From RocksDB. A reader that has got a view meanwhile may have read something newer than its
 * snapshot: it reads again, in the view. */
static enum store_result get_stored(struct embedded_snapshot *snapshot, struct bytes key,
                                    rocksdb_pinnableslice_t **ret_value)
{
    struct keyspace *keyspace = &embedded_of(snapshot->snapshot.store)->keyspace;
    const rocksdb_readoptions_t *read = snapshot_read_options(snapshot);
    enum store_result result = keyspace_get(keyspace, read, key, ret_value);

    if (snapshot_read_options(snapshot) == read)
        return result;
    rocksdb_pinnableslice_destroy(*ret_value);
    return keyspace_get(keyspace, snapshot_read_options(snapshot), key, ret_value);
}

enum store_result embedded_get(struct snapshot *base, struct bytes key, struct arena *arena,
                               struct record *ret_record)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    rocksdb_pinnableslice_t *slice = NULL;
    enum store_result result = get_cached(snapshot, key, arena, ret_record);
    struct bytes value;

    if (result != STORE_NOT_FOUND)
        return result;
    result = get_stored(snapshot, key, &slice);
    if (result)
        return result;
    value.ptr = rocksdb_pinnableslice_value(slice, &value.len);
    cache(snapshot, key, value);
    result = read_value(key, value, arena, ret_record);
    rocksdb_pinnableslice_destroy(slice);
    return result;
}

void stripe_before_write(struct embedded *embedded, struct stripe *stripe,
                         struct embedded_snapshot *own)
{
    struct view *view;

    if (own) {
        assert(!own->spent);
        own->spent = true;
        /* It has a view already when another partition of the stripe has changed. */
        if (!atomic_load(&own->view))
            leave_list(own);
    }
    if (!stripe->first)
        return;
    view = xcalloc(1, sizeof *view);
    view->state = rocksdb_create_snapshot(embedded->keyspace.db);
    view->read = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(view->read, 1);
    rocksdb_readoptions_set_snapshot(view->read, view->state);
    for (struct embedded_snapshot *s = stripe->first, *next; s; s = next) {
        next = s->next;
        s->next = s->previous = NULL;
        view->holders++;
        if (s->frontier > view->frontier)
            view->frontier = s->frontier;
        atomic_store(&s->view, view);
    }
    stripe->first = NULL;
    view->older = stripe->newest_view;
    if (view->older)
        view->older->newer = view;
    stripe->newest_view = view;
}

bool stripe_keep_freed(struct stripe *stripe, struct freed *freed)
{
    return keep_freed(stripe->newest_view, freed);
}
