/* See placements.h. */
#include "cluster/placements.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/metrics.h"

struct placement_entry {
    struct placement_entry *next;          /* next entry of the bucket */
    struct placement_entry *newer, *older; /* by last use */
    struct placed placed;
    uint64_t since_s;
    size_t length;
    char key[];
};

static const struct metric_family cached = { "lagra_placements_cached",
                                             "Containers whose cell this front end remembers",
                                             METRIC_GAUGE };
static metric_slot cached_slot;

/* Clients choose the names of their containers. In the worst case one bucket is a list of
 * PLACEMENTS_MAX entries. */
static size_t bucket_of(struct bytes key)
{
    return crc32c(0, key.ptr, key.len) % PLACEMENT_BUCKETS;
}

static struct placement_entry **find(struct placements *p, struct bytes key)
{
    struct placement_entry **at = &p->buckets[bucket_of(key)];

    lock_assert_held(&p->lock);
    while (*at && !bytes_equal(bytes_of((*at)->key, (*at)->length), key))
        at = &(*at)->next;
    return at;
}

/* ---- order of use ---- */

static void unlink_use(struct placements *p, struct placement_entry *entry)
{
    *(entry->newer ? &entry->newer->older : &p->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &p->oldest) = entry->newer;
    entry->newer = entry->older = NULL;
}

static void link_use(struct placements *p, struct placement_entry *entry)
{
    entry->older = p->newest;
    entry->newer = NULL;
    *(p->newest ? &p->newest->newer : &p->oldest) = entry;
    p->newest = entry;
}

static void remove_at(struct placements *p, struct placement_entry **at)
{
    struct placement_entry *entry = *at;

    *at = entry->next;
    unlink_use(p, entry);
    p->count--;
    metric_add(cached_slot, -1);
    free(entry);
}

/* ---- the cache ---- */

void placements_init(struct placements *placements)
{
    memset(placements, 0, sizeof *placements);
    lock_init(&placements->lock, RANK_CELLS);
    cached_slot = metric_series(&cached, "");
}

void placements_release(struct placements *placements)
{
    for (size_t i = 0; i < PLACEMENT_BUCKETS; i++)
        while (placements->buckets[i])
            remove_at(placements, &placements->buckets[i]);
    lock_destroy(&placements->lock);
}

bool placements_find(struct placements *placements, struct bytes key, uint64_t now_s,
                     struct placed *ret_placed)
{
    struct placement_entry **at;
    bool is_found;

    lock_acquire(&placements->lock);
    at = find(placements, key);
    is_found = *at && now_s < (*at)->since_s + PLACEMENT_USED_S;
    if (*at && !is_found)
        remove_at(placements, at);
    if (is_found) {
        *ret_placed = (*at)->placed;
        unlink_use(placements, *at);
        link_use(placements, *at);
    }
    lock_release(&placements->lock);
    return is_found;
}

static void add(struct placements *p, struct placement_entry **at, struct bytes key)
{
    struct placement_entry *entry = xmalloc(sizeof *entry + key.len);

    memset(entry, 0, sizeof *entry);
    entry->length = key.len;
    memcpy(entry->key, key.ptr, key.len);
    entry->next = *at;
    *at = entry;
    link_use(p, entry);
    p->count++;
    metric_add(cached_slot, 1);
}

void placements_put(struct placements *placements, struct bytes key, struct placed placed,
                    uint64_t now_s)
{
    struct placement_entry **at;

    if (key.len == 0 || key.len > PLACEMENT_KEY_MAX)
        return;
    lock_acquire(&placements->lock);
    at = find(placements, key);
    if (!*at && placements->count >= PLACEMENTS_MAX) {
        const struct placement_entry *oldest = placements->oldest;

        remove_at(placements, find(placements, bytes_of(oldest->key, oldest->length)));
        at = find(placements, key);
    }
    if (!*at)
        add(placements, at, key);
    if (placed.incarnation >= (*at)->placed.incarnation) {
        (*at)->placed = placed;
        (*at)->since_s = now_s;
    }
    lock_release(&placements->lock);
}

void placements_drop(struct placements *placements, struct bytes key, uint64_t incarnation)
{
    struct placement_entry **at;

    lock_acquire(&placements->lock);
    at = find(placements, key);
    if (*at && (*at)->placed.incarnation <= incarnation)
        remove_at(placements, at);
    lock_release(&placements->lock);
}
