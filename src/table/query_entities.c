/* Query Entities: an iterator over the table's space, in the ranges of keys that the filter leaves.
 *
 * (1) The work of a page is bounded: it ends at the results that were asked for, or after so much
 *     was looked at, wanted or not, or after so long. Keys that the filter rules out are not looked
 *     at. At least one entity is looked at, so that the next page begins behind.
 * (2) A page is taken from one state of the table, and that state is durable before the page is
 *     sent.
 * (3) The next page begins at the first entity that this one did not look at, by its keys: whatever
 *     writers do, no page loses or repeats an entity that was there all the time.
 * rest: Query-Entities, Query-Timeout-and-Pagination */
#include "service/small_record.h"
#include "table/entity_operations.h"
#include "table/filter.h"
#include "table/key_limits.h"

/* An entity costs one, one more for each KiB, and one for each 128 steps that its filter and its
 * answer take: each is about a microsecond. decision: 192, 254 */
#define PAGE_COST_MAX     50000u
/* However slow the disk is, a page takes no longer; the clock is looked at once in so much cost. */
#define PAGE_TICKS_MAX    (5 * TICKS_PER_SECOND)
#define CLOCK_COST        256u
/* What a worker does of it; a page that needs more is made in the pool. */
#define WORKER_COST_MAX   4000u
#define COST_BYTES_SHIFT  10
#define COST_STEPS        128u

/* What one entity needs while it is looked at. */
#define SCRATCH_CAP_BYTES (64u << 20)

struct page {
    struct decision *d;
    struct arena *scratch; /* of the entity that is looked at */
    const struct query_entities_parameters *asked;
    struct key_limits limits;
    struct space_iterator *iterator;
    uint32_t shown;
    uint64_t cost, clock_cost; /* so far; when the clock is looked at next */
    uint64_t steps;            /* that have not made one of the cost yet */
    instant end;               /* no entity is looked at after it */
    bool late;
    bool complete;             /* nothing more is to be looked at */
    struct entity_place place; /* all before it was looked at */
    struct entity_place next;  /* keys in UTF-8; partition.ptr NULL: there is no next page */
};

static bool in_range(const struct key_range *range, struct entity_place at)
{
    const struct key_interval *partitions = &range->partitions;

    if (!range->one_partition)
        return !partitions->to.ptr || bytes_compare(at.partition, partitions->to) < 0;
    return bytes_equal(at.partition, partitions->from) &&
           (!range->rows.to.ptr || bytes_compare(at.row, range->rows.to) < 0);
}

static struct entity_place begin_of(const struct page *page, const struct key_range *range)
{
    struct entity_place begin = { range->partitions.from, range->rows.from };

    return entity_place_compare(page->place, begin) > 0 ? page->place : begin;
}

static bool is_full(const struct page *page)
{
    return page->shown == page->asked->top || page->asked->sink->full ||
           page->cost >= PAGE_COST_MAX || page->late;
}

static void add_cost(struct page *page, uint64_t cost)
{
    page->cost += cost;
    if (page->cost < page->clock_cost)
        return;
    page->clock_cost = page->cost + CLOCK_COST;
    page->late = clock_now() > page->end;
}

static void add_steps(struct page *page, uint64_t steps)
{
    steps += page->steps;
    page->steps = steps % COST_STEPS;
    add_cost(page, steps / COST_STEPS);
}

static bool is_wanted(struct page *page, struct filter_subject *subject)
{
    bool holds;

    if (!page->asked->filter)
        return true;
    holds = filter_holds(page->asked->filter, subject);
    add_steps(page, subject->steps);
    return holds;
}

/* returns STORE_OK, STORE_CORRUPT */
static enum store_result add_entity(struct page *page, struct bytes partition_key,
                                    struct bytes row_key, struct bytes value)
{
    struct entity entity;

    if (!entity_decode(page->scratch, value, &entity))
        return record_is_unknown("an entity's record", value);
    entity.partition_key = partition_key;
    entity.row_key = row_key;
    page->asked->sink->add(page->asked->sink, &entity);
    add_steps(page, page->asked->sink->steps);
    page->shown++;
    return STORE_OK;
}

/* Looks at one entity, which is in the range.
 * returns STORE_OK: go on; STORE_NOT_FOUND: the page is complete; STORE_CORRUPT */
static enum store_result look_at(struct page *page, const struct space_record *record)
{
    struct entity_place at = { record->partition_key, record->record_key };
    struct filter_subject subject = { .record = record->value };

    if (key_limits_end_before(&page->limits, at))
        return STORE_NOT_FOUND;
    if (is_full(page)) {
        page->next.partition = entity_key_decode(page->d->arena, at.partition);
        page->next.row = entity_key_decode(page->d->arena, at.row);
        return STORE_NOT_FOUND;
    }
    add_cost(page, 1 + (record->value.len >> COST_BYTES_SHIFT));
    subject.partition_key = entity_key_decode(page->scratch, at.partition);
    subject.row_key = entity_key_decode(page->scratch, at.row);
    if (!is_wanted(page, &subject))
        return STORE_OK;
    return add_entity(page, subject.partition_key, subject.row_key, record->value);
}

/* returns STORE_OK, STORE_WAIT, STORE_CORRUPT.. */
static enum store_result add_range(struct page *page, const struct key_range *range)
{
    struct entity_place begin = begin_of(page, range);
    struct arena_mark fresh = arena_mark(page->scratch);
    enum store_result result;
    struct space_record at;

    if (!in_range(range, begin))
        return STORE_OK;
    space_iterator_seek(page->iterator, begin.partition, begin.row);
    for (;;) {
        if (!page->d->access.may_block && page->cost > WORKER_COST_MAX)
            return STORE_WAIT;
        result = space_iterator_next(page->iterator, &at);
        if (result == STORE_NOT_FOUND)
            page->complete = true;
        if (result)
            return result == STORE_NOT_FOUND ? STORE_OK : result;
        if (!in_range(range, (struct entity_place){ at.partition_key, at.record_key }))
            return STORE_OK;
        arena_rewind(page->scratch, fresh);
        result = look_at(page, &at);
        if (result) {
            page->complete = true;
            return result == STORE_NOT_FOUND ? STORE_OK : result;
        }
    }
}

static struct key_ranges ranges_of(struct decision *d, const struct filter *filter)
{
    static struct key_range everything;

    if (filter)
        return filter_ranges(d->arena, filter);
    return (struct key_ranges){ .ranges = &everything, .count = 1 };
}

enum error query_entities_decide(struct decision *d, const struct query_entities_parameters *p,
                                 struct query_entities_result *r)
{
    const struct table *table = &table_state(d)->table;
    struct key_ranges ranges = ranges_of(d, p->filter);
    struct page page = {
        .d = d,
        .scratch = arena_new_like(d->arena, SCRATCH_CAP_BYTES),
        .asked = p,
        .limits = key_limits_of(d->arena, &d->input->identity),
        .clock_cost = CLOCK_COST,
        .end = clock_now() + PAGE_TICKS_MAX,
    };
    enum store_result result = STORE_OK;

    page.place = page.limits.first;
    if (p->from.partition.ptr && entity_place_compare(p->from, page.place) > 0)
        page.place = p->from;
    p->sink->begin(p->sink, table->name);
    page.iterator = space_iterator_open(d->store, table->space, page.place.partition,
                                        page.place.row, d->access);
    decision_saw(d, space_iterator_sequence(page.iterator));
    for (size_t i = 0; i < ranges.count && !result && !page.complete; i++)
        result = add_range(&page, &ranges.ranges[i]);
    /* The space was dropped after the table had been read: there is no such table now. */
    if (!result && page.complete && space_iterator_is_gone(page.iterator))
        result = STORE_CONFLICT;
    space_iterator_close(page.iterator);
    arena_free(page.scratch);
    if (result)
        return decision_fail_store(d, result);
    r->next = page.next;
    return OK;
}
