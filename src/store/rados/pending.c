#include "store/rados/pending.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/lock.h"

#define BUCKETS 1024u

struct entry {
    struct entry *next; /* in its bucket */
    struct partition partition;
    struct view *view; /* NULL: nobody is to be given one */
    uint64_t apart;    /* sequence of the newest commit that stands apart; 0: none */
    char key[];
};

struct pending {
    struct lock lock;
    struct entry *buckets[BUCKETS]; /* under lock */
};

struct pending *pending_new(void)
{
    struct pending *pending = xcalloc(1, sizeof *pending);

    lock_init(&pending->lock, RANK_PARTITION);
    return pending;
}

void pending_free(struct pending *pending)
{
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

/* Takes the view out, and the entry if there is nothing else in it. Under the lock. */
static struct view *take_view(struct entry **at)
{
    struct entry *entry = *at;
    struct view *view = entry->view;

    entry->view = NULL;
    if (entry->apart == 0) {
        *at = entry->next;
        free(entry);
    }
    return view;
}

struct view *pending_view(struct pending *pending, const struct partition *partition)
{
    const struct entry *entry;
    struct view *view;

    lock_take(&pending->lock);
    entry = *find(pending, partition);
    view = entry && entry->view ? view_share(entry->view) : NULL;
    lock_give(&pending->lock);
    return view;
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
        entry->view = view_share(after);
        *ret_rests_on = shard_link_hold(link);
    }
    lock_give(&pending->lock);
    view_close(over);
    return added;
}

void pending_end(struct pending *pending, const struct partition *partition,
                 const struct shard_link *link)
{
    struct view *over = NULL;
    struct entry **at;

    lock_take(&pending->lock);
    at = find(pending, partition);
    if (*at && (*at)->view && view_link((*at)->view) == link)
        over = take_view(at);
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
        over = take_view(at);
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
        (void)take_view(at);
    }
    lock_give(&pending->lock);
}
