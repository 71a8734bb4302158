/* Query Entities by both keys: a point read. rest: Query-Entities */
#include "base/log.h"
#include "table/entity_operations.h"
#include "table/filter.h"

enum error get_entity_decide(struct decision *d, const struct get_entity_parameters *p,
                             struct get_entity_result *r)
{
    const struct table_resource *asked = table_asked(d);
    struct filter_subject subject = { .partition_key = asked->partition_key,
                                      .row_key = asked->row_key,
                                      .record = table_state(d)->stored };

    if (p->filter && !filter_holds(p->filter, &subject))
        return E_ResourceNotFound;
    if (!entity_decode(d->arena, table_state(d)->stored, &r->entity)) {
        log_line(LOG_ERROR, "an entity's record is damaged");
        return decision_fail_store(d, STORE_CORRUPT);
    }
    r->entity.partition_key = asked->partition_key;
    r->entity.row_key = asked->row_key;
    r->table = table_state(d)->table.name;
    return OK;
}
