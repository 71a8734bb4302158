/* List Containers as a request and as XML. rest: List-Containers2 */
#include "blob/rest/request.h"
#include "blob/service_operations.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0 };
/* deleted, system: accepted; this server keeps no deleted containers and hides none. */
static const char *const include_names[] = { "metadata", "deleted", "system", NULL };

struct container_view {
    instant now;
    bool metadata;
    bool public_access; /* since 2016-05-31 */
    bool holds;         /* since 2017-11-09 */
    bool encryption;    /* since 2019-07-07 */
    bool immutable;     /* since 2020-10-02 */
};

/* A page of XML while its entries come in. */
struct container_page {
    struct container_sink sink;
    const struct call *call;
    const struct listing *listing;
    struct container_view view;
    struct text out;
    bool has_entry;
};

/* ---- the page: elements in their order as recorded ---- */

static void add_properties(struct text *out, const struct container_view *view,
                           const struct container *container)
{
    const char *duration = lease_duration_text(&container->lease, view->now);
    const char *access = public_access_text(container->public_access);
    char date[INSTANT_HTTP_SIZE];
    char etag[ETAG_TEXT_SIZE];

    instant_format_http(container->modified, date);
    etag_format(container->etag, etag);
    xml_open(out, "Properties");
    xml_element_string(out, "Last-Modified", date);
    /* Quoted, unlike in List Blobs; not escaped, as recorded. */
    text_printf(out, "<Etag>%s</Etag>", etag);
    xml_element_string(out, "LeaseStatus", lease_status_text(&container->lease, view->now));
    xml_element_string(out, "LeaseState", lease_state_text(&container->lease, view->now));
    if (duration)
        xml_element_string(out, "LeaseDuration", duration);
    if (access && view->public_access)
        xml_element_string(out, "PublicAccess", access);
    if (view->encryption) {
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (view->holds) {
        xml_element_string(out, "HasImmutabilityPolicy", "false");
        xml_element_string(out, "HasLegalHold", "false");
    }
    if (view->immutable)
        xml_element_string(out, "ImmutableStorageWithVersioningEnabled", "false");
    xml_close(out, "Properties");
}

static void add_container(struct text *out, const struct container_view *view, struct bytes name,
                          const struct container *container)
{
    xml_open(out, "Container");
    xml_element(out, "Name", name);
    add_properties(out, view, container);
    if (view->metadata)
        metadata_xml(out, container->metadata);
    xml_close(out, "Container");
}

static struct container_page *page_of(struct container_sink *sink)
{
    return (struct container_page *)(void *)sink;
}

static void begin_page(struct container_sink *sink, instant now)
{
    struct container_page *page = page_of(sink);

    sink->full = false;
    page->view.now = now;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
    listing_begin(&page->out, page->call, (struct bytes){ NULL, 0 }, page->listing);
}

static void add_entry(struct container_sink *sink, struct bytes name,
                      const struct container *container)
{
    struct container_page *page = page_of(sink);

    if (!page->has_entry)
        xml_open(&page->out, "Containers");
    page->has_entry = true;
    add_container(&page->out, &page->view, name, container);
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

static struct container_page *page_new(const struct call *call, const struct listing *listing)
{
    struct container_page *page = arena_alloc(call->arena, sizeof *page);

    page->sink = (struct container_sink){ .begin = begin_page, .add = add_entry };
    page->call = call;
    page->listing = listing;
    page->view = (struct container_view){
        .metadata = listing->include & INCLUDE_METADATA,
        .public_access = call_since(call, "2016-05-31"),
        .holds = call_since(call, "2017-11-09"),
        .encryption = call_since(call, "2019-07-07"),
        .immutable = call_since(call, "2020-10-02"),
    };
    return page;
}

/* ---- the functions ---- */

enum error list_containers_check(struct call *call, struct list_containers_parameters *p)
{
    enum error e = listing_read(call, include_names, &p->listing);

    if (e)
        return e;
    e = listing_read_next(call, &p->listing, &p->from);
    if (e)
        return e;
    p->sink = &page_new(call, &p->listing)->sink;
    return OK;
}

void list_containers_answer(struct answer *a, const struct list_containers_parameters *p,
                            const struct list_containers_result *r)
{
    struct container_page *page = page_of(p->sink);

    if (page->has_entry)
        xml_close(&page->out, "Containers");
    else
        text_add_string(&page->out, "<Containers />");
    listing_end(&page->out, listing_next(a, r->next));
    answer_xml(a, &page->out);
}
