/* Finds the key ranges in which a filter may be true: see filter.h. Conditions on keys become
 * areas: an interval of partitions and one of rows in each of them. `and` is the intersection of
 * two sets of areas, `or` their union; `not` is pushed down to the comparisons. Any set may be
 * replaced by a larger one. */
#include "table/filter.h"

#include <assert.h>
#include <stdlib.h>

struct area {
    struct key_interval partitions, rows;
};

/* Unsorted, possibly overlapping. */
struct areas {
    struct area *areas;
    size_t count;
};

struct finder {
    struct arena *arena;
    const struct filter *filter;
};

static const struct key_interval everything = { BYTES(""), { NULL, 0 } };

/* ---- intervals ---- */

/* Returns the bound after the key. It is not a key itself, since no byte of a key is below 0x20. */
static struct bytes key_behind(struct arena *arena, struct bytes key)
{
    struct text to;

    text_init(&to, arena, key.len + 1);
    text_add(&to, key);
    text_add_char(&to, '\0');
    return text_bytes(&to);
}

static bool is_before(struct bytes from, struct bytes to)
{
    return !to.ptr || bytes_compare(from, to) < 0;
}

static struct bytes earlier_end(struct bytes a, struct bytes b)
{
    if (!a.ptr)
        return b;
    return is_before(a, b) ? a : b;
}

static struct bytes deferred_end(struct bytes a, struct bytes b)
{
    if (!a.ptr || !b.ptr)
        return bytes_of(NULL, 0);
    return is_before(a, b) ? b : a;
}

static struct key_interval intersect(struct key_interval a, struct key_interval b)
{
    return (struct key_interval){ bytes_compare(a.from, b.from) < 0 ? b.from : a.from,
                                  earlier_end(a.to, b.to) };
}

static bool is_empty(struct key_interval interval)
{
    return !is_before(interval.from, interval.to);
}

/* Returns true if it contains a single key. */
static bool is_one(struct key_interval interval)
{
    return interval.to.ptr && interval.to.len == interval.from.len + 1 &&
           interval.to.ptr[interval.from.len] == '\0' &&
           bytes_has_prefix(interval.to, interval.from);
}

/* ---- sets ---- */

static struct areas new_areas(struct finder *f, size_t capacity)
{
    return (struct areas){ arena_array(f->arena, capacity, sizeof(struct area)), 0 };
}

static struct areas all_areas(struct finder *f)
{
    struct areas all = new_areas(f, 1);

    all.areas[all.count++] = (struct area){ everything, everything };
    return all;
}

static size_t wide_count(const struct areas *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += !is_one(set->areas[i].partitions);
    return count;
}

/* Returns the set that probably requires less reading; both contain all results. */
static struct areas narrower(struct areas a, struct areas b)
{
    size_t wide_a = wide_count(&a), wide_b = wide_count(&b);

    if (wide_a != wide_b)
        return wide_a < wide_b ? a : b;
    return a.count <= b.count ? a : b;
}

static struct areas intersection(struct finder *f, struct areas a, struct areas b)
{
    struct areas both = new_areas(f, FILTER_RANGES_MAX);

    for (size_t i = 0; i < a.count; i++)
        for (size_t j = 0; j < b.count; j++) {
            struct area area = { intersect(a.areas[i].partitions, b.areas[j].partitions),
                                 intersect(a.areas[i].rows, b.areas[j].rows) };

            if (is_empty(area.partitions) || is_empty(area.rows))
                continue;
            if (both.count == FILTER_RANGES_MAX)
                return narrower(a, b);
            both.areas[both.count++] = area;
        }
    return both;
}

/* If there are too many areas, returns one that covers all of them. */
static struct areas hull(struct finder *f, const struct area *areas, size_t count)
{
    struct areas one = new_areas(f, 1);

    one.areas[one.count++] = areas[0];
    for (size_t i = 1; i < count; i++) {
        struct key_interval *to = &one.areas[0].partitions;

        if (bytes_compare(areas[i].partitions.from, to->from) < 0)
            to->from = areas[i].partitions.from;
        to->to = deferred_end(areas[i].partitions.to, to->to);
    }
    one.areas[0].rows = everything;
    return one;
}

static struct areas set_union(struct finder *f, struct areas a, struct areas b)
{
    struct areas either = new_areas(f, a.count + b.count);

    for (size_t i = 0; i < a.count; i++)
        either.areas[either.count++] = a.areas[i];
    for (size_t i = 0; i < b.count; i++)
        either.areas[either.count++] = b.areas[i];
    if (either.count > FILTER_RANGES_MAX)
        return hull(f, either.areas, either.count);
    return either;
}

/* ---- areas of a filter ---- */

static enum filter_operator opposite(enum filter_operator operator)
{
    static const enum filter_operator opposites[] = {
        [FILTER_EQUAL] = FILTER_NOT_EQUAL,    [FILTER_NOT_EQUAL] = FILTER_EQUAL,
        [FILTER_GREATER] = FILTER_LESS_EQUAL, [FILTER_LESS_EQUAL] = FILTER_GREATER,
        [FILTER_LESS] = FILTER_GREATER_EQUAL, [FILTER_GREATER_EQUAL] = FILTER_LESS,
    };

    return opposites[operator];
}

static void add_interval(struct areas *to, enum filter_field field, struct bytes from,
                         struct bytes end)
{
    struct key_interval interval = { from, end };
    struct area area = { everything, everything };

    if (field == FIELD_PARTITION_KEY)
        area.partitions = interval;
    else
        area.rows = interval;
    if (!is_empty(interval))
        to->areas[to->count++] = area;
}

static struct areas of_comparison(struct finder *f, const struct filter_comparison *c, bool negated)
{
    enum filter_operator operator= negated ? opposite(c->operator) : c->operator;
    const struct bytes none = { NULL, 0 };
    struct areas to;
    struct bytes key, behind;

    if (c->field != FIELD_PARTITION_KEY && c->field != FIELD_ROW_KEY)
        return all_areas(f);
    to = new_areas(f, 2);
    key = entity_key_encode(f->arena, c->value.as.bytes);
    behind = key_behind(f->arena, key);
    switch (operator) {
    case FILTER_EQUAL:
        add_interval(&to, c->field, key, behind);
        break;
    case FILTER_NOT_EQUAL:
        add_interval(&to, c->field, everything.from, key);
        add_interval(&to, c->field, behind, none);
        break;
    case FILTER_GREATER:
        add_interval(&to, c->field, behind, none);
        break;
    case FILTER_GREATER_EQUAL:
        add_interval(&to, c->field, key, none);
        break;
    case FILTER_LESS:
        add_interval(&to, c->field, everything.from, key);
        break;
    case FILTER_LESS_EQUAL:
        add_interval(&to, c->field, everything.from, behind);
        break;
    }
    return to;
}

/* Recurses no deeper than the parser, and at most once per operator. */
static struct areas of_node(struct finder *f, size_t at, bool negated)
{
    const struct filter_node *n = &f->filter->nodes[at];
    struct areas left, right;

    switch (n->kind) {
    case NODE_COMPARISON:
        return of_comparison(f, &f->filter->comparisons[n->left], negated);
    case NODE_CONSTANT:
        return n->constant != negated ? all_areas(f) : new_areas(f, 0);
    case NODE_NOT:
        return of_node(f, n->left, !negated);
    case NODE_AND:
    case NODE_OR:
        break;
    }
    left = of_node(f, n->left, negated);
    right = of_node(f, n->right, negated);
    return (n->kind == NODE_AND) != negated ? intersection(f, left, right)
                                            : set_union(f, left, right);
}

/* ---- sorted ranges ---- */

static int compare_areas(const void *a, const void *b)
{
    const struct area *x = a, *y = b;
    int order = bytes_compare(x->partitions.from, y->partitions.from);

    return order != 0 ? order : bytes_compare(x->rows.from, y->rows.from);
}

static struct key_range range_of(const struct area *area)
{
    bool one = is_one(area->partitions);

    return (struct key_range){ area->partitions, one, one ? area->rows : everything };
}

/* Adds a range that does not start before the last one, merging the two if they touch. */
static void add_range(struct key_ranges *to, struct key_range added)
{
    struct key_range *last = to->count > 0 ? &to->ranges[to->count - 1] : NULL;

    if (!last || !is_before(added.partitions.from, last->partitions.to)) {
        to->ranges[to->count++] = added;
    } else if (!last->one_partition || !added.one_partition) {
        last->partitions.to = deferred_end(last->partitions.to, added.partitions.to);
        last->one_partition = false;
        last->rows = everything;
    } else if (last->rows.to.ptr && bytes_compare(last->rows.to, added.rows.from) < 0) {
        to->ranges[to->count++] = added;
    } else {
        last->rows.to = deferred_end(last->rows.to, added.rows.to);
    }
}

struct key_ranges filter_ranges(struct arena *arena, const struct filter *filter)
{
    struct finder f = { arena, filter };
    struct areas areas = of_node(&f, filter->node_count - 1, false);
    struct key_ranges to = { arena_array(arena, areas.count, sizeof(struct key_range)), 0 };

    assert(areas.count <= FILTER_RANGES_MAX);
    qsort(areas.areas, areas.count, sizeof *areas.areas, compare_areas);
    for (size_t i = 0; i < areas.count; i++)
        add_range(&to, range_of(&areas.areas[i]));
    return to;
}
