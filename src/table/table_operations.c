/* Decisions of the operations on tables: see table_operations.h. */
#include "table/table_operations.h"

#include "service/placement.h"

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
