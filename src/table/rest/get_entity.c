/* Query Entities by both keys as a request and as an answer. rest: Query-Entities */
#include "table/entity_operations.h"
#include "table/rest/query.h"
#include "table/rest/request.h"

enum error get_entity_check(struct call *call, struct get_entity_parameters *p)
{
    enum error e = odata_read(call, &p->odata);

    if (!e)
        e = query_read_filter(call, FILTER_ENTITIES, &p->filter);
    return e ? e : query_read_select(call, &p->select, &p->select_count);
}

void get_entity_answer(struct answer *a, const struct get_entity_parameters *p,
                       const struct get_entity_result *r)
{
    struct entity_view view = entity_view_of(a->call, p->odata, r->table);
    struct text out;

    view.select = p->select;
    view.select_count = p->select_count;
    text_init(&out, a->arena, 1024);
    entity_json_write(&out, &view, &r->entity);
    odata_answer(a, 200);
    entity_answer_etag(a, r->entity.timestamp);
    odata_answer_json(a, p->odata, &out);
}
