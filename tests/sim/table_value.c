/* See table_value.h. rest: Understanding-the-Table-Service-Data-Model "Property Types" */
#include "table_value.h"

#include <stdio.h>
#include <string.h>

enum type { INT32, STRING, INT64, DOUBLE, DATETIME, GUID, BINARY, BOOLEAN, TYPES };
/* Values below TABLE_EDGES are of the first four in turn. */
#define PLAIN_TYPES 4u

static const char *const type_names[TYPES] = {
    [INT64] = "Edm.Int64", [DATETIME] = "Edm.DateTime", [GUID] = "Edm.Guid", [BINARY] = "Edm.Binary"
};

/* Of each type in order. JSON as the service writes it. */
static const struct {
    enum type type;
    const char *json;
    const char *literal; /* NULL: as in JSON */
    long double number;  /* every Int64 is one exactly */
} edges[TABLE_EDGE_COUNT] = {
    { INT64, "\"9007199254740991\"", "9007199254740991L", 9007199254740991.0L },
    { INT64, "\"9007199254740992\"", "9007199254740992L", 9007199254740992.0L },
    { INT64, "\"9007199254740993\"", "9007199254740993L", 9007199254740993.0L },
    { INT64, "\"9007199254740994\"", "9007199254740994L", 9007199254740994.0L },
    { INT64, "\"9223372036854775806\"", "9223372036854775806L", 9223372036854775806.0L },
    { INT64, "\"9223372036854775807\"", "9223372036854775807L", 9223372036854775807.0L },
    { INT64, "\"-9223372036854775808\"", "-9223372036854775808L", -9223372036854775808.0L },
    { INT64, "\"-9223372036854775807\"", "-9223372036854775807L", -9223372036854775807.0L },
    { INT64, "\"2147483648\"", "2147483648L", 2147483648.0L },
    { INT32, "-2147483648", NULL, -2147483648.0L },
    { INT32, "-1", NULL, -1.0L },
    { INT32, "2147483646", NULL, 2147483646.0L },
    { INT32, "2147483647", NULL, 2147483647.0L },
    { DOUBLE, "-1.7976931348623157E+308", NULL, -0x1.fffffffffffffp+1023L },
    { DOUBLE, "-0.5", NULL, -0.5L },
    { DOUBLE, "2147483646.5", NULL, 2147483646.5L },
    { DOUBLE, "9007199254740992.0", NULL, 9007199254740992.0L },
    { DOUBLE, "9007199254740994.0", NULL, 9007199254740994.0L },
    { DATETIME, "\"1601-01-01T00:00:00Z\"", NULL, 0 },
    { DATETIME, "\"2026-01-01T00:00:00Z\"", NULL, 1 },
    { DATETIME, "\"2026-01-01T00:00:00.0000001Z\"", NULL, 2 },
    { DATETIME, "\"9999-12-31T23:59:59.9999999Z\"", NULL, 3 },
    { GUID, "\"00000000-0000-0000-0000-000000000001\"", NULL, 0 },
    { GUID, "\"7f000000-0000-0000-0000-000000000000\"", NULL, 1 },
    { GUID, "\"80000000-0000-0000-0000-000000000000\"", NULL, 2 },
    { BINARY, "\"fw==\"", "X'7f'", 0 },
    { BINARY, "\"gA==\"", "X'80'", 1 },
    { BINARY, "\"gAA=\"", "X'8000'", 2 },
    { BOOLEAN, "true", NULL, 1 },
};

static bool is_edge(unsigned value)
{
    return value >= TABLE_EDGES;
}

static enum type type_of(unsigned value)
{
    return is_edge(value) ? edges[value - TABLE_EDGES].type : (enum type)(value % PLAIN_TYPES);
}

static long double number_of(unsigned value)
{
    if (is_edge(value))
        return edges[value - TABLE_EDGES].number;
    return value % PLAIN_TYPES == DOUBLE ? value + 0.5L : value;
}

const char *table_value_type(unsigned value)
{
    return type_names[type_of(value)];
}

void table_value_json(unsigned value, char to[TABLE_VALUE_SIZE])
{
    size_t used;

    if (is_edge(value)) {
        (void)snprintf(to, TABLE_VALUE_SIZE, "%s", edges[value - TABLE_EDGES].json);
        return;
    }
    switch ((int)(value % PLAIN_TYPES)) {
    case INT32:
        (void)snprintf(to, TABLE_VALUE_SIZE, "%u", value);
        break;
    case INT64:
        (void)snprintf(to, TABLE_VALUE_SIZE, "\"%u\"", value);
        break;
    case DOUBLE:
        (void)snprintf(to, TABLE_VALUE_SIZE, "%u.5", value);
        break;
    default: /* some are long */
        used = (size_t)snprintf(to, TABLE_VALUE_SIZE, "\"s%u", value);
        if (value % 16 == STRING) {
            memset(to + used, 'x', value * 7 % 3000);
            used += value * 7 % 3000;
        }
        memcpy(to + used, "\"", 2);
        break;
    }
}

/* rest: Querying-Tables-and-Entities */
void table_value_literal(unsigned value, char to[TABLE_VALUE_SIZE])
{
    static char json[TABLE_VALUE_SIZE];
    enum type type = type_of(value);
    const char *before = type == DATETIME ? "datetime" : type == GUID ? "guid" : "";

    if (is_edge(value) && edges[value - TABLE_EDGES].literal) {
        (void)snprintf(to, TABLE_VALUE_SIZE, "%s", edges[value - TABLE_EDGES].literal);
        return;
    }
    if (type == INT64) {
        (void)snprintf(to, TABLE_VALUE_SIZE, "%uL", value);
        return;
    }
    table_value_json(value, json);
    (void)snprintf(to, TABLE_VALUE_SIZE, "%s%.4000s", before, json);
    for (char *c = to; *c; c++)
        *c = (char)(*c == '"' ? '\'' : *c);
}

static bool holds(enum table_operator operator, int order)
{
    switch (operator) {
    case OPERATOR_EQ:
        return order == 0;
    case OPERATOR_NE:
        return order != 0;
    case OPERATOR_LT:
        return order < 0;
    case OPERATOR_LE:
        return order <= 0;
    case OPERATOR_GT:
        return order > 0;
    case OPERATOR_GE:
        return order >= 0;
    }
    return false;
}

static bool holds_number(unsigned value, enum table_operator operator, enum type type,
                         long double number)
{
    enum type is = type_of(value);
    long double of = number_of(value);

    if (value == 0 || (is != type && !(type == INT32 && (is == INT64 || is == DOUBLE))))
        return false;
    return holds(operator,(of > number) - (of < number));
}

bool table_value_holds(unsigned value, enum table_operator operator, unsigned literal)
{
    static char texts[2][TABLE_VALUE_SIZE];

    if (type_of(literal) != STRING)
        return holds_number(value, operator, type_of(literal), number_of(literal));
    if (value == 0 || type_of(value) != STRING)
        return false;
    table_value_json(value, texts[0]);
    table_value_json(literal, texts[1]);
    for (unsigned i = 0; i < 2; i++)
        texts[i][strlen(texts[i]) - 1] = '\0'; /* the quote would count */
    return holds(operator, strcmp(texts[0], texts[1]));
}

bool table_value_above(unsigned value, unsigned number)
{
    return holds_number(value, OPERATOR_GT, INT32, number);
}
