/* Operations on one entity: parsing of requests, rendering of responses. */
#include "table/entity_operations.h"
#include "table/rest/query.h"
#include "table/rest/odata.h"

/* ---- Get Entity ---- */

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
    odata_answer(a);
    odata_answer_json(a, p->odata, &out);
}

/* ---- Insert, Update, Merge and Delete Entity ---- */

/* ---- requests ---- */

/* Checks the headers of a request with an entity in its body. */
static enum error check_head(struct call *call, const struct odata **ret_odata)
{
    enum error e = odata_read(call, ret_odata);

    return e ? e : odata_check_body(call);
}

static enum error read_body(struct call *call, struct entity *ret_entity)
{
    const char *message = NULL;
    enum error e =
        entity_json_read(call->arena, call->input.body.inline_bytes, ret_entity, &message);

    return odata_refuse(call, e, message);
}

/* Reads an entity whose keys are in the URL. Keys in the body are ignored. decision: 891 */
static enum error read_named(struct call *call, struct entity *ret_entity)
{
    const struct table_resource *named = table_resource(call->input.resource);
    enum error e = read_body(call, ret_entity);

    if (e)
        return e;
    ret_entity->partition_key = named->partition_key;
    ret_entity->row_key = named->row_key;
    return OK;
}

enum error insert_entity_check(struct call *call, struct insert_entity_parameters *p)
{
    return check_head(call, &p->odata);
}

/* Parses the entity; its keys come from the body and complete the resource. */
enum error insert_entity_parse(struct call *call, struct insert_entity_parameters *p)
{
    struct table_resource *resource = arena_alloc(call->arena, sizeof *resource);
    enum error e = read_body(call, &p->entity);

    if (e)
        return e;
    if (!p->entity.partition_key.ptr || !p->entity.row_key.ptr)
        return E_PropertiesNeedValue;
    *resource = *table_resource(call->input.resource);
    resource->partition_key = p->entity.partition_key;
    resource->row_key = p->entity.row_key;
    call->input.resource = &resource->base;
    return OK;
}

enum error replace_entity_check(struct call *call, struct replace_entity_parameters *p)
{
    const struct odata *odata;

    (void)p;
    return check_head(call, &odata);
}

enum error replace_entity_parse(struct call *call, struct replace_entity_parameters *p)
{
    return read_named(call, &p->entity);
}

enum error merge_entity_check(struct call *call, struct merge_entity_parameters *p)
{
    const struct odata *odata;

    (void)p;
    return check_head(call, &odata);
}

enum error merge_entity_parse(struct call *call, struct merge_entity_parameters *p)
{
    return read_named(call, &p->entity);
}

enum error delete_entity_check(struct call *call, struct delete_entity_parameters *p)
{
    const struct odata *odata;

    (void)p;
    return odata_read(call, &odata);
}

/* ---- responses ---- */

void insert_entity_answer(struct answer *a, const struct insert_entity_parameters *p,
                          const struct insert_entity_result *r)
{
    const struct entity *entity = &r->entity;
    struct entity_view view = entity_view_of(a->call, p->odata, r->table);
    struct text location, out;

    text_init(&location, a->arena, 256);
    text_add(&location, a->call->url_prefix);
    text_add_char(&location, '/');
    entity_path_write(&location, r->table, entity->partition_key, entity->row_key);
    odata_answer(a);
    odata_answer_preference(a);
    answer_header(a, "Location", text_bytes(&location));
    if (p->odata->preference == PREFERS_NO_CONTENT) {
        answer_status(a, 204);
        answer_header(a, "DataServiceId", text_bytes(&location));
        return;
    }
    text_init(&out, a->arena, 1024);
    entity_json_write(&out, &view, entity);
    odata_answer_json(a, p->odata, &out);
}

void replace_entity_answer(struct answer *a, const struct replace_entity_parameters *p,
                           const struct replace_entity_result *r)
{
    (void)p;
    (void)r;
    odata_answer(a);
}

void merge_entity_answer(struct answer *a, const struct merge_entity_parameters *p,
                         const struct merge_entity_result *r)
{
    (void)p;
    (void)r;
    odata_answer(a);
}

void delete_entity_answer(struct answer *a, const struct delete_entity_parameters *p,
                          const struct delete_entity_result *r)
{
    (void)p;
    (void)r;
    odata_answer(a);
}
