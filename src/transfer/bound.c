/* See bound.h. */
#include "transfer/bound.h"

#include <nettle/sha2.h>

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
