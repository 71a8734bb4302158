/* Precedence-climbing parser of $filter for the grammar in filter.h. */
#include "table/filter.h"
#include "table/filter_token.h"

#include <assert.h>
#include <stdlib.h>

/* A comparison is never an operand of another one; parentheses are handled earlier. */
enum precedence { BINDS_OR, BINDS_AND, BINDS_NOT, BINDS_COMPARISON };

static const struct operator_row {
    const char *word;
    const char *kind; /* name in OData error messages */
    enum precedence precedence;
    enum filter_operator operator; /* BINDS_COMPARISON */
    enum filter_operator turned;   /* the operator with its operands swapped */
} operators[] = {
    { "or", "Or", BINDS_OR, 0, 0 },
    { "and", "And", BINDS_AND, 0, 0 },
    { "eq", "Equal", BINDS_COMPARISON, FILTER_EQUAL, FILTER_EQUAL },
    { "ne", "NotEqual", BINDS_COMPARISON, FILTER_NOT_EQUAL, FILTER_NOT_EQUAL },
    { "gt", "GreaterThan", BINDS_COMPARISON, FILTER_GREATER, FILTER_LESS },
    { "ge", "GreaterThanOrEqual", BINDS_COMPARISON, FILTER_GREATER_EQUAL, FILTER_LESS_EQUAL },
    { "lt", "LessThan", BINDS_COMPARISON, FILTER_LESS, FILTER_GREATER },
    { "le", "LessThanOrEqual", BINDS_COMPARISON, FILTER_LESS_EQUAL, FILTER_GREATER_EQUAL },
};
/* In OData, but not in the service. */
static const char *const unbuilt_operators[] = { "add", "sub", "mul", "div", "mod" };

/* The result of a parsed expression: a boolean node, or an operand of a comparison. */
enum operand_kind { OPERAND_NODE, OPERAND_PROPERTY, OPERAND_LITERAL };
struct operand {
    enum operand_kind kind;
    uint16_t node;                     /* OPERAND_NODE */
    struct filter_comparison property; /* OPERAND_PROPERTY: field and name */
    struct edm_value value;            /* OPERAND_LITERAL */
};

struct parser {
    struct arena *arena;
    struct bytes text;
    enum filter_of of;
    struct token next;
    unsigned depth;
    struct filter *out;
    const char *message;
};

/* ---- errors ---- */

/* The position is after the offending token, as in the real service: 7 in 'aaa bbb ccc'. */
static enum error syntax_error(struct parser *p)
{
    struct bytes shown = p->text;

    shown.len = shown.len > 1024 ? 1024 : shown.len;
    if (p->next.kind == TOKEN_BAD && p->next.type != EDM_TYPES)
        p->message = arena_string(
            p->arena, arena_printf(p->arena, "Unrecognized '%s' literal '%.*s' at '%zu' in '%.*s'.",
                                   edm_type_name(p->next.type), BYTES_ARG(p->next.text), p->next.at,
                                   BYTES_ARG(shown)));
    else
        p->message =
            arena_string(p->arena, arena_printf(p->arena, "Syntax error at position %zu in '%.*s'.",
                                                p->next.at + p->next.text.len, BYTES_ARG(shown)));
    return E_InvalidInput;
}

static enum error incompatible(struct parser *p, enum edm_type left, enum edm_type right,
                               const struct operator_row *row)
{
    p->message = arena_string(
        p->arena, arena_printf(p->arena,
                               "A binary operator with incompatible types was detected. Found "
                               "operand types '%s' and '%s' for operator kind '%s'.",
                               edm_type_name(left), edm_type_name(right), row->kind));
    return E_InvalidInput;
}

/* ---- nodes ---- */

static enum error add_node(struct parser *p, struct filter_node node, struct operand *to)
{
    if (p->out->node_count == FILTER_NODES_MAX)
        return syntax_error(p);
    *to = (struct operand){ .kind = OPERAND_NODE, .node = (uint16_t)p->out->node_count };
    p->out->nodes[p->out->node_count++] = node;
    return OK;
}

static enum error add_comparison(struct parser *p, struct filter_comparison comparison,
                                 struct operand *to)
{
    size_t at = p->out->comparison_count;

    if (at == FILTER_COMPARISONS_MAX) {
        p->message = "The filter has too many comparisons.";
        return E_InvalidInput;
    }
    p->out->comparisons[at] = comparison;
    p->out->comparison_count++;
    return add_node(p, (struct filter_node){ .kind = NODE_COMPARISON, .left = (uint16_t)at }, to);
}

/* Returns the fixed type of a system property; EDM_TYPES if the type depends on the entity. */
static enum edm_type declared_type(const struct filter_comparison *property)
{
    if (property->field == FIELD_PROPERTY)
        return EDM_TYPES;
    return property->field == FIELD_TIMESTAMP ? EDM_DATETIME : EDM_STRING;
}

/* Converts an operand of `and`, `or`, `not`, or the entire expression, to a boolean node. */
static enum error to_node(struct parser *p, struct operand *o, const struct operator_row *row)
{
    enum edm_type type;

    if (o->kind == OPERAND_NODE)
        return OK;
    if (o->kind == OPERAND_LITERAL) {
        if (o->value.type != EDM_BOOLEAN)
            return incompatible(p, o->value.type, EDM_BOOLEAN, row);
        return add_node(
            p, (struct filter_node){ .kind = NODE_CONSTANT, .constant = o->value.as.boolean }, o);
    }
    type = declared_type(&o->property);
    if (type != EDM_TYPES)
        return incompatible(p, type, EDM_BOOLEAN, row);
    o->property.operator= FILTER_EQUAL;
    o->property.value = (struct edm_value){ .type = EDM_BOOLEAN, .as.boolean = true };
    return add_comparison(p, o->property, o);
}

/* ---- operands ---- */

static struct filter_comparison property_of(enum filter_of of, struct bytes name)
{
    static const struct {
        const char *name;
        enum filter_of of;
        enum filter_field field;
    } rows[] = { { "PartitionKey", FILTER_ENTITIES, FIELD_PARTITION_KEY },
                 { "RowKey", FILTER_ENTITIES, FIELD_ROW_KEY },
                 { "Timestamp", FILTER_ENTITIES, FIELD_TIMESTAMP },
                 { "TableName", FILTER_TABLES, FIELD_TABLE_NAME } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].of == of && bytes_is(name, rows[i].name))
            return (struct filter_comparison){ .field = rows[i].field };
    return (struct filter_comparison){ .field = FIELD_PROPERTY, .name = name };
}

static void advance(struct parser *p)
{
    p->next = token_read(p->arena, p->text, p->next.at + p->next.text.len);
}

static const struct operator_row *operator_of(const struct token *token)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (token->kind == TOKEN_WORD && bytes_is(token->text, operators[i].word))
            return &operators[i];
    return NULL;
}

static enum error parse_expression(struct parser *p, enum precedence least, struct operand *to);

static enum error parse_parentheses(struct parser *p, struct operand *to)
{
    enum error e;

    if (p->depth == FILTER_DEPTH_MAX)
        return syntax_error(p);
    p->depth++;
    advance(p);
    e = parse_expression(p, BINDS_OR, to);
    if (e)
        return e;
    if (p->next.kind != TOKEN_CLOSE)
        return syntax_error(p);
    p->depth--;
    advance(p);
    return OK;
}

static enum error parse_not(struct parser *p, struct operand *to)
{
    static const struct operator_row not_row = { "not", "Not", BINDS_NOT, 0, 0 };
    enum error e;

    if (p->depth == FILTER_DEPTH_MAX)
        return syntax_error(p);
    p->depth++;
    advance(p);
    e = parse_expression(p, BINDS_NOT, to);
    if (!e)
        e = to_node(p, to, &not_row);
    if (e)
        return e;
    p->depth--;
    return add_node(p, (struct filter_node){ .kind = NODE_NOT, .left = to->node }, to);
}

static enum error parse_property(struct parser *p, struct operand *to)
{
    if (operator_of(&p->next))
        return syntax_error(p);
    *to =
        (struct operand){ .kind = OPERAND_PROPERTY, .property = property_of(p->of, p->next.text) };
    advance(p);
    if (p->next.kind == TOKEN_OPEN) /* a function */
        return E_NotImplemented;
    /* A table has only one property. */
    if (p->of == FILTER_TABLES && to->property.field == FIELD_PROPERTY)
        return syntax_error(p);
    return OK;
}

static enum error parse_operand(struct parser *p, struct operand *to)
{
    switch (p->next.kind) {
    case TOKEN_OPEN:
        return parse_parentheses(p, to);
    case TOKEN_LITERAL:
        *to = (struct operand){ .kind = OPERAND_LITERAL, .value = p->next.value };
        advance(p);
        return OK;
    case TOKEN_WORD:
        if (bytes_is(p->next.text, "null")) /* refused without details. decision: 165 */
            return E_InvalidInput;
        return bytes_is(p->next.text, "not") ? parse_not(p, to) : parse_property(p, to);
    case TOKEN_CLOSE:
    case TOKEN_END:
    case TOKEN_BAD:
        break;
    }
    return syntax_error(p);
}

/* ---- operators ---- */

static enum error compare(struct parser *p, const struct operator_row *row, struct operand *left,
                          const struct operand *right)
{
    bool turned = left->kind == OPERAND_LITERAL;
    const struct operand *property = turned ? right : left;
    const struct edm_value *value = turned ? &left->value : &right->value;
    struct filter_comparison comparison = property->property;
    enum edm_type type = declared_type(&comparison);

    /* Two properties, two literals, or a boolean expression. */
    if (property->kind != OPERAND_PROPERTY || (turned ? left : right)->kind != OPERAND_LITERAL)
        return E_NotImplemented;
    if (type != EDM_TYPES && type != value->type)
        return turned ? incompatible(p, value->type, type, row)
                      : incompatible(p, type, value->type, row);
    comparison.operator= turned ? row->turned : row->operator;
    comparison.value = *value;
    return add_comparison(p, comparison, left);
}

static enum error combine(struct parser *p, const struct operator_row *row, struct operand *left,
                          struct operand *right)
{
    struct filter_node node = { .kind = row->precedence == BINDS_OR ? NODE_OR : NODE_AND };
    enum error e = to_node(p, left, row);

    if (!e)
        e = to_node(p, right, row);
    if (e)
        return e;
    node.left = left->node;
    node.right = right->node;
    return add_node(p, node, left);
}

static bool is_unbuilt(const struct token *token)
{
    for (size_t i = 0; i < sizeof unbuilt_operators / sizeof unbuilt_operators[0]; i++)
        if (token->kind == TOKEN_WORD && bytes_is(token->text, unbuilt_operators[i]))
            return true;
    return false;
}

/* Parses an expression of operators with at least this precedence. */
static enum error parse_expression(struct parser *p, enum precedence least, struct operand *to)
{
    enum error e = parse_operand(p, to);

    while (!e) {
        const struct operator_row *row = operator_of(&p->next);
        struct operand right;

        if (is_unbuilt(&p->next))
            return E_NotImplemented;
        if (!row || row->precedence < least)
            return OK;
        advance(p);
        e = row->precedence == BINDS_COMPARISON ? parse_operand(p, &right)
                                                : parse_expression(p, row->precedence + 1, &right);
        if (!e)
            e = row->precedence == BINDS_COMPARISON ? compare(p, row, to, &right)
                                                    : combine(p, row, to, &right);
    }
    return e;
}

/* ---- comparisons sorted by name ---- */

static int by_name(const void *a, const void *b)
{
    const struct filter_comparison *const *x = a, *const *y = b;

    return bytes_compare((*x)->name, (*y)->name);
}

static void sort_names(struct arena *arena, struct filter *filter)
{
    filter->by_name = arena_array(arena, filter->comparison_count, sizeof *filter->by_name);
    for (size_t i = 0; i < filter->comparison_count; i++)
        if (filter->comparisons[i].field == FIELD_PROPERTY)
            filter->by_name[filter->name_count++] = &filter->comparisons[i];
    if (filter->name_count > 0)
        qsort(filter->by_name, filter->name_count, sizeof *filter->by_name, by_name);
}

enum error filter_parse(struct arena *arena, struct bytes text, enum filter_of of,
                        struct filter *ret_filter, const char **ret_message)
{
    static const struct operator_row whole = { "", "And", BINDS_OR, 0, 0 };
    struct filter filter = {
        .comparisons = arena_array(arena, FILTER_COMPARISONS_MAX, sizeof *filter.comparisons),
        .nodes = arena_array(arena, FILTER_NODES_MAX, sizeof *filter.nodes),
    };
    struct parser p = { .arena = arena, .text = text, .of = of, .out = &filter };
    struct operand all;
    enum error e;

    *ret_message = NULL;
    if (text.len > FILTER_BYTES_MAX || !bytes_is_utf8(text))
        return E_InvalidInput;
    p.next = token_read(arena, text, 0);
    e = parse_expression(&p, BINDS_OR, &all);
    if (!e && p.next.kind != TOKEN_END)
        e = syntax_error(&p);
    if (!e)
        e = to_node(&p, &all, &whole);
    *ret_message = p.message;
    if (!e) {
        assert(all.node + 1u == filter.node_count);
        sort_names(arena, &filter);
        *ret_filter = filter;
    }
    return e;
}
