/* Request and XML response of List Containers. rest: List-Containers2 */
#include "blob/rest/request.h"
#include "blob/service_operations.h"
#include "properties/soft_delete_xml.h"
#include "service/lease_answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0, INCLUDE_DELETED = 1 << 1, INCLUDE_SYSTEM = 1 << 2 };
static const char *const include_names[] = { "metadata", "deleted", "system", NULL };

/* ---- the page: elements in the recorded order ---- */

static void add_properties(struct listing_page *page, instant deleted,
                           const struct container *container)
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
    /* Quoted, unlike in List Blobs; not escaped, as in the real service. */
    text_printf(out, "<Etag>%s</Etag>", etag);
    if (deleted > 0)
        deleted_lease_xml(out);
    else
        lease_xml(out, &container->lease, page->now);
    if (access && call_since(call, "2016-05-31"))
        xml_element_string(out, "PublicAccess", access);
    if (call_since(call, "2019-02-02")) {
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (call_since(call, "2017-11-09")) {
        xml_element_string(out, "HasImmutabilityPolicy", "false");
        xml_element_string(out, "HasLegalHold", "false");
    }
    if (call_since(call, "2020-10-02"))
        xml_element_string(out, "ImmutableStorageWithVersioningEnabled", "false");
    if (deleted > 0)
        deleted_days_xml(out, deleted, container->expires, page->now);
    xml_close(out, "Properties");
}

/* Returns false for an expired soft-deleted container, even if its task has not run yet. */
static bool shows_container(const struct listing_page *page, const struct space_record *at)
{
    struct container container;
    instant deleted;

    if (!container_key_read(at->record_key, &deleted) || deleted == 0 ||
        !container_decode(at->value, &container))
        return true;
    return (page->listing->include & INCLUDE_DELETED) && container.expires > page->now;
}

static bool add_container(struct listing_page *page, const struct space_record *at)
{
    struct text *out = &page->out;
    struct container container;
    instant deleted;

    if (!container_key_read(at->record_key, &deleted) || !container_decode(at->value, &container))
        return false;
    xml_open(out, "Container");
    xml_element(out, "Name", at->partition_key);
    listing_url(out, page->call, at->partition_key, (struct bytes){ NULL, 0 });
    if (deleted > 0)
        deleted_version_xml(out, deleted);
    add_properties(page, deleted, &container);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, container.metadata);
    xml_close(out, "Container");
    return true;
}

/* ---- markers: the name, then the version of a deleted container or "-" if a name can have several
 * records ---- */

static struct bytes mark(struct listing_page *page, struct bytes record_key)
{
    instant deleted;

    if (container_key_read(record_key, &deleted) && deleted > 0)
        return deleted_version_text(page->out.arena, deleted);
    return page->listing->include & INCLUDE_DELETED ? bytes_from_string("-")
                                                    : (struct bytes){ NULL, 0 };
}

static bool read_mark(struct arena *arena, struct bytes text, struct bytes *ret_record_key)
{
    instant deleted = 0;

    if (!bytes_is(text, "-") && !deleted_version_parse(text, &deleted))
        return false;
    *ret_record_key = container_record_key(arena, deleted);
    return true;
}

/* ---- the functions ---- */

enum error list_containers_check(struct call *call, struct list_containers_parameters *p)
{
    static const struct listing_form form = { .include_names = include_names,
                                              .list = "Containers",
                                              .shows = shows_container,
                                              .add = add_container,
                                              .mark = mark,
                                              .read_mark = read_mark };

    enum error e = listing_page_begin(call, &form, &p->listing, &p->from, &p->sink);

    /* source: storage-analytics-logging "The $logs container is not displayed when ..." */
    if (!(p->listing.include & INCLUDE_SYSTEM))
        p->listing.hidden = bytes_from_string("$logs");
    return e;
}

void list_containers_answer(struct answer *a, const struct list_containers_parameters *p,
                            const struct list_containers_result *r)
{
    listing_page_answer(a, p->sink, &r->next);
}
