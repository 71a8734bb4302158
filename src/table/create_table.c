/* Create Table. */
#include "table/table_operations.h"

/* Creates a table; its space is new, so nothing of a deleted table of the same name is in it.
 *
 * returns  OK, E_TableAlreadyExists
 * rest: Create-Table; decision: 140 */
enum error create_table_decide(struct decision *d, const struct create_table_parameters *p,
                               struct create_table_result *r)
{
    struct table table;
    enum store_result result = table_read(d->before, d->arena, &table);

    (void)r;
    if (result == STORE_OK)
        return E_TableAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    table = (struct table){ .space = p->space, .name = p->name, .created = d->now };
    table_write(d->changes, d->arena, &table);
    return OK;
}
