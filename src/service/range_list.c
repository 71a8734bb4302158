/* See range_list.h. */
#include "service/range_list.h"

/* Workers read contents up to this length; they have few records. */
#define SHORT_CONTENT (16u << 20)

struct wanted {
    const struct content *content, *previous; /* NULL to list all ranges with data */
    uint64_t start, end;
    uint32_t unit;
    uint64_t first, last; /* start and end extended to units; the range to search */
};

static enum store_result read_some(struct decision *d, const struct wanted *wanted, uint64_t start,
                                   size_t max, struct content_ranges *ret_ranges)
{
    if (wanted->previous)
        return content_difference(d->before, d->arena, wanted->previous, wanted->content, start,
                                  wanted->last, max, ret_ranges);
    return content_ranges(d->before, d->arena, wanted->content, start, wanted->last, max,
                          ret_ranges);
}

/* ---- building the list ---- */

struct whole {
    struct decision *d;
    const struct wanted *wanted;
    struct content_range *ranges;
    size_t count, capacity;
};

static uint64_t unit_start(const struct wanted *wanted, uint64_t at)
{
    uint64_t start = at - at % wanted->unit;

    return start > wanted->start ? start : wanted->start;
}

static uint64_t unit_end(const struct wanted *wanted, uint64_t at)
{
    uint64_t over = at % wanted->unit;
    uint64_t end = over > 0 ? at + (wanted->unit - over) : at;

    return end < wanted->end ? end : wanted->end;
}

static void append(struct whole *all, const struct content_range *range)
{
    if (all->count == all->capacity) {
        size_t capacity = 2 * all->capacity + 16;
        struct content_range *grown = arena_array(all->d->arena, capacity, sizeof *grown);

        if (all->count > 0)
            memcpy(grown, all->ranges, all->count * sizeof *grown);
        all->ranges = grown;
        all->capacity = capacity;
    }
    all->ranges[all->count++] = *range;
}

/* Appends a range, extended to units, and merges adjacent ranges. A unit with any data does not
 * count as cleared. */
static void add(struct whole *all, const struct content_range *found)
{
    struct content_range range = { .start = unit_start(all->wanted, found->start),
                                   .end = unit_end(all->wanted, found->end),
                                   .is_hole = found->is_hole };
    struct content_range *last = all->count > 0 ? &all->ranges[all->count - 1] : NULL;

    if (last && range.start < last->end && last->is_hole && !range.is_hole) {
        last->end = range.start;
        if (last->start == last->end)
            last = --all->count > 0 ? &all->ranges[all->count - 1] : NULL;
    }
    if (last && range.start < last->end)
        range.start = last->end;
    if (range.start >= range.end)
        return;
    if (last && last->end == range.start && last->is_hole == range.is_hole)
        last->end = range.end;
    else
        append(all, &range);
}

/* Returns the start of the unit to continue with, after everything up to `next` was read. Truncates
 * a cleared range at that unit, which may still have data. Returns wanted->start if the first unit
 * is still incomplete. */
static uint64_t go_on_at(struct whole *all, uint64_t next)
{
    struct content_range *last = all->count > 0 ? &all->ranges[all->count - 1] : NULL;
    uint64_t start;

    if (next == UINT64_MAX)
        return next;
    start = unit_start(all->wanted, next);
    if (!last || last->end <= start || (last->is_hole && start == all->wanted->start))
        return start;
    if (!last->is_hole)
        return last->end < all->wanted->end ? last->end : UINT64_MAX;
    last->end = start;
    if (last->start >= last->end)
        all->count--;
    return start;
}

static void end_list(const struct whole *all, uint64_t next, struct content_ranges *ret_ranges)
{
    *ret_ranges =
        (struct content_ranges){ .ranges = all->ranges, .count = all->count, .next = next };
}

/* Reads a page of the list. A page may be short. */
static enum error read_page(struct decision *d, const struct wanted *wanted, size_t max,
                            struct content_ranges *ret_ranges)
{
    struct content_ranges more = { .next = wanted->first };
    struct whole all = { .d = d, .wanted = wanted };
    uint64_t next;

    do { /* usually once; again if a unit has many ranges or shares data with the next range */
        enum store_result result = read_some(d, wanted, more.next, max, &more);

        if (result)
            return decision_fail_content(d, result);
        for (size_t i = 0; i < more.count; i++)
            add(&all, &more.ranges[i]);
        next = go_on_at(&all, more.next);
    } while (next == wanted->start || (all.count == 0 && more.count > 0 && next != UINT64_MAX));
    end_list(&all, next, ret_ranges);
    return OK;
}

/* Reads the complete list for clients that cannot request pages. Fails with OperationTimedOut if it
 * is too long, as the real service does for a blob with too many ranges. rest: Get-Page-Ranges
 * "Remarks"; decision: 73 */
static enum error read_all(struct decision *d, const struct wanted *wanted,
                           struct content_ranges *ret_ranges)
{
    struct content_ranges more = { .next = wanted->first };
    struct whole all = { .d = d, .wanted = wanted };

    while (more.next != UINT64_MAX) {
        enum store_result result;

        if (all.count >= RANGE_LIST_UNPAGED_MAX)
            return decision_fail(d, E_OperationTimedOut,
                                 "There are more than %u ranges: ask for parts of them, or for "
                                 "pages of the list with maxresults.",
                                 RANGE_LIST_UNPAGED_MAX);
        result = read_some(d, wanted, more.next, RANGE_LIST_MAX, &more);
        if (result)
            return decision_fail_content(d, result);
        for (size_t i = 0; i < more.count; i++)
            add(&all, &more.ranges[i]);
    }
    end_list(&all, UINT64_MAX, ret_ranges);
    return OK;
}

/* ---- the operation ---- */

static enum error choose_range(struct decision *d, const struct range_list *list,
                               struct wanted *wanted)
{
    uint64_t length = wanted->content->length;

    wanted->start = 0;
    wanted->end = length;
    if (list->range.is_given) {
        if (list->range.first >= length) {
            d->problem->length = length;
            return E_InvalidRange;
        }
        wanted->start = list->range.first;
        wanted->end = list->range.last < length ? list->range.last + 1 : length;
    }
    if (list->from > wanted->start)
        wanted->start = list->from < wanted->end ? list->from : wanted->end;
    wanted->first = wanted->start - wanted->start % wanted->unit;
    wanted->last =
        wanted->end + (wanted->unit - 1) - (wanted->end + wanted->unit - 1) % wanted->unit;
    if (wanted->last > length)
        wanted->last = length;
    return OK;
}

enum error range_list_find(struct decision *d, const struct range_list *list,
                           const struct range_list_source *source,
                           struct content_ranges *ret_ranges)
{
    struct wanted wanted = { .content = source->content, .unit = source->unit };
    struct content older;
    enum error e = choose_range(d, list, &wanted);

    if (e)
        return e;
    if (!d->access.may_block && source->content->length > SHORT_CONTENT)
        return decision_fail_store(d, STORE_WAIT);
    if (source->find_older) {
        e = source->find_older(d, source->context, &older);
        if (e)
            return e;
        wanted.previous = &older;
    }
    *ret_ranges = (struct content_ranges){ .next = UINT64_MAX };
    if (wanted.start == wanted.end)
        return OK;
    return list->is_paged ? read_page(d, &wanted, list->max, ret_ranges)
                          : read_all(d, &wanted, ret_ranges);
}
