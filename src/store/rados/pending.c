#include "store/rados/pending.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/lock.h"

#define BUCKETS 1024u

struct entry {
    struct entry *next; /* in its bucket */
    struct view *view;
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
        const struct partition *its = view_partition((*at)->view);

        if (guid_equal(&its->space, &partition->space) && bytes_equal(its->key, partition->key))
            break;
    }
    return at;
}

/* Under the lock. */
static struct view *take_out(struct entry **at)
{
    struct entry *entry = *at;
    struct view *view;

    if (!entry)
        return NULL;
    view = entry->view;
    *at = entry->next;
    free(entry);
    return view;
}

struct view *pending_view(struct pending *pending, const struct partition *partition)
{
    const struct entry *entry;
    struct view *view;

    lock_take(&pending->lock);
    entry = *find(pending, partition);
    view = entry ? view_share(entry->view) : NULL;
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

bool pending_add(struct pending *pending, const struct view *before, struct view *after,
                 struct shard_link **ret_rests_on)
{
    struct view *over = NULL;
    struct shard_link *link;
    struct entry **at, *entry;
    bool fits;

    assert(view_link(after));
    lock_take(&pending->lock);
    at = find(pending, view_partition(after));
    entry = *at;
    fits = rests_on(before, entry ? entry->view : NULL, &link);
    if (fits && !entry) {
        entry = *at = xcalloc(1, sizeof *entry);
    } else if (fits) {
        over = entry->view;
    }
    if (fits) {
        entry->view = view_share(after);
        *ret_rests_on = shard_link_hold(link);
    }
    lock_give(&pending->lock);
    view_close(over);
    return fits;
}

void pending_end(struct pending *pending, const struct partition *partition,
                 const struct shard_link *link)
{
    struct view *over = NULL;
    struct entry **at;

    lock_take(&pending->lock);
    at = find(pending, partition);
    if (*at && view_link((*at)->view) == link)
        over = take_out(at);
    lock_give(&pending->lock);
    view_close(over);
}

void pending_close(struct pending *pending, const struct partition *partition)
{
    struct view *over;

    lock_take(&pending->lock);
    over = take_out(find(pending, partition));
    lock_give(&pending->lock);
    view_close(over);
}
