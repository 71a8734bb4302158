/* Evaluates filters: see filter.h. */
#include "table/filter.h"

#include <assert.h>

/* ---- comparing values ---- */

static bool holds_order(enum filter_operator operator, int order)
{
    switch (operator) {
    case FILTER_EQUAL:
        return order == 0;
    case FILTER_NOT_EQUAL:
        return order != 0;
    case FILTER_GREATER:
        return order > 0;
    case FILTER_GREATER_EQUAL:
        return order >= 0;
    case FILTER_LESS:
        return order < 0;
    case FILTER_LESS_EQUAL:
        return order <= 0;
    }
    return false;
}

/* Compares according to IEEE 754: NaN is unequal to everything, and neither less nor greater. */
static bool holds_doubles(enum filter_operator operator, double a, double b)
{
    if (a < b || a > b || a == b)
        return holds_order(operator,(a > b) - (a < b));
    return operator== FILTER_NOT_EQUAL;
}

static int order_values(const struct edm_value *a, const struct edm_value *b)
{
    switch (a->type) {
    case EDM_STRING:
        return edm_compare_text(a->as.bytes, b->as.bytes);
    case EDM_INT32:
    case EDM_INT64:
        return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
    case EDM_BOOLEAN:
        return a->as.boolean - b->as.boolean;
    case EDM_DATETIME:
        return (a->as.time > b->as.time) - (a->as.time < b->as.time);
    case EDM_GUID:
        return memcmp(a->as.guid.b, b->as.guid.b, sizeof a->as.guid.b);
    case EDM_BINARY:
        return bytes_compare(a->as.bytes, b->as.bytes);
    case EDM_DOUBLE:
    case EDM_TYPES:
        break;
    }
    assert(false); /* not an ordered type */
    return 0;
}

/* decision: 166 */
static bool holds_value(const struct filter_comparison *c, const struct edm_value *value)
{
    bool widened = c->value.type == EDM_INT32;

    if (value->type == EDM_DOUBLE && (widened || c->value.type == EDM_DOUBLE))
        return holds_doubles(c->operator, value->as.real,
                             widened ? (double)c->value.as.integer : c->value.as.real);
    if (value->type != c->value.type && !(value->type == EDM_INT64 && widened))
        return false;
    return holds_order(c->operator, order_values(value, &c->value));
}

/* ---- comparisons ---- */

/* Bytes of two texts compared per step. */
#define STEP_BYTES 16

static uint64_t steps_of(const struct edm_value *a, const struct edm_value *b)
{
    size_t x, y;

    if (a->type != b->type || (a->type != EDM_STRING && a->type != EDM_BINARY))
        return 1;
    x = a->as.bytes.len;
    y = b->as.bytes.len;
    return 1 + (x < y ? x : y) / STEP_BYTES;
}

static bool compare(const struct filter_comparison *c, const struct edm_value *value,
                    uint64_t *steps)
{
    *steps += steps_of(&c->value, value);
    return holds_value(c, value);
}

static bool compare_text(const struct filter_comparison *c, struct bytes text, uint64_t *steps)
{
    return compare(c, &(struct edm_value){ .type = EDM_STRING, .as.bytes = text }, steps);
}

/* Returns the index of the first comparison, in the order of names, not before `name`. */
static size_t first_of(const struct filter *filter, struct bytes name, uint64_t *steps)
{
    size_t from = 0, to = filter->name_count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        (*steps)++;
        if (bytes_compare(filter->by_name[middle]->name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void compare_property(const struct filter *filter, const struct property *p, bool *results,
                             uint64_t *steps)
{
    (*steps)++;
    for (size_t i = first_of(filter, p->name, steps);
         i < filter->name_count && bytes_equal(filter->by_name[i]->name, p->name); i++)
        results[filter->by_name[i] - filter->comparisons] =
            compare(filter->by_name[i], &p->value, steps);
}

/* Evaluates all comparisons on the properties of a record in one pass. Returns false for an
 * unrecognized format. */
static bool look_at_record(const struct filter *filter, struct bytes record, bool *results,
                           uint64_t *steps)
{
    struct entity_reader reader;
    struct property p;

    if (!entity_reader_init(&reader, record))
        return false;
    for (size_t i = 0; i < filter->comparison_count; i++)
        if (filter->comparisons[i].field == FIELD_TIMESTAMP)
            results[i] = compare(
                &filter->comparisons[i],
                &(struct edm_value){ .type = EDM_DATETIME, .as.time = reader.timestamp }, steps);
    while (entity_reader_next(&reader, &p))
        compare_property(filter, &p, results, steps);
    return decoder_ok(&reader.in);
}

/* Returns true if a comparison is not about keys only. */
static bool needs_record(const struct filter *filter)
{
    for (size_t i = 0; i < filter->comparison_count; i++)
        if (filter->comparisons[i].field == FIELD_PROPERTY ||
            filter->comparisons[i].field == FIELD_TIMESTAMP)
            return true;
    return false;
}

static bool look(const struct filter *filter, struct filter_subject *subject, bool *results)
{
    uint64_t *steps = &subject->steps;

    *steps += filter->comparison_count + filter->node_count;
    for (size_t i = 0; i < filter->comparison_count; i++) {
        const struct filter_comparison *c = &filter->comparisons[i];

        results[i] = false; /* also for a missing property */
        if (c->field == FIELD_PARTITION_KEY)
            results[i] = compare_text(c, subject->partition_key, steps);
        else if (c->field == FIELD_ROW_KEY)
            results[i] = compare_text(c, subject->row_key, steps);
        else if (c->field == FIELD_TABLE_NAME)
            results[i] = compare_text(c, subject->table_name, steps);
    }
    return !needs_record(filter) || look_at_record(filter, subject->record, results, steps);
}

bool filter_holds(const struct filter *filter, struct filter_subject *subject)
{
    bool results[FILTER_COMPARISONS_MAX];
    bool nodes[FILTER_NODES_MAX];

    if (!look(filter, subject, results))
        return false;
    for (size_t i = 0; i < filter->node_count; i++) {
        const struct filter_node *n = &filter->nodes[i];

        switch (n->kind) {
        case NODE_COMPARISON:
            nodes[i] = results[n->left];
            break;
        case NODE_CONSTANT:
            nodes[i] = n->constant;
            break;
        case NODE_AND:
            nodes[i] = nodes[n->left] && nodes[n->right];
            break;
        case NODE_OR:
            nodes[i] = nodes[n->left] || nodes[n->right];
            break;
        case NODE_NOT:
            nodes[i] = !nodes[n->left];
            break;
        }
    }
    assert(filter->node_count > 0);
    return nodes[filter->node_count - 1];
}
