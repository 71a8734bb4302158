/* Clears a range of sparse content: frees complete units, and writes zeros to the rest. */
#include <assert.h>

#include "content/sparse.h"

/* In a longer range, the whole units are cleared as one large hole, and the partial units at its
 * ends on their own; no record belongs to both. */
#define ZEROED_AT_ONCE (16u * UNIT_BYTES)
#define ZEROS_MAX      (2u * PAGE_BYTES)

/* At most four ranges: zeros and a hole at the start, and a hole and zeros at the end. */
struct pieces {
    struct content_range ranges[4];
    size_t count;
    uint64_t zeros;
};

static void add(struct pieces *pieces, uint64_t start, uint64_t end, bool is_hole)
{
    if (start >= end)
        return;
    assert(pieces->count < sizeof pieces->ranges / sizeof pieces->ranges[0]);
    pieces->ranges[pieces->count++] =
        (struct content_range){ .start = start, .end = end, .is_hole = is_hole };
    pieces->zeros += is_hole ? 0 : end - start;
}

static enum store_result write_zeros(struct read_view *before, struct changes *changes,
                                     struct content *content, uint64_t stamp,
                                     const struct pieces *pieces)
{
    static const char zeros[ZEROS_MAX];
    struct body body = { .length = pieces->zeros,
                         .inline_bytes = bytes_of(zeros, (size_t)pieces->zeros) };

    assert(pieces->zeros <= sizeof zeros);
    return content_write_ranges(before, changes, content, stamp, &body, pieces->ranges,
                                pieces->count);
}

static uint64_t round_up(uint64_t at, uint64_t unit)
{
    return (at + unit - 1) / unit * unit;
}

enum store_result content_zero(struct read_view *before, struct changes *changes,
                               struct arena *arena, struct content *content, uint64_t stamp,
                               uint64_t offset, uint64_t length, uint32_t unit, bool *ret_more)
{
    uint64_t end = offset + length, hole = round_up(offset, unit), hole_end = end / unit * unit;
    uint64_t middle = round_up(hole, UNIT_BYTES), middle_end;
    struct content edges = *content;
    struct pieces pieces = { .count = 0 };
    enum store_result result;

    assert(length > 0 && offset <= content->length && length <= content->length - offset);
    assert(unit > 0 && PAGE_BYTES % unit == 0);
    if (end == content->length)
        hole_end = end; /* nothing follows it */
    if (hole >= hole_end) {
        add(&pieces, offset, end, false);
        return write_zeros(before, changes, content, stamp, &pieces);
    }
    middle_end = hole_end / UNIT_BYTES * UNIT_BYTES;
    add(&pieces, offset, hole, false);
    if (middle_end < middle || middle_end - middle <= ZEROED_AT_ONCE) {
        add(&pieces, hole, hole_end, true);
        add(&pieces, hole_end, end, false);
        return write_zeros(before, changes, content, stamp, &pieces);
    }
    add(&pieces, hole, middle, true);
    add(&pieces, middle_end, hole_end, true);
    add(&pieces, hole_end, end, false);
    result = write_zeros(before, changes, &edges, stamp, &pieces);
    if (!result)
        result = content_clear(before, changes, arena, content, stamp, middle, middle_end - middle,
                               ret_more);
    if (!result)
        content->without_pages = edges.without_pages;
    return result;
}
