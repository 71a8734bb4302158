/* Contents of a table, for operators: service/usage.h. */
#include "table/usage.h"

#include "table/tables.h"

static bool is_table(const struct space_record *record, struct guid *ret_space,
                     uint64_t *ret_quota_bytes)
{
    struct table table;

    (void)ret_quota_bytes;
    if (!bytes_is(record->record_key, "t") || !table_decode(record->value, &table))
        return false;
    *ret_space = table.space;
    return true;
}

static struct bytes name_of(const struct space_record *record)
{
    struct table table;

    return table_decode(record->value, &table) ? table.name : record->partition_key;
}

const struct usage_functions table_usage = { .container = is_table, .name = name_of };
