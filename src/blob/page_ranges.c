/* Get Page Ranges: which pages of a page blob have bytes, and which differ from an older snapshot. */
#include "blob/page_blob_operations.h"

/* A blob of at most this length is looked through by a worker: it has few records. */
#define SHORT_BLOB (16u << 20)

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

        if (all.count >= PAGE_RANGES_UNPAGED_MAX)
            return decision_fail(d, E_OperationTimedOut,
                                 "There are more than %u page ranges: ask for parts of the blob, "
                                 "or for pages of the list with maxresults.",
                                 PAGE_RANGES_UNPAGED_MAX);
        result = read_some(d, wanted, more.next, PAGE_RANGES_MAX, &more);
        if (result)
            return blob_fail_content(d, result);
        join(d, &all, &more);
    }
    ret_ranges->ranges = all.ranges;
    ret_ranges->count = all.count;
    ret_ranges->next = UINT64_MAX;
    return OK;
}

/* ---- the snapshot to compare with ---- */

/* returns  PreviousSnapshotCannotBeNewer, PreviousSnapshotNotFound, BlobOverwritten */
static enum error find_previous(struct decision *d, instant previous, struct content *ret_content)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct blob older;
    enum store_result result;

    if (!blob_ref_is_base(blob->ref) && previous > blob->ref.at)
        return E_PreviousSnapshotCannotBeNewer;
    result = blob_read(d->before, d->arena, blob_snapshot_ref(previous), &older);
    if (result == STORE_NOT_FOUND)
        return E_PreviousSnapshotNotFound;
    if (result)
        return blob_fail_content(d, result);
    if (older.content.id != blob->content.id)
        return E_BlobOverwritten;
    *ret_content = older.content;
    return OK;
}

/* ---- the operation ---- */

static enum error choose_range(struct decision *d, const struct get_page_ranges_parameters *p,
                               struct wanted *wanted)
{
    uint64_t length = wanted->content->length;

    wanted->start = 0;
    wanted->end = length;
    if (p->has_range) {
        if (p->first >= length) {
            d->problem->length = length;
            return E_InvalidRange;
        }
        wanted->start = p->first;
        wanted->end = p->last < length ? p->last + 1 : length;
    }
    if (p->from > wanted->start)
        wanted->start = p->from < wanted->end ? p->from : wanted->end;
    return OK;
}

/* rest: Get-Page-Ranges */
enum error get_page_ranges_decide(struct decision *d, const struct get_page_ranges_parameters *p,
                                  struct get_page_ranges_result *r)
{
    const struct blob *blob = &blob_state(d)->blob;
    struct wanted wanted = { .content = &blob->content };
    struct content previous;
    enum store_result result;
    enum error e;

    if (blob->type != BLOB_PAGE)
        return E_InvalidBlobType;
    e = choose_range(d, p, &wanted);
    if (e)
        return e;
    if (!d->access.may_block && blob->content.length > SHORT_BLOB)
        return decision_fail_store(d, STORE_WAIT);
    result = snapshot_hold(d->before); /* many reads */
    if (result)
        return decision_fail_store(d, result);
    if (p->previous != 0) {
        e = find_previous(d, p->previous, &previous);
        if (e)
            return e;
        wanted.previous = &previous;
    }
    r->length = blob->content.length;
    r->ranges.next = UINT64_MAX;
    if (wanted.start == wanted.end)
        return OK;
    if (!p->is_paged)
        return read_all(d, &wanted, &r->ranges);
    result = read_some(d, &wanted, wanted.start, p->max, &r->ranges);
    return result ? blob_fail_content(d, result) : OK;
}
