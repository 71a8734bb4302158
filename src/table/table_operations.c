/* Decisions of the operations on tables: see table_operations.h. */
#include "table/table_operations.h"

#include "service/placement.h"
#include "service/restore.h"
#include "service/usage.h"

/* ---- Create Table ---- */

/* Creates a table with a new space, so it contains nothing of a deleted table with the same name.
 *
 * returns  OK, E_TableAlreadyExists
 * rest: Create-Table; decision: 140 */
enum error create_table_decide(struct decision *d, const struct create_table_parameters *p,
                               struct create_table_result *r)
{
    struct table table;
    enum store_result result = table_read(d->before, d->arena, &table);
    bool is_elsewhere;
    enum error e;

    (void)r;
    if (result == STORE_OK)
        return E_TableAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    e = placement_of_new(d, &is_elsewhere);
    if (e || is_elsewhere)
        return e;
    table = (struct table){ .space = p->space, .name = p->name, .created = d->now };
    table_write(d->changes, d->arena, &table);
    return OK;
}

/* ---- Delete Table ---- */

/* Deletes the table's record and drops its space in one change, which removes all entities for new
 * requests. rest: Delete-Table; decision: 140 */
enum error delete_table_decide(struct decision *d, const struct delete_table_parameters *p,
                               struct delete_table_result *r)
{
    enum store_result result;

    (void)p;
    (void)r;
    table_delete_record(d->changes);
    changes_drop_space(d->changes, table_state(d)->table.space);
    result = placement_deleted(d);
    return result ? decision_fail_store(d, result) : OK;
}

/* Set ACL. */
void table_write_state(struct decision *d)
{
    table_write(d->changes, d->arena, &table_state(d)->table);
}

/* ---- restoring from a backup: service/restore.h ---- */

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

/* ---- storage used: service/usage.h ---- */

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
