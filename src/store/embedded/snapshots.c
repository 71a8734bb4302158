/* See snapshots.h. */
#include "store/embedded/snapshots.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

/* Asserts the links of a snapshot in its stripe. Caller holds the stripe's lock. */
static void assert_listed(const struct embedded_snapshot *snapshot)
{
    const struct stripe *stripe = snapshot->stripe;

    lock_assert_held(&stripe->lock);
    assert(snapshot->previous ? snapshot->previous->next == snapshot : stripe->first == snapshot);
    assert(!snapshot->next || snapshot->next->previous == snapshot);
}

bool snapshot_is_old(const struct embedded_snapshot *snapshot)
{
    const struct stripe *stripe = snapshot->stripe;
    uint64_t changed =
        snapshot->hash == stripe->newest_hash ? stripe->sequence : stripe->other_sequence;

    lock_assert_held(&stripe->lock);
    return changed > snapshot->snapshot.sequence;
}

static void enter_list(struct embedded_snapshot *snapshot)
{
    struct stripe *stripe = snapshot->stripe;

    snapshot->next = stripe->first;
    if (stripe->first)
        stripe->first->previous = snapshot;
    stripe->first = snapshot;
    assert_listed(snapshot);
}

static void leave_list(struct embedded_snapshot *snapshot)
{
    assert_listed(snapshot);
    if (snapshot->previous)
        snapshot->previous->next = snapshot->next;
    else
        snapshot->stripe->first = snapshot->next;
    if (snapshot->next)
        snapshot->next->previous = snapshot->previous;
}

/* Allocates a snapshot of a partition, with nothing in it. */
static struct embedded_snapshot *snapshot_new(struct store *store, struct partition partition)
{
    struct embedded_snapshot *snapshot;
    struct key prefix;
    uint32_t hash;

    key_init(&prefix);
    key_set_partition(&prefix, RECORD_LISTED, partition);
    hash = partition_hash(key_bytes(&prefix));
    snapshot = xmalloc(sizeof *snapshot + prefix.len);
    *snapshot = (struct embedded_snapshot){
        .stripe = stripe_of(embedded_of(store)->stripes, hash),
        .hash = hash,
    };
    memcpy(snapshot->prefix, prefix.ptr, prefix.len);
    snapshot->snapshot = (struct read_view){
        .store = store,
        .space = partition.space,
        .prefix = { snapshot->prefix, prefix.len },
    };
    key_release(&prefix);
    return snapshot;
}

struct read_view *embedded_snapshot_of_view(struct store *store, struct partition partition,
                                            struct view *view)
{
    struct embedded_snapshot *snapshot = snapshot_new(store, partition);

    snapshot->is_frozen = true;
    atomic_store(&snapshot->view, view);
    return &snapshot->snapshot;
}

struct read_view *embedded_snapshot_open(struct store *store, struct partition partition)
{
    struct embedded *embedded = embedded_of(store);
    struct embedded_snapshot *snapshot = snapshot_new(store, partition);
    struct stripe *stripe = snapshot->stripe;
    uint64_t dropped_at;

    spaces_enter(&embedded->spaces, &partition.space);
    dropped_at = spaces_dropped_at(&embedded->spaces, &partition.space);
    snapshot->snapshot.gone = dropped_at > 0;
    snapshot->round = atomic_load(&embedded->spaces.round);
    lock_acquire(&stripe->lock);
    snapshot->snapshot.sequence = stripe->sequence > dropped_at ? stripe->sequence : dropped_at;
    snapshot->snapshot.newest =
        stripe->newest > embedded->newest_at_start ? stripe->newest : embedded->newest_at_start;
    snapshot->frontier = extents_frontier(&embedded->extents);
    enter_list(snapshot);
    lock_release(&stripe->lock);
    spaces_leave(&embedded->spaces, &partition.space);
    return &snapshot->snapshot;
}

void embedded_snapshot_close(struct read_view *base)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    struct stripe *stripe = snapshot->stripe;
    struct view *view;
    bool was_last = false;

    assert(!snapshot->committing || snapshot->spent);
    if (snapshot->is_frozen) {
        free(snapshot);
        return;
    }
    lock_acquire(&stripe->lock);
    view = atomic_load(&snapshot->view);
    if (view)
        was_last = view_release(stripe, view);
    else if (!snapshot->spent)
        leave_list(snapshot);
    lock_release(&stripe->lock);
    if (was_last)
        view_free(embedded_of(base->store), view);
    free(snapshot);
}

/* A commit gives views to the snapshots of its stripes before it writes, with all its locks held.
 * So when a snapshot is opened after the change, older ones already have a view. */
bool embedded_snapshot_is_newest(const struct read_view *base)
{
    const struct embedded_snapshot *snapshot = (const struct embedded_snapshot *)(const void *)base;

    assert(!snapshot->spent);
    return !atomic_load(&snapshot->view);
}

/* Returns the options for the view, or for the newest state. */
static const rocksdb_readoptions_t *snapshot_read_options(const struct embedded_snapshot *snapshot)
{
    struct view *view = atomic_load(&snapshot->view);

    assert(!snapshot->spent);
    return view ? view_read_options(view) : embedded_of(snapshot->snapshot.store)->keyspace.newest;
}

const rocksdb_snapshot_t *snapshot_state(const struct embedded_snapshot *snapshot)
{
    struct view *view = atomic_load(&snapshot->view);

    assert(!snapshot->spent);
    return view ? view_state(view) : NULL;
}

static enum store_result read_value(struct bytes key, struct bytes value, struct arena *arena,
                                    struct record *ret_record)
{
    enum store_result result = record_value_read(value, arena, ret_record);

    if (result)
        log_line(LOG_ERROR, "store: a record with a key of %zu bytes is corrupt", key.len);
    return result;
}

/* Returns the cached record, or the cached fact that it does not exist (value.ptr NULL). */
static enum store_result read_kept(struct bytes key, struct bytes value, struct arena *arena,
                                   struct record *ret_record)
{
    return value.ptr ? read_value(key, value, arena, ret_record) : STORE_NOT_FOUND;
}

/* Returns false if it is not cached. */
static bool get_cached(struct record_cache *cache, struct bytes key, struct arena *arena,
                       struct record *ret_record, enum store_result *ret_result)
{
    struct record_set *set = record_set_enter(cache, key);
    struct bytes value;
    bool found = record_set_find(set, key, &value);

    if (found)
        *ret_result = read_kept(key, value, arena, ret_record);
    record_set_leave(set);
    return found;
}

/* Caller holds the stripe's lock. Returns false if the cached front does not cover the key. */
static bool get_at_front(const struct front_cache *front, struct bytes key, struct arena *arena,
                         struct record *ret_record, enum store_result *ret_result)
{
    const struct front_record *record;

    switch (front_get(front, key, &record)) {
    case FRONT_HELD:
        *ret_result = read_kept(key, front_value(record), arena, ret_record);
        return true;
    case FRONT_NONE:
        *ret_result = STORE_NOT_FOUND;
        return true;
    case FRONT_UNKNOWN:
        break;
    }
    return false;
}

/* A cached record belongs to the snapshot's state if the snapshot has no view afterwards, because a
 * commit gives views before it updates the cache. The front has no lock of its own. */
bool snapshot_get_kept(struct embedded_snapshot *snapshot, struct bytes key, struct arena *arena,
                       struct record *ret_record, enum store_result *ret_result)
{
    struct record_cache *cache = embedded_of(snapshot->snapshot.store)->records;
    struct stripe *stripe = snapshot->stripe;
    bool found = false;

    if (get_cached(cache, key, arena, ret_record, ret_result))
        return !atomic_load(&snapshot->view);
    lock_acquire(&stripe->lock);
    if (stripe->front && !atomic_load(&snapshot->view))
        found = get_at_front(stripe->front, key, arena, ret_record, ret_result);
    lock_release(&stripe->lock);
    return found;
}

void snapshot_keep(struct embedded_snapshot *snapshot, struct bytes key, struct bytes value)
{
    struct record_cache *records = embedded_of(snapshot->snapshot.store)->records;
    struct stripe *stripe = snapshot->stripe;

    if (key.len + value.len > CACHED_BYTES_MAX)
        return;
    lock_acquire(&stripe->lock);
    if (!atomic_load(&snapshot->view)) {
        struct record_set *set = record_set_enter(records, key);

        record_set_add(set, key, value);
        record_set_leave(set);
    }
    lock_release(&stripe->lock);
}

/* Reads from RocksDB. If the snapshot got a view during the read, the value may be newer than the
 * snapshot, so the read is repeated in the view. */
static enum store_result get_stored(struct embedded_snapshot *snapshot, struct bytes key,
                                    rocksdb_pinnableslice_t **ret_value)
{
    struct keyspace *keyspace = &embedded_of(snapshot->snapshot.store)->keyspace;
    const rocksdb_readoptions_t *read = snapshot_read_options(snapshot);
    struct store_access access = snapshot->snapshot.access;
    enum store_result result = keyspace_get(keyspace, read, access, key, ret_value);

    if (snapshot_read_options(snapshot) == read)
        return result;
    if (!result)
        rocksdb_pinnableslice_destroy(*ret_value);
    return keyspace_get(keyspace, snapshot_read_options(snapshot), access, key, ret_value);
}

enum store_result snapshot_unseal(const struct embedded_snapshot *snapshot, struct bytes key,
                                  struct arena *arena, struct bytes *value)
{
    const struct record_sealer *sealer = embedded_of(snapshot->snapshot.store)->sealer;

    if (!record_is_sealed(sealer, key))
        return STORE_OK;
    if (!record_unseal(sealer, key, *value, arena_bytes(arena, value->len), value))
        return STORE_OK;
    log_line(LOG_ERROR, "store: a record with a key of %zu bytes cannot be decrypted", key.len);
    return STORE_CORRUPT;
}

enum store_result embedded_get(struct read_view *base, struct bytes key, struct arena *arena,
                               struct record *ret_record)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    rocksdb_pinnableslice_t *slice = NULL;
    enum store_result result;
    struct bytes value = { .len = 0 };

    if (snapshot_get_kept(snapshot, key, arena, ret_record, &result))
        return result;
    result = get_stored(snapshot, key, &slice);
    if (result == STORE_NOT_FOUND)
        snapshot_keep(snapshot, key, value);
    if (result)
        return result;
    value.ptr = rocksdb_pinnableslice_value(slice, &value.len);
    result = snapshot_unseal(snapshot, key, arena, &value);
    if (!result) {
        snapshot_keep(snapshot, key, value);
        result = read_value(key, value, arena, ret_record);
    }
    rocksdb_pinnableslice_destroy(slice);
    return result;
}

void stripe_give_view(struct embedded *embedded, struct stripe *stripe)
{
    struct embedded_snapshot *list = stripe->first;
    struct view *view = NULL;

    lock_assert_held(&stripe->lock);
    stripe->first = NULL;
    for (struct embedded_snapshot *s = list, *next; s; s = next) {
        next = s->next;
        s->next = s->previous = NULL;
        if (s->committing) {
            enter_list(s);
            continue;
        }
        if (!view)
            view = stripe_add_view(embedded, stripe);
        view_hold(view, s->frontier);
        assert(!atomic_load(&s->view));
        atomic_store(&s->view, view);
    }
    assert(!stripe->first || stripe->first->committing);
}

void snapshot_spend(struct embedded_snapshot *snapshot)
{
    lock_assert_held(&snapshot->stripe->lock);
    assert(snapshot->committing && !snapshot->spent);
    snapshot->spent = true;
    /* It already has a view if another partition of the stripe has changed. */
    if (!atomic_load(&snapshot->view))
        leave_list(snapshot);
}
