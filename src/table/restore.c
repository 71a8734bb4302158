/* Restores tables from a backup: service/restore.h. */
#include "table/restore.h"

#include "table/tables.h"

static bool is_owner(struct bytes key)
{
    return bytes_is(key, "t");
}

static bool put_owner(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space)
{
    struct table table;

    if (!table_decode(record->value, &table))
        return false;
    table.space = space;
    if (!bytes_equal_nocase(name, table.name))
        table.name = name;
    table_write(d->changes, d->arena, &table);
    return true;
}

const struct restore_functions table_restore = {
    .check_name = table_check_name, .folds_case = true, .is_owner = is_owner, .put_owner = put_owner
};
