/* Requests and responses of the operations on filesystems. rest: datalakestoragegen2/filesystem */
#include "base/json.h"
#include "dfs/rest/request.h"
#include "service/listing_xml.h"

/* ---- create, properties, delete ---- */

static void answer_namespace(struct answer *a, bool is_hierarchical)
{
    answer_string(a, "x-ms-namespace-enabled", is_hierarchical ? "true" : "false");
}

enum error create_filesystem_check(struct call *call, struct create_container_parameters *p)
{
    bool has;

    if (container_is_of_service(blob_resource(call->input.resource)->container))
        return E_InvalidResourceName;
    p->access = ACCESS_PRIVATE;
    create_container_place(call, p);
    return dfs_read_properties(call, &has, &p->metadata);
}

void create_filesystem_answer(struct answer *a, const struct create_container_parameters *p,
                              const struct create_container_result *r)
{
    (void)r;
    answer_namespace(a, p->hierarchical);
}

enum error get_filesystem_properties_check(struct call *call,
                                           struct get_container_properties_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_filesystem_properties_answer(struct answer *a,
                                      const struct get_container_properties_parameters *p,
                                      const struct get_container_properties_result *r)
{
    (void)p;
    dfs_answer_properties(a, r->container.metadata);
    answer_namespace(a, r->container.hierarchical);
}

enum error set_filesystem_properties_check(struct call *call, struct set_metadata_parameters *p)
{
    bool has;
    enum error e = dfs_read_properties(call, &has, &p->metadata);

    return e || has ? e
                    : call_fail_header(call, E_MissingRequiredHeader, "x-ms-properties",
                                       bytes_of(NULL, 0));
}

void set_filesystem_properties_answer(struct answer *a, const struct set_metadata_parameters *p,
                                      const struct set_metadata_result *r)
{
    (void)a;
    (void)p;
    (void)r;
}

enum error delete_filesystem_check(struct call *call, struct delete_container_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void delete_filesystem_answer(struct answer *a, const struct delete_container_parameters *p,
                              const struct delete_container_result *r)
{
    (void)a;
    (void)p;
    (void)r;
}

/* ---- list ---- */

struct filesystems_page {
    struct listing_sink sink;
    const struct call *call;
    struct text out;
    struct json_writer writer;
};

static struct filesystems_page *page_of(struct listing_sink *sink)
{
    return (struct filesystems_page *)(void *)sink;
}

static void begin_page(struct listing_sink *sink, instant now)
{
    struct filesystems_page *page = page_of(sink);

    (void)now;
    sink->full = false;
    text_init(&page->out, page->call->arena, 4096);
    if (page->call->is_for_cell) {
        cell_page_begin(&page->out);
        return;
    }
    page->writer = (struct json_writer){ .to = &page->out };
    json_write_begin(&page->writer, '{');
    json_write_name(&page->writer, "filesystems");
    json_write_begin(&page->writer, '[');
}

/* Soft-deleted ones are not listed. */
static bool shows_filesystem(struct listing_sink *sink, const struct space_record *at)
{
    instant deleted;

    (void)sink;
    return !container_key_read(at->record_key, &deleted) || deleted == 0;
}

static bool add_filesystem(struct listing_sink *sink, const struct space_record *at)
{
    struct filesystems_page *page = page_of(sink);
    char etag[ETAG_TEXT_SIZE], modified[INSTANT_HTTP_SIZE];
    struct container container;

    if (page->call->is_for_cell) {
        cell_page_add(&page->out, &(struct page_key){ { at->partition_key, at->record_key } },
                      at->value);
        return true;
    }
    if (!container_decode(at->value, &container))
        return false;
    etag_format(container.etag, etag);
    instant_format_http(container.modified, modified);
    json_write_begin(&page->writer, '{');
    json_write_member(&page->writer, "eTag", bytes_from_string(etag));
    json_write_member(&page->writer, "lastModified", bytes_from_string(modified));
    json_write_member(&page->writer, "name", at->partition_key);
    json_write_end(&page->writer, '}');
    return true;
}

enum error list_filesystems_check(struct call *call, struct list_containers_parameters *p)
{
    struct filesystems_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = listing_read_max(call, LISTING_MAX, &p->listing.max_given, &p->listing.max);

    p->listing.prefix = listing_query(call, "prefix");
    p->listing.hidden = bytes_from_string("$logs");
    p->from.name = listing_query(call, "continuation");
    if (!e && p->from.name.ptr && !listing_is_name(p->from.name))
        e = call_fail_query(call, E_InvalidQueryParameterValue, "continuation", p->from.name,
                            "Not a continuation token of this list.");
    page->sink = (struct listing_sink){ .begin = begin_page,
                                        .shows = shows_filesystem,
                                        .add = add_filesystem };
    page->call = call;
    p->sink = &page->sink;
    call->input.merged.from = (struct page_key){ { p->from.name } };
    call->input.merged.max = p->listing.max;
    return e;
}

void list_filesystems_answer(struct answer *a, const struct list_containers_parameters *p,
                             const struct list_containers_result *r)
{
    struct filesystems_page *page = page_of(p->sink);
    const struct page_key key = { { r->next.name, r->next.record } };

    if (page->call->is_for_cell) {
        answer_cell_page(a, &page->out, r->next.name.ptr ? &key : NULL);
        return;
    }
    json_write_end(&page->writer, ']');
    json_write_end(&page->writer, '}');
    text_add_char(&page->out, '\n');
    if (r->next.name.ptr)
        answer_header(a, "x-ms-continuation", r->next.name);
    dfs_answer_json(a, &page->out);
}
