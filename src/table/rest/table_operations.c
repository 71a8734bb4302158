/* Operations on tables: parsing of requests, rendering of responses. */
#include "service/answer.h"
#include "properties/metadata_acl.h"
#include "table/rest/odata.h"
#include "table/rest/table_json.h"
#include "table/table_operations.h"

/* ---- Create Table ---- */

enum error create_table_check(struct call *call, struct create_table_parameters *p)
{
    enum error e = odata_read(call, &p->odata);

    p->space = guid_new();
    return e ? e : odata_check_body(call);
}

/* Parses the table; its name comes from the body and completes the resource. */
enum error create_table_parse(struct call *call, struct create_table_parameters *p)
{
    static const struct bytes property = BYTES("TableName");
    struct table_resource *resource = arena_alloc(call->arena, sizeof *resource);
    const struct property *name;
    const char *message = NULL;
    struct entity entity;
    enum error e = entity_json_read(call->arena, call->input.body.inline_bytes, &entity, &message);

    if (e)
        return odata_refuse(call, e, message);
    name = entity_find(&entity, property);
    if (!name)
        return E_PropertiesNeedValue;
    if (entity.count != 1 || entity.partition_key.ptr || entity.row_key.ptr ||
        name->value.type != EDM_STRING)
        return call_fail(call, E_InvalidInput, "A table has only a TableName.");
    e = call->input.by_service ? table_check_any_name(name->value.as.bytes)
                               : table_check_name(name->value.as.bytes);
    if (e)
        return e;
    p->name = name->value.as.bytes;
    *resource = *table_resource(call->input.resource);
    resource->table = p->name;
    call->input.resource = &resource->base;
    return OK;
}

void create_table_answer(struct answer *a, const struct create_table_parameters *p,
                         const struct create_table_result *r)
{
    bool echoes = p->odata->preference != PREFERS_NO_CONTENT;
    struct bytes location = arena_printf(a->arena, "%.*s/Tables('%.*s')",
                                         BYTES_ARG(a->call->url_prefix), BYTES_ARG(p->name));
    struct text out;

    (void)r;
    odata_answer(a);
    odata_answer_preference(a);
    answer_header(a, "Location", location);
    if (!echoes) {
        answer_status(a, 204);
        answer_header(a, "DataServiceId", location);
        return;
    }
    text_init(&out, a->arena, 256);
    table_json_write(&out, a->call, p->odata->metadata, p->name);
    odata_answer_json(a, p->odata, &out);
}

/* ---- Delete Table ---- */

enum error delete_table_check(struct call *call, struct delete_table_parameters *p)
{
    const struct odata *odata;

    (void)p;
    return odata_read(call, &odata);
}

void delete_table_answer(struct answer *a, const struct delete_table_parameters *p,
                         const struct delete_table_result *r)
{
    (void)p;
    (void)r;
    odata_answer(a);
}

const struct container_type table_container = {
    .policies = offsetof(struct table_state, table.policies),
    .write = table_write_state,
    .letters = { .known = "raud" },
};
