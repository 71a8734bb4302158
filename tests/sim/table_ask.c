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

const char *const table_operators[TABLE_OPERATORS] = { "eq", "ne", "lt", "le", "gt", "ge" };

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
        used += (size_t)snprintf(
            to + used, size - used, " by SAS %s%u%s%s %d..%d", table->sas.by_policy ? "p" : "",
            table->sas.letters, table->sas.beside > 0 ? " and " : "",
            table_letters[table->sas.beside], table->sas.has_first ? (int)table->sas.first : -1,
            table->sas.has_last ? (int)table->sas.last : -1);
    if (table->op == TABLE_QUERY || table->op == TABLE_BATCHED_QUERY || table->op == TABLE_LIST)
        (void)snprintf(
            to + used, size - used, " filter=%d %s place=%u other=%u value=%u top=%u from=%u%s",
            (int)table->query.filter, table_operators[table->query.operator], table->query.place, table->query.other, table->query.value,
            table->query.top, table->query.from, table->query.is_partial ? " partial" : "");
}
