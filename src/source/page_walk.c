/* See page_walk.h. */
#include "source/page_walk.h"

#include <stdlib.h>

#include "source/cell_source.h"
#include "source/open_source.h"

#define PAGE_SIZE    512u
/* Bytes read per step from another server's blob. */
#define BUFFER_BYTES (4u << 20)

static enum error begin_own(struct page_walk *walk, const struct source_functions *functions)
{
    struct open_source *open = walk->open;
    enum error e = OK;

    if (walk->previous != 0)
        e = functions->find_older(walk->g->decision, open->snapshot, walk->previous,
                                  &open->facts.content, &walk->older);
    if (e)
        return e;
    own_begin(walk->g, open);
    content_reader_move(open->reader, walk->position, 0);
    return OK;
}

enum error page_walk_begin(struct page_walk *walk, struct gathering *g, struct open_source *open,
                           const struct page_walk_from *from)
{
    *walk = (struct page_walk){ .g = g,
                                .open = open,
                                .previous = from->previous,
                                .position = from->position,
                                .next = from->position };
    if (open->elsewhere)
        return OK;
    if (open->is_own)
        return begin_own(walk, g->call->endpoint->service->source);
    walk->buffer = xcalloc(1, BUFFER_BYTES);
    return OK;
}

void page_walk_end(struct page_walk *walk)
{
    free(walk->buffer);
}

/* ---- ranges of a step ---- */

/* Truncates the ranges to those of one step. */
static void cut_step(struct page_walk *walk)
{
    for (size_t i = 0; i < walk->range_count; i++) {
        struct content_range *range = &walk->ranges[i];
        uint64_t length = range->is_hole ? 0 : range->end - range->start;
        uint64_t room = PAGES_STEP_BYTES - walk->bytes;

        if (length >= room) {
            range->end = range->start + room;
            walk->bytes += room;
            walk->next = range->end;
            walk->range_count = i + 1;
            return;
        }
        walk->bytes += length;
    }
}

/* Treats a source without holes as one range. */
static enum error look_dense(struct page_walk *walk)
{
    walk->ranges = arena_array(walk->g->call->arena, 1, sizeof walk->ranges[0]);
    walk->ranges[0] =
        (struct content_range){ .start = walk->position, .end = walk->open->facts.content.length };
    walk->range_count = 1;
    walk->next = walk->ranges[0].end;
    cut_step(walk);
    return OK;
}

static enum error look_own(struct page_walk *walk)
{
    uint64_t length = walk->open->facts.content.length;
    bool differs = walk->previous != 0;
    struct content_ranges found;
    enum store_result result = content_reader_ranges(
        walk->open->reader, walk->g->call->arena, differs ? &walk->older : NULL, walk->position,
        length, differs ? PAGES_DIFFERENCE_RANGES : PAGES_STEP_RANGES, &found);

    if (result)
        return decision_fail_store(walk->g->decision, result);
    walk->ranges = found.ranges;
    walk->range_count = found.count;
    walk->next = found.next < length ? found.next : length;
    cut_step(walk);
    return OK;
}

static enum error look_elsewhere(struct page_walk *walk)
{
    struct content_ranges found;
    enum error e = cell_step(walk->g, walk->open,
                             &(struct page_walk_from){ walk->position, walk->previous }, &found);

    if (e)
        return e;
    walk->ranges = found.ranges;
    walk->range_count = found.count;
    walk->next = found.next;
    for (size_t i = 0; i < found.count; i++)
        walk->bytes += found.ranges[i].is_hole ? 0 : found.ranges[i].end - found.ranges[i].start;
    return OK;
}

static bool is_zero(const char *page, size_t length)
{
    return page[0] == 0 && memcmp(page, page + 1, length - 1) == 0;
}

/* Finds the pages in the buffer that are not all zeros, as ranges. */
static void find_pages(struct page_walk *walk)
{
    uint64_t end = walk->position; /* end of the last range */

    walk->ranges =
        arena_array(walk->g->call->arena, walk->buffered / PAGE_SIZE + 1, sizeof walk->ranges[0]);
    for (size_t at = 0; at < walk->buffered; at += PAGE_SIZE) {
        uint64_t start = walk->position + at, left = walk->buffered - at;
        /* the last page of a file may be short */
        size_t length = left < PAGE_SIZE ? (size_t)left : PAGE_SIZE;

        if (is_zero(walk->buffer + at, length))
            continue;
        if (walk->range_count == 0 || end != start)
            walk->ranges[walk->range_count++].start = start;
        end = start + length;
        walk->ranges[walk->range_count - 1].end = end;
        walk->ranges[walk->range_count - 1].is_hole = false;
        walk->bytes += length;
    }
}

static enum error look_remote(struct page_walk *walk)
{
    uint64_t left = walk->open->facts.content.length - walk->position;
    size_t wanted = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;

    walk->buffered = 0;
    while (walk->buffered < wanted) {
        size_t count = 0;
        enum error e = remote_read(walk->g, walk->open, walk->buffer + walk->buffered,
                                   wanted - walk->buffered, &count);

        if (e)
            return e;
        if (count == 0)
            return E_CannotVerifyCopySource; /* shorter than announced */
        walk->buffered += count;
    }
    walk->next = walk->position + walk->buffered;
    find_pages(walk);
    return OK;
}

enum error page_walk_find_ranges(struct page_walk *walk)
{
    walk->bytes = 0;
    walk->range_count = 0;
    walk->ranges = NULL;
    if (walk->open->elsewhere)
        return look_elsewhere(walk);
    if (!walk->open->is_own)
        return look_remote(walk);
    return walk->open->facts.content.form == CONTENT_SPARSE ? look_own(walk) : look_dense(walk);
}

/* ---- bytes of a step ---- */

static enum error read_own(struct gather_source *bytes, char *to, size_t max, size_t *ret_count)
{
    struct page_walk_bytes *source = (struct page_walk_bytes *)(void *)bytes;
    struct page_walk *walk = source->walk;
    struct content_reader *reader = walk->open->reader;

    for (;;) {
        enum store_result result = content_reader_read(reader, to, max, NULL, ret_count);
        const struct content_range *next = &walk->ranges[source->range];

        if (result)
            return decision_fail_store(walk->g->decision, result);
        if (*ret_count > 0 || source->range == walk->range_count)
            return OK;
        if (!next->is_hole)
            content_reader_move(reader, next->start, next->end - next->start);
        source->range++;
    }
}

static enum error read_buffer(struct gather_source *bytes, char *to, size_t max, size_t *ret_count)
{
    struct page_walk_bytes *source = (struct page_walk_bytes *)(void *)bytes;
    const struct page_walk *walk = source->walk;
    const struct content_range *range = &walk->ranges[source->range];
    uint64_t left;

    *ret_count = 0;
    if (source->range == walk->range_count)
        return OK;
    left = range->end - range->start - source->at;
    *ret_count = left < max ? (size_t)left : max;
    memcpy(to, walk->buffer + (range->start - walk->position) + source->at, *ret_count);
    source->at += *ret_count;
    if (*ret_count == left) {
        source->range++;
        source->at = 0;
    }
    return OK;
}

static enum error read_elsewhere(struct gather_source *bytes, char *to, size_t max,
                                 size_t *ret_count)
{
    struct page_walk *walk = ((struct page_walk_bytes *)(void *)bytes)->walk;

    return cell_read(walk->g, walk->open, to, max, ret_count);
}

struct page_walk_bytes page_walk_bytes(struct page_walk *walk)
{
    return (struct page_walk_bytes){
        .source = { .read = walk->open->elsewhere ? read_elsewhere
                            : walk->open->is_own  ? read_own
                                                  : read_buffer,
                    .length = walk->bytes,
                    .max = walk->bytes },
        .walk = walk,
    };
}

enum error page_walk_gather(struct page_walk *walk)
{
    struct page_walk_bytes bytes = page_walk_bytes(walk);
    enum error e;

    walk->g->call->input.body = (struct body){ .length = 0 };
    e = gather_body(walk->g, &bytes.source);
    if (!e)
        walk->position = walk->next;
    return e;
}
