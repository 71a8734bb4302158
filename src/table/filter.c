/* Whether a filter holds: see filter.h. */
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

/* As IEEE 754: nothing is equal to NaN, or less, or greater. */
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
    assert(false); /* no type that has an order */
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

static bool holds_text(const struct filter_comparison *c, struct bytes text)
{
    return holds_value(c, &(struct edm_value){ .type = EDM_STRING, .as.bytes = text });
}

/* Looks at the properties of a record, once for all comparisons. False: an unknown form. */
static bool look_at_record(const struct filter *filter, struct bytes record, bool *results)
{
    struct entity_reader reader;
    struct property p;

    if (!entity_reader_init(&reader, record))
        return false;
    for (size_t i = 0; i < filter->comparison_count; i++)
        if (filter->comparisons[i].field == FIELD_TIMESTAMP)
            results[i] = holds_value(
                &filter->comparisons[i],
                &(struct edm_value){ .type = EDM_DATETIME, .as.time = reader.timestamp });
    while (entity_reader_next(&reader, &p))
        for (size_t i = 0; i < filter->comparison_count; i++) {
            const struct filter_comparison *c = &filter->comparisons[i];

            if (c->field == FIELD_PROPERTY && bytes_equal(c->name, p.name))
                results[i] = holds_value(c, &p.value);
        }
    return decoder_ok(&reader.in);
}

/* Some comparison is about more than keys. */
static bool needs_record(const struct filter *filter)
{
    for (size_t i = 0; i < filter->comparison_count; i++)
        if (filter->comparisons[i].field == FIELD_PROPERTY ||
            filter->comparisons[i].field == FIELD_TIMESTAMP)
            return true;
    return false;
}

static bool look(const struct filter *filter, const struct filter_subject *subject, bool *results)
{
    for (size_t i = 0; i < filter->comparison_count; i++) {
        const struct filter_comparison *c = &filter->comparisons[i];

        results[i] = false; /* also for a property that is not there */
        if (c->field == FIELD_PARTITION_KEY)
            results[i] = holds_text(c, subject->partition_key);
        else if (c->field == FIELD_ROW_KEY)
            results[i] = holds_text(c, subject->row_key);
        else if (c->field == FIELD_TABLE_NAME)
            results[i] = holds_text(c, subject->table_name);
    }
    return !needs_record(filter) || look_at_record(filter, subject->record, results);
}

bool filter_holds(const struct filter *filter, const struct filter_subject *subject)
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
