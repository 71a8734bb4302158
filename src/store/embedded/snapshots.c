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
    const rocksdb_snapshot_t *state; /* NULL: of no snapshot here, see stripes_join() */
    rocksdb_readoptions_t *read;
    size_t holders;             /* snapshots, or links; under the stripe's lock */
    struct view *older, *newer; /* of the stripe; under its lock */
    struct freed *freed;        /* what this view sees, and no newer one; under the stripe's lock */
    uint64_t frontier;          /* pieces at or behind it are not seen; extents_frontier() */
    struct view_link *links;    /* to what it holds in other stripes; under the stripe's lock */
};

struct view_link {
    struct view_link *next;
    struct stripe *stripe;
    struct view *view;
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
        if (stripes[i].front)
            front_empty(stripes[i].front);
        free(stripes[i].front);
        lock_release(&stripes[i].lock);
    }
    free(stripes);
}

uint32_t partition_hash(struct bytes partition_prefix)
{
    /* The first byte is the family. */
    return crc32c(0, partition_prefix.ptr + 1, partition_prefix.len - 1);
}

bool snapshot_is_old(const struct embedded_snapshot *snapshot)
{
    const struct stripe *stripe = snapshot->stripe;
    uint64_t changed =
        snapshot->hash == stripe->newest_hash ? stripe->sequence : stripe->other_sequence;

    return changed > snapshot->snapshot.sequence;
}

static void change_cached(struct record_cache *cache, struct bytes key, struct bytes value)
{
    struct record_set *set = record_set_enter(cache, key);

    record_set_change(set, key, value);
    record_set_leave(set);
}

/* What is kept in memory is of the newest state again. */
static void change_kept(struct embedded *embedded, struct stripe *stripe, struct bytes prefix,
                        const struct changes *changes)
{
    struct key key;

    key_init(&key);
    for (const struct change *c = changes_first(changes); c; c = c->next) {
        struct bytes value = c->is_delete ? bytes_of(NULL, 0) : c->value;

        key_set_record(&key, c->family, prefix, c->key);
        change_cached(embedded->records, key_bytes(&key), value);
        if (stripe->front)
            front_change(stripe->front, key_bytes(&key), value);
    }
    key_release(&key);
}

void stripe_changed(struct embedded *embedded, struct stripe *stripe, uint32_t hash,
                    uint64_t sequence, struct bytes prefix, const struct changes *changes)
{
    if (hash != stripe->newest_hash)
        stripe->other_sequence = stripe->sequence;
    stripe->newest_hash = hash;
    stripe->sequence = sequence;
    change_kept(embedded, stripe, prefix, changes);
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

struct snapshot *embedded_snapshot_open(struct store *store, struct partition partition,
                                        enum snapshot_kind kind)
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
    snapshot->round = atomic_load(&embedded->spaces.round);
    lock_take(&stripe->lock);
    snapshot->snapshot.sequence = stripe->sequence > dropped_at ? stripe->sequence : dropped_at;
    snapshot->snapshot.newest =
        stripe->newest > embedded->newest_at_start ? stripe->newest : embedded->newest_at_start;
    snapshot->frontier = extents_frontier(&embedded->extents);
    if (kind == SNAPSHOT_OWNER)
        snapshot->seen = keyspace_sequence(&embedded->keyspace);
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

/* Takes one holder away. True when there is none left: the view is the caller's, to be freed. Under
 * the lock. */
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

/* Releases what a view holds in other stripes; what nobody holds then is put on the list. */
static void release_links(struct view *view, struct view **list)
{
    while (view->links) {
        struct view_link *link = view->links;
        bool was_last;

        view->links = link->next;
        lock_take(&link->stripe->lock);
        was_last = release_view(link->stripe, link->view);
        lock_give(&link->stripe->lock);
        if (was_last) {
            link->view->newer = *list;
            *list = link->view;
        }
        free(link);
    }
}

/* Without a lock. */
static void free_view(struct embedded *embedded, struct view *view)
{
    view->newer = NULL;
    while (view) {
        struct view *next = view->newer;

        release_links(view, &next);
        if (view->state) {
            rocksdb_readoptions_destroy(view->read);
            rocksdb_release_snapshot(embedded->keyspace.db, view->state);
        }
        reclaim_add(&embedded->reclaim, view->freed);
        free(view);
        view = next;
    }
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
    return view ? view->read : embedded_of(snapshot->snapshot.store)->keyspace.newest;
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

/* What is kept of a record: its value, or that there is none (value.ptr NULL). */
static enum store_result read_kept(struct bytes key, struct bytes value, struct arena *arena,
                                   struct record *ret_record)
{
    return value.ptr ? read_value(key, value, arena, ret_record) : STORE_NOT_FOUND;
}

/* Under the stripe's lock. False: it is not cached. */
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

/* Under the stripe's lock. False: it is not known to lie at the front, or not to. */
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

bool snapshot_get_kept(struct embedded_snapshot *snapshot, struct bytes key, struct arena *arena,
                       struct record *ret_record, enum store_result *ret_result)
{
    struct record_cache *cache = embedded_of(snapshot->snapshot.store)->records;
    struct stripe *stripe = snapshot->stripe;
    bool found = false;

    lock_take(&stripe->lock);
    if (!atomic_load(&snapshot->view)) {
        found = get_cached(cache, key, arena, ret_record, ret_result);
        if (!found && stripe->front)
            found = get_at_front(stripe->front, key, arena, ret_record, ret_result);
    }
    lock_give(&stripe->lock);
    return found;
}

void snapshot_keep(struct embedded_snapshot *snapshot, struct bytes key, struct bytes value)
{
    struct record_cache *records = embedded_of(snapshot->snapshot.store)->records;
    struct stripe *stripe = snapshot->stripe;

    if (key.len + value.len > CACHED_BYTES_MAX)
        return;
    lock_take(&stripe->lock);
    if (!atomic_load(&snapshot->view)) {
        struct record_set *set = record_set_enter(records, key);

        record_set_add(set, key, value);
        record_set_leave(set);
    }
    lock_give(&stripe->lock);
}

/* From RocksDB. A reader that has got a view meanwhile may have read something newer than its
 * snapshot: it reads again, in the view. */
static enum store_result get_stored(struct embedded_snapshot *snapshot, struct bytes key,
                                    rocksdb_pinnableslice_t **ret_value)
{
    struct keyspace *keyspace = &embedded_of(snapshot->snapshot.store)->keyspace;
    const rocksdb_readoptions_t *read = snapshot_read_options(snapshot);
    enum store_access access = snapshot->snapshot.access;
    enum store_result result = keyspace_get(keyspace, read, access, key, ret_value);

    if (snapshot_read_options(snapshot) == read)
        return result;
    if (!result)
        rocksdb_pinnableslice_destroy(*ret_value);
    return keyspace_get(keyspace, snapshot_read_options(snapshot), access, key, ret_value);
}

enum store_result embedded_get(struct snapshot *base, struct bytes key, struct arena *arena,
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
    snapshot_keep(snapshot, key, value);
    result = read_value(key, value, arena, ret_record);
    rocksdb_pinnableslice_destroy(slice);
    return result;
}

static struct view *add_newest_view(struct stripe *stripe)
{
    struct view *view = xcalloc(1, sizeof *view);

    view->older = stripe->newest_view;
    if (view->older)
        view->older->newer = view;
    stripe->newest_view = view;
    return view;
}

void stripe_give_view(struct embedded *embedded, struct stripe *stripe)
{
    struct embedded_snapshot *list = stripe->first;
    struct view *view = NULL;

    stripe->first = NULL;
    for (struct embedded_snapshot *s = list, *next; s; s = next) {
        next = s->next;
        s->next = s->previous = NULL;
        if (s->committing) {
            enter_list(s);
            continue;
        }
        if (!view) {
            view = add_newest_view(stripe);
            view->state = rocksdb_create_snapshot(embedded->keyspace.db);
            view->read = read_options_new(view->state);
        }
        view->holders++;
        if (s->frontier > view->frontier)
            view->frontier = s->frontier;
        atomic_store(&s->view, view);
    }
}

void snapshot_spend(struct embedded_snapshot *snapshot)
{
    assert(snapshot->committing && !snapshot->spent);
    snapshot->spent = true;
    /* It has a view already when another partition of the stripe has changed. */
    if (!atomic_load(&snapshot->view))
        leave_list(snapshot);
}

bool stripe_keep_freed(struct stripe *stripe, struct freed *freed)
{
    return keep_freed(stripe->newest_view, freed);
}

/* Makes a view in stripe `to` that sees what the views from `from` on see, and lives as long. */
static void join_view(struct stripe *to, struct view *from)
{
    struct view *joined;

    if (!from)
        return;
    joined = add_newest_view(to);
    for (; from; from = from->older) {
        struct view_link *link = xcalloc(1, sizeof *link);

        *link = (struct view_link){ from->links, to, joined };
        from->links = link;
        joined->holders++;
        if (from->frontier > joined->frontier)
            joined->frontier = from->frontier;
    }
}

void stripes_join(struct stripe **stripes, size_t count)
{
    struct view *before[COMMIT_PARTS_MAX];

    assert(count <= COMMIT_PARTS_MAX);
    for (size_t i = 0; i < count; i++)
        before[i] = stripes[i]->newest_view;
    for (size_t to = 0; to < count; to++)
        for (size_t from = 0; from < count; from++)
            if (from != to)
                join_view(stripes[to], before[from]);
}
