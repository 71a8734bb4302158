/* See table_ask.h. */
#include "table_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const table_names[TABLES] = { "alpha", "Beta2" };
const char *const table_op_names[TABLE_OPS] = {
    [TABLE_CREATE] = "Create Table",
    [TABLE_DROP] = "Delete Table",
    [TABLE_GET] = "Get Table",
    [TABLE_LIST] = "Query Tables",
    [TABLE_GET_ACL] = "Get Table ACL",
    [TABLE_SET_ACL] = "Set Table ACL",
    [TABLE_INSERT] = "Insert Entity",
    [TABLE_REPLACE] = "Replace Entity",
    [TABLE_MERGE] = "Merge Entity",
    [TABLE_DELETE] = "Delete Entity",
    [TABLE_READ] = "Get Entity",
    [TABLE_QUERY] = "Query Entities",
    [TABLE_TRANSACTION] = "Entity Group Transaction",
    [TABLE_BATCHED_QUERY] = "Query Entities in a batch",
};
/* In UTF-16 the second begins with D83D, and comes before the third. */
const char *const table_partitions[TABLE_PARTITIONS] = { "a", "\xF0\x9F\x98\x80", "\xEE\x80\x80" };
const char *const table_partitions_json[TABLE_PARTITIONS] = { "a", "\\ud83d\\ude00", "\\ue000" };
const char *const table_letters[TABLE_LETTERS] = { "", "raud", "r", "au", "ud", "rad" };
const char *const table_rows[TABLE_ROWS] = { "", "1", "10", "b'c" };

enum { VALUE_INT32, VALUE_STRING, VALUE_INT64, VALUE_DOUBLE, VALUE_TYPES };

const char *table_value_type(unsigned value)
{
    return value % VALUE_TYPES == VALUE_INT64 ? "Edm.Int64" : NULL;
}

void table_value_json(unsigned value, char to[TABLE_VALUE_SIZE])
{
    size_t used;

    switch (value % VALUE_TYPES) {
    case VALUE_INT32:
        (void)snprintf(to, TABLE_VALUE_SIZE, "%u", value);
        break;
    case VALUE_INT64:
        (void)snprintf(to, TABLE_VALUE_SIZE, "\"%u\"", value);
        break;
    case VALUE_DOUBLE:
        (void)snprintf(to, TABLE_VALUE_SIZE, "%u.5", value);
        break;
    default: /* some are long */
        used = (size_t)snprintf(to, TABLE_VALUE_SIZE, "\"s%u", value);
        if (value % 16 == VALUE_STRING) {
            memset(to + used, 'x', value * 7 % 3000);
            used += value * 7 % 3000;
        }
        memcpy(to + used, "\"", 2);
        break;
    }
}

bool table_value_above(unsigned value, unsigned number)
{
    if (value == 0 || value % VALUE_TYPES == VALUE_STRING)
        return false;
    return value > number || (value == number && value % VALUE_TYPES == VALUE_DOUBLE);
}

/* ---- for people ---- */

static size_t format_change(const struct table_change *change, char *to, size_t size)
{
    static const char *const conditions[] = { "", " If-Match:*", " If-Match:tag" };
    int used =
        snprintf(to, size, " %s %u/%u%s", table_op_names[change->op], change->place / TABLE_ROWS,
                 change->place % TABLE_ROWS, conditions[change->condition]);

    if (change->condition == TABLE_IF_ETAG)
        used += snprintf(to + used, size - (size_t)used, " %" PRIX64, change->etag);
    for (unsigned i = 0; i < TABLE_PROPERTIES && (size_t)used < size; i++) {
        if (change->values[i] > 0)
            used += snprintf(to + used, size - (size_t)used, " %c=%u", 'A' + (char)i,
                             change->values[i]);
    }
    return (size_t)used < size ? (size_t)used : size - 1;
}

void table_ask_format(const struct table_ask *table, char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "%s of %s", table_op_names[table->op],
                                   table_names[table->table]);

    for (unsigned i = 0; i < table->count && used + 60 < size; i++)
        used += format_change(&table->parts[i], to + used, size - used);
    if (table->op == TABLE_SET_ACL)
        used +=
            (size_t)snprintf(to + used, size - used, " policies=%s,%s",
                             table_letters[table->policies[0]], table_letters[table->policies[1]]);
    if (table->sas.is_used && used + 60 < size)
        used += (size_t)snprintf(to + used, size - used, " by SAS %s%u %d..%d",
                                 table->sas.by_policy ? "p" : "", table->sas.letters,
                                 table->sas.has_first ? (int)table->sas.first : -1,
                                 table->sas.has_last ? (int)table->sas.last : -1);
    if (table->op == TABLE_QUERY || table->op == TABLE_BATCHED_QUERY || table->op == TABLE_LIST)
        (void)snprintf(
            to + used, size - used, " filter=%d place=%u other=%u value=%u top=%u from=%u%s",
            (int)table->query.filter, table->query.place, table->query.other, table->query.value,
            table->query.top, table->query.from, table->query.is_partial ? " partial" : "");
}
