/* Query Entities: iterates over the table's space, limited to the key ranges of the filter.
 *
 * (1) The work of a page is bounded: it ends at the requested number of results, at a maximum cost,
 *     or after a maximum time. Keys excluded by the filter are not read. At least one entity is
 *     read, so that the next page makes progress.
 * (2) A page is read from one consistent state of the table, and that state is durable before the
 *     page is sent.
 * (3) The next page starts at the key of the first entity that this one did not read. So whatever
 *     writers do, no page misses or repeats an entity that existed throughout.
 * rest: Query-Entities, Query-Timeout-and-Pagination */
#include "service/small_record.h"
#include "table/entity_operations.h"
#include "table/filter.h"
#include "table/entity.h"

/* Maximum cost of a page. An entity costs 1, plus 1 per KiB, plus 1 per 128 steps of its filter and
 * its rendering; a unit is about a microsecond. decision: 192, 254 */
#define PAGE_COST_MAX     50000u
/* Maximum duration of a page, however slow the disk is; the clock is read once per CLOCK_COST. */
#define PAGE_TICKS_MAX    (5 * TICKS_PER_SECOND)
#define CLOCK_COST        256u
/* Maximum cost on a worker; a page that needs more is computed in the pool. */
#define WORKER_COST_MAX   4000u
#define COST_BYTES_SHIFT  10
#define COST_STEPS        128u

/* Memory for one entity. */
#define SCRATCH_CAP_BYTES (64u << 20)

struct page {
    struct decision *d;
    struct arena *scratch; /* for the current entity */
    const struct query_entities_parameters *parameters;
    struct key_limits limits;
    struct space_iterator *iterator;
    uint32_t shown;
    uint64_t cost, clock_cost; /* so far; when to read the clock next */
    uint64_t steps;            /* not yet added to the cost */
    instant end;               /* deadline for reading another entity */
    bool late;
    bool complete;             /* no more entities are needed */
    struct entity_place place; /* all entities before it were read */
    struct entity_place next;  /* keys in UTF-8; partition.ptr NULL if there is no next page */
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
    return page->shown == page->parameters->top || page->parameters->sink->full ||
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

    if (!page->parameters->filter)
        return true;
    holds = filter_holds(page->parameters->filter, subject);
    add_steps(page, subject->steps);
    return holds;
}

/* Returns STORE_OK, STORE_CORRUPT. */
static enum store_result add_entity(struct page *page, struct bytes partition_key,
                                    struct bytes row_key, struct bytes value)
{
    struct entity entity;

    if (!entity_decode(page->scratch, value, &entity))
        return record_is_unknown("an entity's record", value);
    entity.partition_key = partition_key;
    entity.row_key = row_key;
    page->parameters->sink->add(page->parameters->sink, &entity);
    add_steps(page, page->parameters->sink->steps);
    page->shown++;
    return STORE_OK;
}

/* Processes one entity in the range. Returns STORE_OK to continue, STORE_NOT_FOUND if the page is
 * complete, STORE_CORRUPT. */
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

/* Returns STORE_OK, STORE_WAIT, STORE_CORRUPT.. */
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
        .parameters = p,
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
    /* The space was dropped after the table was read: the table no longer exists. */
    if (!result && page.complete && space_iterator_is_gone(page.iterator))
        result = STORE_CONFLICT;
    space_iterator_close(page.iterator);
    arena_free(page.scratch);
    if (result)
        return decision_fail_store(d, result);
    r->next = page.next;
    return OK;
}
