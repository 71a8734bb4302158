/* Operations on tables: parsing of requests, rendering of responses. */
#include "base/json.h"
#include "properties/metadata_acl.h"
#include "service/answer.h"
#include "table/rest/query.h"
#include "table/rest/odata.h"
#include "table/rest/entity_json.h"
#include "table/table_operations.h"

/* ---- JSON: names of tables and accounts need no escaping; a host comes from the client ---- */

static void add_url(struct text *out, const struct call *call, const char *name, struct bytes rest)
{
    text_printf(out, "\"%s\":", name);
    json_write_string(
        out, arena_printf(out->arena, "%.*s/%.*s", BYTES_ARG(call->url_prefix), BYTES_ARG(rest)));
}

/* Writes the members of the object except odata.metadata. */
static void add_members(struct text *out, const struct call *call, enum odata_metadata metadata,
                        struct bytes name)
{
    if (metadata == ODATA_FULL_METADATA) {
        struct bytes path = arena_printf(out->arena, "Tables('%.*s')", BYTES_ARG(name));

        text_printf(out, "\"odata.type\":\"%.*s.Tables\",", BYTES_ARG(call->account_name));
        add_url(out, call, "odata.id", path);
        text_printf(out, ",\"odata.editLink\":\"%.*s\",", BYTES_ARG(path));
    }
    text_printf(out, "\"TableName\":\"%.*s\"", BYTES_ARG(name));
}

/* Writes the entire body: {"odata.metadata":"..#Tables/@Element","TableName":"name"}. */
static void table_json_write(struct text *out, const struct call *call,
                             enum odata_metadata metadata, struct bytes name)
{
    text_add_char(out, '{');
    if (metadata != ODATA_NO_METADATA) {
        add_url(out, call, "odata.metadata", bytes_from_string("$metadata#Tables/@Element"));
        text_add_char(out, ',');
    }
    add_members(out, call, metadata, name);
    text_add_char(out, '}');
}

static void table_list_begin(struct text *out, const struct call *call,
                             enum odata_metadata metadata)
{
    text_add_char(out, '{');
    if (metadata != ODATA_NO_METADATA) {
        add_url(out, call, "odata.metadata", bytes_from_string("$metadata#Tables"));
        text_add_char(out, ',');
    }
    text_add_string(out, "\"value\":[");
}

static void table_list_add(struct text *out, const struct call *call, enum odata_metadata metadata,
                           struct bytes name)
{
    if (out->ptr[out->len - 1] == '}')
        text_add_char(out, ',');
    text_add_char(out, '{');
    add_members(out, call, metadata, name);
    text_add_char(out, '}');
}

static void table_list_end(struct text *out)
{
    text_add_string(out, "]}");
}

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
        return call_fail(call, E_InvalidInput, "TableName is the only property of a table.");
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

/* Query Tables: parsing of requests and rendering as JSON: all tables of an account, a page at a
 * time, or one of them. rest: Query-Tables, Query-Timeout-and-Pagination */

/* A table has one property, which is always shown; $select may name no other. */
static enum error check_select(struct call *call)
{
    static const struct bytes property = BYTES("TableName");
    const struct bytes *select;
    size_t count;
    enum error e = query_read_select(call, &select, &count);

    if (e || count == 0 || (count == 1 && bytes_equal(select[0], property)))
        return e;
    return call_fail(call, E_InvalidInput,
                     "TableName is the only property of a table that can be selected.");
}

/* ---- single table ---- */

enum error get_table_check(struct call *call, struct get_table_parameters *p)
{
    enum error e = odata_read(call, &p->odata);

    return e ? e : check_select(call);
}

void get_table_answer(struct answer *a, const struct get_table_parameters *p,
                      const struct get_table_result *r)
{
    struct text out;

    text_init(&out, a->arena, 256);
    table_json_write(&out, a->call, p->odata->metadata, r->name);
    odata_answer(a);
    odata_answer_json(a, p->odata, &out);
}

/* ---- a page ---- */

/* A page rendered as JSON while its entries are added. */
struct table_page {
    struct table_sink sink;
    const struct call *call;
    enum odata_metadata metadata;
    struct text out;
};

static struct table_page *page_of(struct table_sink *sink)
{
    return (struct table_page *)(void *)sink;
}

static void begin_page(struct table_sink *sink)
{
    struct table_page *page = page_of(sink);

    sink->full = false;
    text_init(&page->out, page->call->arena, 4096);
    if (page->call->is_for_cell)
        cell_page_begin(&page->out);
    else
        table_list_begin(&page->out, page->call, page->metadata);
}

static void add_entry(struct table_sink *sink, struct bytes key, struct bytes name)
{
    struct table_page *page = page_of(sink);

    if (page->call->is_for_cell)
        cell_page_add(&page->out, &(struct page_key){ { key } }, name);
    else
        table_list_add(&page->out, page->call, page->metadata, name);
}

/* Reads a token, which names the first table of the page. */
static enum error read_token(struct call *call, struct bytes *ret_from)
{
    struct bytes token = call_query(call, "nexttablename");

    *ret_from = (struct bytes){ NULL, 0 };
    if (token.len == 0)
        return OK;
    *ret_from = continuation_decode(call->arena, token);
    if (ret_from->ptr)
        return OK;
    return call_fail(call, E_InvalidInput, "NextTableName is not a continuation token.");
}

enum error query_tables_check(struct call *call, struct query_tables_parameters *p)
{
    struct table_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = odata_read(call, &p->odata);

    if (!e)
        e = query_read_top(call, &p->top);
    if (!e)
        e = query_read_filter(call, FILTER_TABLES, &p->filter);
    if (!e)
        e = check_select(call);
    if (!e)
        e = read_token(call, &p->from);
    if (e)
        return e;
    page->sink = (struct table_sink){ .begin = begin_page, .add = add_entry };
    page->call = call;
    page->metadata = p->odata->metadata;
    p->sink = &page->sink;
    call->input.merged.from = (struct page_key){ { p->from } };
    call->input.merged.max = p->top;
    return OK;
}

void query_tables_answer(struct answer *a, const struct query_tables_parameters *p,
                         const struct query_tables_result *r)
{
    struct table_page *page = page_of(p->sink);

    if (page->call->is_for_cell) {
        answer_cell_page(a, &page->out, r->next.ptr ? &(struct page_key){ { r->next } } : NULL);
        return;
    }
    table_list_end(&page->out);
    odata_answer(a);
    if (r->next.ptr)
        answer_header(a, "x-ms-continuation-NextTableName", continuation_encode(a->arena, r->next));
    odata_answer_json(a, p->odata, &page->out);
}
