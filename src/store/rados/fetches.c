/* What is fetched for readers that do not wait: views and walks are kept from one repetition of a decision to
 * the next, so that it reads on where it was, in the same state. */
#include <assert.h>
#include <stdlib.h>

#include "store/rados/patience.h"
#include "store/rados/rados_private.h"

struct kept {
    struct kept *next;
    struct view *view; /* or */
    struct walk *walk;
    bool is_afresh; /* a view that was asked for as such */
    bool is_taken;  /* and in this repetition it has been given */
};

struct rados_fetches {
    struct fetch_set base;
    struct kept *kept;
    /* Both shared: who goes on reading may find that it has come, and its owner drops it then. */
    struct arrival *awaited; /* of something kept; NULL: nothing is being fetched */
    struct arrival *waited;  /* that was waited for last; or NULL */
    bool rests;              /* the reader was given a view ahead */
    bool is_late;            /* and that of a commit that may have been applied by then */
    bool was_late;           /* so was one before: the next that would be is given none */
    bool reads_applied; /* the reader reads what has no states ahead: it is given no view ahead */
};

static struct rados_fetches *fetches_of(struct fetch_set *set)
{
    return (struct rados_fetches *)(void *)set;
}

struct fetch_set *rados_fetch_set_open(struct store *base)
{
    struct rados_fetches *fetches = xcalloc(1, sizeof *fetches);

    fetches->base.store = base;
    return &fetches->base;
}

static void drop(struct arrival **arrival)
{
    arrival_drop(*arrival);
    *arrival = NULL;
}

static void forget(struct rados_fetches *fetches)
{
    while (fetches->kept) {
        struct kept *kept = fetches->kept;

        fetches->kept = kept->next;
        view_close(kept->view);
        walk_close(kept->walk);
        free(kept);
    }
    drop(&fetches->awaited);
    drop(&fetches->waited);
}

void rados_fetch_set_close(struct fetch_set *set)
{
    forget(fetches_of(set));
    free(set);
}

void rados_fetch_set_begin(struct fetch_set *set, bool is_repetition)
{
    struct rados_fetches *fetches = fetches_of(set);

    if (!is_repetition) {
        forget(fetches);
        fetches->was_late = fetches->was_late || fetches->is_late;
        fetches->rests = fetches->is_late = false;
    }
    for (struct kept *kept = fetches->kept; kept; kept = kept->next)
        kept->is_taken = false;
    drop(&fetches->awaited);
}

bool rados_fetch_set_wait(struct fetch_set *set, struct waiter *waiter)
{
    struct rados_fetches *fetches = fetches_of(set);

    if (!fetches->awaited)
        return false;
    drop(&fetches->waited);
    fetches->waited = fetches->awaited;
    fetches->awaited = NULL;
    patience_wait(rados_of(set->store)->patience, fetches->waited, waiter);
    return true;
}

static void keep(struct rados_fetches *fetches, struct view *view, struct walk *walk)
{
    struct kept *kept = xcalloc(1, sizeof *kept);

    *kept = (struct kept){ .next = fetches->kept, .view = view, .walk = walk };
    fetches->kept = kept;
}

static bool is_view_of(const struct kept *kept, const struct partition *partition, bool is_afresh)
{
    const struct partition *its = kept->view ? view_partition(kept->view) : NULL;

    return its && kept->is_afresh == is_afresh && guid_equal(&its->space, &partition->space) &&
           bytes_equal(its->key, partition->key);
}

/* The one that all readers of the partition share, unless they ask for it afresh; NULL: none yet. */
static struct view *shared_view(const struct rados_fetches *fetches,
                                const struct partition *partition)
{
    struct kept *kept = fetches->kept;

    while (kept && !is_view_of(kept, partition, false))
        kept = kept->next;
    return kept ? view_share(kept->view) : NULL;
}

/* The oldest of those that were asked for afresh, and that this repetition has not come to yet; NULL: none. */
static struct kept *next_afresh(const struct rados_fetches *fetches,
                                const struct partition *partition)
{
    struct kept *next = NULL;

    for (struct kept *kept = fetches->kept; kept; kept = kept->next)
        if (!kept->is_taken && is_view_of(kept, partition, true))
            next = kept;
    return next;
}

struct view *rados_fetch_view(struct rados *rados, struct store_access access,
                              const struct partition *partition)
{
    struct rados_fetches *fetches = access.fetches ? fetches_of(access.fetches) : NULL;
    struct view *view = fetches ? shared_view(fetches, partition) : NULL;

    if (view)
        return view;
    view = view_open(rados->shards, partition);
    if (fetches)
        keep(fetches, view_share(view), NULL);
    return view;
}

struct view *rados_fetch_afresh(struct rados *rados, struct store_access access,
                                const struct partition *partition)
{
    struct rados_fetches *fetches = access.fetches ? fetches_of(access.fetches) : NULL;
    struct kept *kept = fetches ? next_afresh(fetches, partition) : NULL;

    if (!fetches)
        return view_open(rados->shards, partition);
    if (!kept) {
        keep(fetches, view_open(rados->shards, partition), NULL);
        kept = fetches->kept;
        kept->is_afresh = true;
    }
    kept->is_taken = true;
    return view_share(kept->view);
}

struct view *rados_fetched_ahead(struct store_access access)
{
    struct kept *kept = access.fetches ? fetches_of(access.fetches)->kept : NULL;

    while (kept && !(kept->view && view_link(kept->view)))
        kept = kept->next;
    return kept ? kept->view : NULL;
}

bool rados_fetch_applied(struct store_access access)
{
    if (!access.fetches || !rados_fetched_ahead(access))
        return true;
    fetches_of(access.fetches)->reads_applied = true;
    return false;
}

bool rados_fetch_rests(struct store_access access)
{
    return access.fetches && fetches_of(access.fetches)->rests;
}

bool rados_fetch_is_late(struct store_access access)
{
    return fetches_of(access.fetches)->is_late;
}

static struct view *drop_view(struct view *view)
{
    view_close(view);
    return NULL;
}

struct view *rados_fetch_pending(struct rados *rados, struct store_access access,
                                 const struct partition *partition)
{
    struct rados_fetches *fetches = fetches_of(access.fetches);
    struct view *view = shared_view(fetches, partition);

    if (view)
        return view;
    view = fetches->reads_applied || rados_fetched_ahead(access)
               ? NULL
               : pending_view(rados->pending, partition);
    if (view && shard_link_is_sent(view_link(view))) {
        fetches->is_late = !fetches->was_late;
        if (fetches->was_late)
            view = drop_view(view);
    }
    fetches->was_late = false;
    fetches->rests = fetches->rests || view;
    if (!view) {
        view = view_open(rados->shards, partition);
        view_read_much(view);
    }
    keep(fetches, view_share(view), NULL);
    return view;
}

void rados_forget_view(struct store_access access, struct view *view)
{
    if (!access.fetches)
        return;
    for (struct kept **at = &fetches_of(access.fetches)->kept; *at; at = &(*at)->next) {
        struct kept *kept = *at;

        if (kept->view != view)
            continue;
        *at = kept->next;
        view_close(view);
        free(kept);
        return;
    }
}

struct walk *rados_fetch_walk(struct rados *rados, struct store_access access,
                              const struct guid *space, enum walk_kind kind)
{
    struct rados_fetches *fetches = access.fetches ? fetches_of(access.fetches) : NULL;
    struct walk *walk;

    for (struct kept *kept = fetches ? fetches->kept : NULL; kept; kept = kept->next)
        if (kept->walk && walk_is_of(kept->walk, space, kind))
            return walk_share(kept->walk);
    walk = walk_open(rados->shards, space, kind);
    if (fetches)
        keep(fetches, NULL, walk_share(walk));
    return walk;
}

enum store_result rados_await(struct store_access access, struct arrival *arrival)
{
    struct rados_fetches *fetches;

    if (access.may_block) {
        arrival_block(arrival);
        return STORE_OK;
    }
    assert(access.fetches);
    fetches = fetches_of(access.fetches);
    if (fetches->waited == arrival) /* it has not come in all that time */
        return STORE_SHORTAGE;
    drop(&fetches->awaited);
    fetches->awaited = arrival_share(arrival);
    return STORE_WAIT;
}
