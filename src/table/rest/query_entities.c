/* Query Entities: parsing of requests and rendering as JSON, a page at a time.
 * rest: Query-Entities, Query-Timeout-and-Pagination */
#include "table/entity_operations.h"
#include "table/rest/continuation.h"
#include "table/rest/query.h"

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
        e = call_fail(call, E_InvalidInput, "NextRowKey needs NextPartitionKey.");
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
