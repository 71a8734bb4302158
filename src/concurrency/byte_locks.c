#include "concurrency/byte_locks.h"

bool byte_range_is_valid(const struct byte_range *range)
{
    return range->length == 0 || range->length - 1 <= UINT64_MAX - range->offset;
}

/* Avoids computing offset + length, which may be 2^64. */
static bool ends_before(const struct byte_range *a, const struct byte_range *b)
{
    return a->offset <= b->offset && a->length <= b->offset - a->offset;
}

static bool overlap(const struct byte_range *a, const struct byte_range *b)
{
    return !ends_before(a, b) && !ends_before(b, a);
}

bool byte_lock_conflicts(const struct byte_lock *held, const struct byte_lock *wanted)
{
    bool bars = wanted->is_exclusive || (held->is_exclusive && held->owner != wanted->owner);

    return bars && overlap(&held->range, &wanted->range);
}

bool byte_lock_bars_read(const struct byte_lock *held, uint64_t owner,
                         const struct byte_range *range)
{
    return held->is_exclusive && held->owner != owner && range->length > 0 &&
           overlap(&held->range, range);
}

bool byte_lock_bars_write(const struct byte_lock *held, uint64_t owner,
                          const struct byte_range *range)
{
    return (!held->is_exclusive || held->owner != owner) && range->length > 0 &&
           overlap(&held->range, range);
}
