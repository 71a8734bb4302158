/* List Containers as a request and as XML. rest: List-Containers2 */
#include "blob/rest/request.h"
#include "blob/service_operations.h"
#include "service/lease_answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0, INCLUDE_SYSTEM = 1 << 2 };
/* deleted: accepted; this server keeps no deleted containers. */
static const char *const include_names[] = { "metadata", "deleted", "system", NULL };

/* ---- the page: elements in their order as recorded ---- */

static void add_properties(struct listing_page *page, const struct container *container)
{
    const struct call *call = page->call;
    struct text *out = &page->out;
    const char *access = public_access_text(container->public_access);
    char date[INSTANT_HTTP_SIZE];
    char etag[ETAG_TEXT_SIZE];

    instant_format_http(container->modified, date);
    etag_format(container->etag, etag);
    xml_open(out, "Properties");
    xml_element_string(out, "Last-Modified", date);
    /* Quoted, unlike in List Blobs; not escaped, as recorded. */
    text_printf(out, "<Etag>%s</Etag>", etag);
    lease_xml(out, &container->lease, page->now);
    if (access && call_since(call, "2016-05-31"))
        xml_element_string(out, "PublicAccess", access);
    if (call_since(call, "2019-07-07")) {
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (call_since(call, "2017-11-09")) {
        xml_element_string(out, "HasImmutabilityPolicy", "false");
        xml_element_string(out, "HasLegalHold", "false");
    }
    if (call_since(call, "2020-10-02"))
        xml_element_string(out, "ImmutableStorageWithVersioningEnabled", "false");
    xml_close(out, "Properties");
}

static bool add_container(struct listing_page *page, struct bytes name, struct bytes value)
{
    struct text *out = &page->out;
    struct container container;

    if (!container_decode(value, &container))
        return false;
    xml_open(out, "Container");
    xml_element(out, "Name", name);
    add_properties(page, &container);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, container.metadata);
    xml_close(out, "Container");
    return true;
}

/* ---- the functions ---- */

enum error list_containers_check(struct call *call, struct list_containers_parameters *p)
{
    static const struct listing_form form = { include_names, "Containers", add_container };

    enum error e = listing_page_begin(call, &form, &p->listing, &p->from, &p->sink);

    /* source: storage-analytics-logging "The $logs container is not displayed when ..." */
    if (!(p->listing.include & INCLUDE_SYSTEM))
        p->listing.hidden = bytes_from_string("$logs");
    return e;
}

void list_containers_answer(struct answer *a, const struct list_containers_parameters *p,
                            const struct list_containers_result *r)
{
    listing_page_answer(a, p->sink, r->next);
}
