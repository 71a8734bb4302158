/* A small table, four entries per set; the oldest of a set is replaced. */
#include "store/embedded/verified.h"

#include <assert.h>

#include "base/clock.h"

static struct verified_entry *set_of(struct verified *verified, uint32_t extent, uint64_t offset)
{
    uint64_t hash = (offset >> 12) * 0x9E3779B97F4A7C15ull + extent * 0xC2B2AE3D27D4EB4Full;

    return verified->entries[(hash >> 32) % VERIFIED_SETS];
}

/* Returns the entry of that piece; NULL means not found. Caller holds the lock. */
static struct verified_entry *find(struct verified *verified, uint32_t extent, uint64_t offset)
{
    struct verified_entry *set = set_of(verified, extent, offset);

    lock_assert_held(&verified->lock);
    for (int i = 0; i < VERIFIED_ENTRIES; i++)
        if (set[i].extent == extent && set[i].offset == offset)
            return &set[i];
    return NULL;
}

/* Returns the entry of that piece, emptied if it is too old, or a new one. Caller holds the
 * lock. */
static struct verified_entry *find_or_make(struct verified *verified, uint32_t extent,
                                           uint64_t offset, uint64_t now)
{
    struct verified_entry *entry = find(verified, extent, offset);

    if (entry && now - entry->since_ms < VERIFIED_MS)
        return entry;
    if (!entry) {
        struct verified_entry *set = set_of(verified, extent, offset);

        entry = &set[0];
        for (int i = 1; i < VERIFIED_ENTRIES; i++)
            if (set[i].since_ms < entry->since_ms)
                entry = &set[i];
    }
    *entry = (struct verified_entry){ .extent = extent, .offset = offset, .since_ms = now };
    return entry;
}

void verified_init(struct verified *verified)
{
    lock_init(&verified->lock, RANK_IO_POOL);
}

void verified_release(struct verified *verified)
{
    lock_destroy(&verified->lock);
}

enum verified_answer verified_ask(struct verified *verified, const struct piece *piece,
                                  uint64_t sectors)
{
    enum verified_answer answer = VERIFIED_NOT;
    const struct verified_entry *entry;
    uint64_t now = clock_coarse_ms();

    lock_acquire(&verified->lock);
    entry = find(verified, piece->extent, piece->offset);
    if (entry && now - entry->since_ms < VERIFIED_MS) {
        if (entry->unreadable)
            answer = VERIFIED_UNREADABLE;
        else if ((entry->sectors & sectors) == sectors)
            answer = VERIFIED_YES;
    }
    lock_release(&verified->lock);
    return answer;
}

void verified_add(struct verified *verified, const struct piece *piece, uint64_t sectors)
{
    uint64_t now = clock_coarse_ms();

    lock_acquire(&verified->lock);
    find_or_make(verified, piece->extent, piece->offset, now)->sectors |= sectors;
    lock_release(&verified->lock);
}

void verified_add_unreadable(struct verified *verified, const struct piece *piece)
{
    uint64_t now = clock_coarse_ms();

    lock_acquire(&verified->lock);
    find_or_make(verified, piece->extent, piece->offset, now)->unreadable = true;
    lock_release(&verified->lock);
}

void verified_forget(struct verified *verified, uint32_t extent, uint64_t offset)
{
    struct verified_entry *entry;

    lock_acquire(&verified->lock);
    entry = find(verified, extent, offset);
    if (entry)
        *entry = (struct verified_entry){ .extent = 0 };
    lock_release(&verified->lock);
}
