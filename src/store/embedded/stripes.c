/* See stripes.h. */
#include "store/embedded/stripes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"

struct view {
    const rocksdb_snapshot_t *state; /* NULL means without a snapshot, see stripes_join() */
    rocksdb_readoptions_t *read;
    size_t holders;             /* snapshots, or links; under the stripe's lock */
    struct view *older, *newer; /* of the stripe; under its lock */
    /* pieces that this view sees, and no newer one; under the stripe's lock */
    struct freed *freed;
    uint64_t frontier; /* pieces from here on are not seen; extents_frontier() */
    /* to the views it holds in other stripes; under the stripe's lock */
    struct view_link *links;
};

struct view_link {
    struct view_link *next;
    struct stripe *stripe;
    struct view *view;
};

/* Asserts the links of a view in its stripe. Caller holds the stripe's lock. */
static void assert_view(const struct stripe *stripe, const struct view *view)
{
    lock_assert_held(&stripe->lock);
    assert(!view->older || view->older->newer == view);
    assert(view->newer ? view->newer->older == view : stripe->newest_view == view);
}

/* Caller holds the stripe's lock. */
static void assert_stripe(const struct stripe *stripe)
{
    lock_assert_held(&stripe->lock);
    assert(stripe->other_sequence <= stripe->sequence);
    assert(!stripe->newest_view || !stripe->newest_view->newer);
}

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
        front_free(stripes[i].front);
        lock_destroy(&stripes[i].lock);
    }
    free(stripes);
}

uint32_t partition_hash(struct bytes partition_prefix)
{
    /* The first byte is the family. */
    return crc32c(0, partition_prefix.ptr + 1, partition_prefix.len - 1);
}

static void change_cached(struct record_cache *cache, struct bytes key, struct bytes value)
{
    struct record_set *set = record_set_enter(cache, key);

    record_set_change(set, key, value);
    record_set_leave(set);
}

/* Updates the caches to the newest state. */
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
    assert_stripe(stripe);
    assert(sequence >= stripe->sequence);
    if (hash != stripe->newest_hash)
        stripe->other_sequence = stripe->sequence;
    stripe->newest_hash = hash;
    stripe->sequence = sequence;
    change_kept(embedded, stripe, prefix, changes);
    assert_stripe(stripe);
}

void stripe_all_changed(struct stripe *stripe, uint64_t sequence)
{
    assert_stripe(stripe);
    assert(sequence >= stripe->sequence);
    stripe->sequence = stripe->other_sequence = sequence;
    front_free(stripe->front);
    stripe->front = NULL;
}

/* ---- views ---- */

/* Pieces are ordered by the allocation of their places, so a snapshot sees only pieces before the
 * frontier at its opening. */
static bool view_sees(const struct view *view, const struct freed *freed)
{
    assert(freed->count > 0);
    return extents_place(freed->pieces[0].extent, freed->pieces[0].offset) < view->frontier;
}

/* Attaches freed pieces to the newest view, from `view` on, that sees them. Returns false if none
 * does. Caller holds the lock. */
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

/* Attaches to older views the pieces that they see too. Leaves those that no view sees. Caller
 * holds the lock. */
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

bool view_release(struct stripe *stripe, struct view *view)
{
    assert_view(stripe, view);
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
    assert_stripe(stripe);
    return true;
}

/* Releases the views that a view holds in other stripes; views without holders are added to the
 * list. */
static void release_links(struct view *view, struct view **list)
{
    while (view->links) {
        struct view_link *link = view->links;
        bool was_last;

        view->links = link->next;
        lock_acquire(&link->stripe->lock);
        was_last = view_release(link->stripe, link->view);
        lock_release(&link->stripe->lock);
        if (was_last) {
            link->view->newer = *list;
            *list = link->view;
        }
        free(link);
    }
}

void view_free(struct embedded *embedded, struct view *view)
{
    view->newer = NULL;
    while (view) {
        struct view *next = view->newer;

        assert(view->holders == 0);
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

static struct view *add_newest_view(struct stripe *stripe)
{
    struct view *view = xcalloc(1, sizeof *view);

    view->older = stripe->newest_view;
    if (view->older)
        view->older->newer = view;
    stripe->newest_view = view;
    assert_view(stripe, view);
    return view;
}

struct view *stripe_add_view(struct embedded *embedded, struct stripe *stripe)
{
    struct view *view = add_newest_view(stripe);

    view->state = rocksdb_create_snapshot(embedded->keyspace.db);
    view->read = read_options_new(view->state);
    return view;
}

struct view *view_of_state(const struct store_state *state)
{
    struct view *view = xcalloc(1, sizeof *view);

    view->state = state->snapshot;
    view->read = state->read;
    return view;
}

void view_hold(struct view *view, uint64_t frontier)
{
    view->holders++;
    assert(view->holders > 0);
    if (frontier > view->frontier)
        view->frontier = frontier;
}

const rocksdb_readoptions_t *view_read_options(const struct view *view)
{
    return view->read;
}

const rocksdb_snapshot_t *view_state(const struct view *view)
{
    return view->state;
}

bool stripe_keep_freed(struct stripe *stripe, struct freed *freed)
{
    assert_stripe(stripe);
    assert(!freed->next);
    return keep_freed(stripe->newest_view, freed);
}

/* Creates a view in stripe `to` that sees everything that the views from `from` on see, and lives
 * as long. */
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
        view_hold(joined, from->frontier);
    }
}

void stripes_join(struct stripe **stripes, size_t count)
{
    struct view *before[COMMIT_PARTS_MAX];

    assert(count <= COMMIT_PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_stripe(stripes[i]);
        before[i] = stripes[i]->newest_view;
    }
    for (size_t to = 0; to < count; to++)
        for (size_t from = 0; from < count; from++)
            if (from != to)
                join_view(stripes[to], before[from]);
}

/* Makes another view hold this one until it ends. Under the locks of both stripes. */
static void hold_by(struct stripe *stripe, struct view *view, struct view *from)
{
    struct view_link *link = xcalloc(1, sizeof *link);

    *link = (struct view_link){ from->links, stripe, view };
    from->links = link;
    view_hold(view, from->frontier);
}

/* Makes all views of all stripes hold the given one, of the first stripe, which is locked. */
static void hold_by_all(struct stripe *stripes, struct view *all)
{
    for (struct view *from = all->older; from; from = from->older)
        hold_by(&stripes[0], all, from);
    for (size_t i = 1; i < STRIPES; i++) {
        lock_acquire_next(&stripes[i].lock, &stripes[0].lock);
        for (struct view *from = stripes[i].newest_view; from; from = from->older)
            hold_by(&stripes[0], all, from);
        lock_release(&stripes[i].lock);
    }
}

/* Adds a view to the first stripe that all existing views hold, and to every other stripe one that
 * this view holds: so pieces freed in any of them are retained as long as any current view. */
bool stripes_join_all(struct stripe *stripes, struct freed *freed)
{
    struct view *all;
    bool is_kept;

    lock_acquire(&stripes[0].lock);
    all = add_newest_view(&stripes[0]);
    hold_by_all(stripes, all);
    if (all->holders == 0) {
        assert(!all->older && !all->links);
        stripes[0].newest_view = NULL;
        lock_release(&stripes[0].lock);
        free(all);
        return false;
    }
    for (size_t i = 1; i < STRIPES; i++) {
        lock_acquire_next(&stripes[i].lock, &stripes[0].lock);
        hold_by(&stripes[i], add_newest_view(&stripes[i]), all);
        lock_release(&stripes[i].lock);
    }
    is_kept = freed && stripe_keep_freed(&stripes[0], freed);
    lock_release(&stripes[0].lock);
    return is_kept;
}
