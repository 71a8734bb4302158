/* Query Tables: parsing of requests and rendering as JSON: all tables of an account, a page at a
 * time, or one of them. rest: Query-Tables, Query-Timeout-and-Pagination */
#include "table/rest/continuation.h"
#include "table/rest/query.h"
#include "table/rest/table_json.h"
#include "table/table_operations.h"

/* A table has one property, which is always shown; $select may name no other. */
static enum error check_select(struct call *call)
{
    static const struct bytes property = BYTES("TableName");
    const struct bytes *select;
    size_t count;
    enum error e = query_read_select(call, &select, &count);

    if (e || count == 0 || (count == 1 && bytes_equal(select[0], property)))
        return e;
    return call_fail(call, E_InvalidInput, "A table has no property but TableName to select.");
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
