/* Delete Table. */
#include "table/table_operations.h"

/* Deletes the table's record and drops its space in one change: all entities are gone with it, for
 * every request that begins from now on. rest: Delete-Table; decision: 140 */
enum error delete_table_decide(struct decision *d, const struct delete_table_parameters *p,
                               struct delete_table_result *r)
{
    (void)p;
    (void)r;
    table_delete_record(d->changes);
    changes_drop_space(d->changes, table_state(d)->table.space);
    return OK;
}
