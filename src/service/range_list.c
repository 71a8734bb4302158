/* See range_list.h. */
#include "service/range_list.h"

/* A content of at most this length is looked through by a worker: it has few records. */
#define SHORT_CONTENT (16u << 20)

/* ---- one page of a list, or all of it ---- */

struct wanted {
    const struct content *content, *previous; /* previous NULL: all that has bytes */
    uint64_t start, end;
};

static enum store_result read_some(struct decision *d, const struct wanted *wanted, uint64_t start,
                                   size_t max, struct content_ranges *ret_ranges)
{
    if (wanted->previous)
        return content_difference(d->before, d->arena, wanted->previous, wanted->content, start,
                                  wanted->end, max, ret_ranges);
    return content_ranges(d->before, d->arena, wanted->content, start, wanted->end, max,
                          ret_ranges);
}

/* A list in the making. */
struct whole {
    struct content_range *ranges;
    size_t count, capacity;
};

/* Adds ranges behind those there are; two that touch at the seam are one. */
static void join(struct decision *d, struct whole *all, const struct content_ranges *more)
{
    size_t from = 0;

    if (all->count > 0 && more->count > 0 &&
        all->ranges[all->count - 1].end == more->ranges[0].start &&
        all->ranges[all->count - 1].is_hole == more->ranges[0].is_hole) {
        all->ranges[all->count - 1].end = more->ranges[0].end;
        from = 1;
    }
    if (all->count + more->count > all->capacity) {
        size_t capacity = 2 * all->capacity + more->count;
        struct content_range *grown = arena_array(d->arena, capacity, sizeof *grown);

        if (all->count > 0)
            memcpy(grown, all->ranges, all->count * sizeof *grown);
        all->ranges = grown;
        all->capacity = capacity;
    }
    for (size_t i = from; i < more->count; i++)
        all->ranges[all->count++] = more->ranges[i];
}

/* The whole list, for who cannot ask for its pages. Longer than it may be: OperationTimedOut, as the
 * service answers of a blob that is too much in pieces. rest: Get-Page-Ranges "Remarks";
 * decision: 73 */
static enum error read_all(struct decision *d, const struct wanted *wanted,
                           struct content_ranges *ret_ranges)
{
    struct content_ranges more = { .next = wanted->start };
    struct whole all = { .count = 0 };

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
        join(d, &all, &more);
    }
    ret_ranges->ranges = all.ranges;
    ret_ranges->count = all.count;
    ret_ranges->next = UINT64_MAX;
    return OK;
}

/* ---- the operation ---- */

static enum error choose_range(struct decision *d, const struct range_list *asked,
                               struct wanted *wanted)
{
    uint64_t length = wanted->content->length;

    wanted->start = 0;
    wanted->end = length;
    if (asked->range.is_given) {
        if (asked->range.first >= length) {
            d->problem->length = length;
            return E_InvalidRange;
        }
        wanted->start = asked->range.first;
        wanted->end = asked->range.last < length ? asked->range.last + 1 : length;
    }
    if (asked->from > wanted->start)
        wanted->start = asked->from < wanted->end ? asked->from : wanted->end;
    return OK;
}

enum error range_list_find(struct decision *d, const struct range_list *asked,
                           const struct range_list_source *source,
                           struct content_ranges *ret_ranges)
{
    struct wanted wanted = { .content = source->content };
    struct content older;
    enum store_result result;
    enum error e = choose_range(d, asked, &wanted);

    if (e)
        return e;
    if (!d->access.may_block && source->content->length > SHORT_CONTENT)
        return decision_fail_store(d, STORE_WAIT);
    result = snapshot_hold(d->before); /* many reads */
    if (result)
        return decision_fail_store(d, result);
    if (source->find_older) {
        e = source->find_older(d, source->asked, &older);
        if (e)
            return e;
        wanted.previous = &older;
    }
    *ret_ranges = (struct content_ranges){ .next = UINT64_MAX };
    if (wanted.start == wanted.end)
        return OK;
    if (!asked->is_paged)
        return read_all(d, &wanted, ret_ranges);
    result = read_some(d, &wanted, wanted.start, asked->max, ret_ranges);
    return result ? decision_fail_content(d, result) : OK;
}
