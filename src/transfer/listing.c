/* See listing.h. */
#include "transfer/listing.h"

#include <nettle/sha2.h>
#include <stdlib.h>

struct place {
    struct item *item;
    uint64_t position;
};

void blob_states_add(struct blob_states *states, struct item *item)
{
    item->next = NULL;
    if (states->last)
        states->last->next = item;
    else
        states->first = item;
    states->last = item;
    states->count++;
}

/* Orders by time; of two equal ones, the later listed comes later. */
static int by_moment(const void *x, const void *y)
{
    const struct place *a = x, *b = y;
    bool a_is_blob = !a->item->state.ptr, b_is_blob = !b->item->state.ptr;

    if (a_is_blob != b_is_blob)
        return a_is_blob ? 1 : -1;
    if (!a_is_blob && a->item->moment != b->item->moment)
        return a->item->moment < b->item->moment ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static bool is_same_state(const struct item *a, const struct item *b)
{
    return (!a->state.ptr && !b->state.ptr) ||
           (a->state.ptr && b->state.ptr && bytes_equal(a->state, b->state));
}

struct item *blob_states_order(struct blob_states *states, struct arena *arena)
{
    struct place *places = arena_array(arena, (size_t)states->count, sizeof *places);
    struct item *first = NULL, **to = &first, *last = NULL;
    size_t count = 0;

    for (struct item *item = states->first; item; item = item->next, count++)
        places[count] = (struct place){ item, count };
    if (count > 0)
        qsort(places, count, sizeof places[0], by_moment);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && is_same_state(places[i].item, places[i + 1].item))
            continue;
        *to = last = places[i].item;
        to = &last->next;
    }
    *to = NULL;
    return last && !last->state.ptr ? first : NULL;
}

static bool is_kept(const struct item_hash *kept, const struct item_hash *hash)
{
    return memcmp(kept, hash, sizeof *hash) == 0;
}

bool listing_bound_page(struct listing_bound *bound, const struct item_hash *names,
                        uint64_t entries, struct bytes marker)
{
    struct item_hash marker_hash;
    struct sha256_ctx hash;

    sha256_init(&hash);
    sha256_update(&hash, marker.len, (const uint8_t *)marker.ptr);
    sha256_digest(&hash, ITEM_HASH_SIZE, marker_hash.of);
    bound->empty = entries > 0 ? 0 : bound->empty + 1;
    bound->entries += entries;
    if (bound->empty > LISTING_EMPTY_MAX || bound->entries > LISTING_ENTRIES_MAX)
        return false;
    if (bound->pages > 0 &&
        (is_kept(&bound->kept_marker, &marker_hash) ||
         (entries > 0 && bound->kept_has_names && is_kept(&bound->kept_names, names))))
        return false;
    if (++bound->pages > bound->next_kept) {
        bound->next_kept = 2 * bound->pages;
        bound->kept_names = *names;
        bound->kept_has_names = entries > 0;
        bound->kept_marker = marker_hash;
    }
    return true;
}
