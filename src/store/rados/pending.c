#include "store/rados/pending.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/crc.h"
#include "base/lock.h"

#define BUCKETS 1024u

struct entry {
    struct entry *next; /* in its bucket */
    struct partition partition;
    struct view *view; /* NULL: nobody is to be given one */
    uint64_t apart;    /* sequence of the newest commit that stands apart; 0: none */
    bool is_kept;      /* its commit has ended; then it is in this list: */
    struct entry *older, *newer;
    uint64_t kept_ms;
    size_t bytes;
    char key[];
};

struct pending {
    struct lock lock;
    struct entry *buckets[BUCKETS]; /* under lock; so all below */
    struct entry *oldest, *newest;  /* that are kept */
    unsigned kept;
    size_t kept_bytes;
};

struct pending *pending_new(void)
{
    struct pending *pending = xcalloc(1, sizeof *pending);

    lock_init(&pending->lock, RANK_PARTITION);
    return pending;
}

static struct view *take_oldest(struct pending *pending, bool is_all);

void pending_free(struct pending *pending)
{
    struct view *view;

    while ((view = take_oldest(pending, true)))
        view_close(view);
    for (unsigned i = 0; i < BUCKETS; i++)
        assert(!pending->buckets[i]);
    lock_release(&pending->lock);
    free(pending);
}

/* The place of the partition's entry: NULL is there if it has none. Under the lock. */
static struct entry **find(struct pending *pending, const struct partition *partition)
{
    uint32_t hash = crc32c(crc32c(0, partition->space.b, sizeof partition->space.b),
                           partition->key.ptr, partition->key.len);
    struct entry **at = &pending->buckets[hash % BUCKETS];

    lock_assert_held(&pending->lock);
    for (; *at; at = &(*at)->next) {
        const struct partition *its = &(*at)->partition;

        if (guid_equal(&its->space, &partition->space) && bytes_equal(its->key, partition->key))
            break;
    }
    return at;
}

/* Under the lock. */
static struct entry *find_or_add(struct pending *pending, const struct partition *partition)
{
    struct entry **at = find(pending, partition);
    struct entry *entry = *at;

    if (entry)
        return entry;
    entry = *at = xcalloc(1, sizeof *entry + partition->key.len);
    if (partition->key.len > 0)
        memcpy(entry->key, partition->key.ptr, partition->key.len);
    entry->partition =
        (struct partition){ partition->space, bytes_of(entry->key, partition->key.len) };
    return entry;
}

/* Under the lock. */
static void keep(struct pending *pending, struct entry *entry)
{
    entry->is_kept = true;
    entry->kept_ms = clock_monotonic_ms();
    entry->bytes = view_bytes(entry->view);
    entry->newer = NULL;
    entry->older = pending->newest;
    *(entry->older ? &entry->older->newer : &pending->oldest) = entry;
    pending->newest = entry;
    pending->kept++;
    pending->kept_bytes += entry->bytes;
}

/* What it had is no longer only kept. Under the lock. */
static void unkeep(struct pending *pending, struct entry *entry)
{
    lock_assert_held(&pending->lock);
    if (!entry->is_kept)
        return;
    entry->is_kept = false;
    *(entry->older ? &entry->older->newer : &pending->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &pending->newest) = entry->older;
    pending->kept--;
    pending->kept_bytes -= entry->bytes;
}

/* Takes the view out, and the entry if there is nothing else in it. Under the lock. */
static struct view *take_view(struct pending *pending, struct entry **at)
{
    struct entry *entry = *at;
    struct view *view = entry->view;

    unkeep(pending, entry);
    entry->view = NULL;
    if (entry->apart == 0) {
        *at = entry->next;
        free(entry);
    }
    return view;
}

/* The oldest one that is kept, if it is too old, or they are too many; is_all: in any case. */
static struct view *take_oldest(struct pending *pending, bool is_all)
{
    struct view *view = NULL;
    const struct entry *entry;

    lock_take(&pending->lock);
    entry = pending->oldest;
    if (entry &&
        (is_all || pending->kept > PENDING_KEPT_MAX || pending->kept_bytes > PENDING_KEPT_BYTES ||
         clock_monotonic_ms() - entry->kept_ms > PENDING_KEPT_MS))
        view = take_view(pending, find(pending, &entry->partition));
    lock_give(&pending->lock);
    return view;
}

struct view *pending_view(struct pending *pending, const struct partition *partition)
{
    const struct entry *entry;
    struct view *view, *old;

    while ((old = take_oldest(pending, false)))
        view_close(old);
    lock_take(&pending->lock);
    entry = *find(pending, partition);
    view = entry && entry->view ? view_share(entry->view) : NULL;
    lock_give(&pending->lock);
    return view;
}

void pending_seen(struct pending *pending, const struct view *seen)
{
    struct view *over = NULL;
    struct entry **at;

    lock_take(&pending->lock);
    at = find(pending, view_partition(seen));
    if (*at && (*at)->is_kept && view_header((*at)->view)->version < view_header(seen)->version)
        over = take_view(pending, at);
    lock_give(&pending->lock);
    view_close(over);
}

/* What a commit that was decided on `before` rests on, where the newest state is this; false: it comes too late. */
static bool rests_on(const struct view *before, const struct view *newest,
                     struct shard_link **ret_link)
{
    struct shard_link *link = view_link(before);

    *ret_link = link;
    if (link && shard_link_result(link) == STORE_CONFLICT)
        return false;
    if (link)
        return newest ? view_link(newest) == link : shard_link_result(link) == STORE_OK;
    if (!newest)
        return true;
    /* It was read. That of the newest commit may have been, just before the commit's own end. */
    if (partition_header_equal(view_header(before), view_header(newest)))
        *ret_link = view_link(newest);
    return view_header(before)->version >= view_header(newest)->version;
}

enum pending_added pending_add(struct pending *pending, const struct view *before,
                               struct view *after, struct shard_link **ret_rests_on,
                               uint64_t *ret_apart)
{
    struct view *over = NULL;
    struct shard_link *link;
    struct entry *entry;
    enum pending_added added = PENDING_ADDED;

    assert(view_link(after));
    lock_take(&pending->lock);
    entry = *find(pending, view_partition(after));
    assert(!entry || !entry->view || entry->apart == 0);
    if (!rests_on(before, entry ? entry->view : NULL, &link))
        added = PENDING_LATE;
    else if (entry && entry->apart > 0)
        added = PENDING_BEHIND;
    if (added == PENDING_BEHIND) {
        *ret_apart = entry->apart;
    } else if (added == PENDING_ADDED) {
        entry = find_or_add(pending, view_partition(after));
        over = entry->view;
        unkeep(pending, entry);
        entry->view = view_share(after);
        *ret_rests_on = shard_link_hold(link);
    }
    lock_give(&pending->lock);
    view_close(over);
    return added;
}

void pending_end(struct pending *pending, const struct partition *partition,
                 const struct shard_link *link, bool is_kept)
{
    struct view *over = NULL;
    struct entry **at;

    lock_take(&pending->lock);
    at = find(pending, partition);
    if (*at && (*at)->view && view_link((*at)->view) == link) {
        if (is_kept)
            keep(pending, *at);
        else
            over = take_view(pending, at);
    }
    lock_give(&pending->lock);
    view_close(over);
}

void pending_close(struct pending *pending, const struct partition *partition)
{
    struct view *over = NULL;
    struct entry **at;

    lock_take(&pending->lock);
    at = find(pending, partition);
    if (*at)
        over = take_view(pending, at);
    lock_give(&pending->lock);
    view_close(over);
}

void pending_stand_apart(struct pending *pending, const struct partition *partition,
                         uint64_t sequence)
{
    struct view *over;
    struct entry *entry;

    lock_take(&pending->lock);
    entry = find_or_add(pending, partition);
    over = entry->view;
    unkeep(pending, entry);
    entry->view = NULL;
    entry->apart = sequence;
    lock_give(&pending->lock);
    view_close(over);
}

void pending_apart_ended(struct pending *pending, const struct partition *partition,
                         uint64_t sequence)
{
    struct entry **at;

    lock_take(&pending->lock);
    at = find(pending, partition);
    if (*at && (*at)->apart == sequence) {
        (*at)->apart = 0;
        assert(!(*at)->view);
        (void)take_view(pending, at);
    }
    lock_give(&pending->lock);
}
