/* Operations on entities: parsing of requests, rendering of responses. */
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

/* Query Entities: parsing of requests and rendering as JSON, a page at a time.
 * rest: Query-Entities, Query-Timeout-and-Pagination */

/* JSON size at which a page ends early, with a continuation. */
#define PAGE_BYTES (4u << 20)

/* A page rendered as JSON while its entities are added. */
struct entity_page {
    struct entity_sink sink;
    const struct call *call;
    const struct odata *odata;
    const struct bytes *select;
    size_t select_count;
    struct entity_view view; /* for this attempt */
    struct text out;
};

static struct entity_page *page_of(struct entity_sink *sink)
{
    return (struct entity_page *)(void *)sink;
}

static void begin_page(struct entity_sink *sink, struct bytes table)
{
    struct entity_page *page = page_of(sink);

    sink->full = false;
    page->view = entity_view_of(page->call, page->odata, table);
    page->view.select = page->select;
    page->view.select_count = page->select_count;
    text_init(&page->out, page->call->arena, 4096);
    entity_list_begin(&page->out, &page->view);
}

/* Steps to write a property, and to find a selected one among 8 of an entity. */
#define WRITE_STEPS 8u
#define FIND_SHIFT  3

static uint64_t steps_of(const struct entity_page *page, const struct entity *entity)
{
    if (page->select_count == 0)
        return WRITE_STEPS * entity->count;
    return page->select_count * (WRITE_STEPS + (entity->count >> FIND_SHIFT));
}

static void add_entity(struct entity_sink *sink, const struct entity *entity)
{
    struct entity_page *page = page_of(sink);

    entity_list_add(&page->out, &page->view, entity);
    sink->full = page->out.len > PAGE_BYTES;
    sink->steps = steps_of(page, entity);
}

/* Reads a token, which may come from anywhere: any text that can be ordered as a key. ret_key:
 * encoded */
static enum error read_token(struct call *call, const char *name, struct bytes *ret_key)
{
    struct bytes token = call_query(call, name), key;

    if (token.len == 0)
        return OK;
    key = continuation_decode(call->arena, token);
    if (!key.ptr || !bytes_is_utf8(key))
        return call_fail(call, E_InvalidInput, "%.*s is not a continuation token.",
                         BYTES_ARG(token));
    *ret_key = entity_key_encode(call->arena, key);
    return OK;
}

static enum error read_place(struct call *call, struct entity_place *ret_from)
{
    enum error e = read_token(call, "nextpartitionkey", &ret_from->partition);

    if (!e)
        e = read_token(call, "nextrowkey", &ret_from->row);
    if (!e && ret_from->row.ptr && !ret_from->partition.ptr)
        e = call_fail(call, E_InvalidInput, "NextRowKey requires NextPartitionKey.");
    return e;
}

enum error query_entities_check(struct call *call, struct query_entities_parameters *p)
{
    struct entity_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = odata_read(call, &p->odata);

    if (!e)
        e = query_read_top(call, &p->top);
    if (!e)
        e = query_read_filter(call, FILTER_ENTITIES, &p->filter);
    if (!e)
        e = query_read_select(call, &page->select, &page->select_count);
    if (!e)
        e = read_place(call, &p->from);
    if (e)
        return e;
    page->sink = (struct entity_sink){ .begin = begin_page, .add = add_entity };
    page->call = call;
    page->odata = p->odata;
    p->sink = &page->sink;
    return OK;
}

void query_entities_answer(struct answer *a, const struct query_entities_parameters *p,
                           const struct query_entities_result *r)
{
    struct entity_page *page = page_of(p->sink);

    entity_list_end(&page->out);
    odata_answer(a);
    if (r->next.partition.ptr) {
        answer_header(a, "x-ms-continuation-NextPartitionKey",
                      continuation_encode(a->arena, r->next.partition));
        answer_header(a, "x-ms-continuation-NextRowKey",
                      continuation_encode(a->arena, r->next.row));
    }
    odata_answer_json(a, p->odata, &page->out);
}
