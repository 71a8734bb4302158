/* Request and XML response of List Blobs. rest: List-Blobs */
#include "blob/rest/list_blobs_xml.h"
#include "blob/rest/tags_xml.h"

#include "blob/container_operations.h"

enum {
    INCLUDE_SNAPSHOTS = 1 << 0,
    INCLUDE_METADATA = 1 << 1,
    INCLUDE_UNCOMMITTED = 1 << 2,
    INCLUDE_TAGS = 1 << 3,
    INCLUDE_COPY = 1 << 4,
    INCLUDE_DELETED = 1 << 5,
    INCLUDE_VERSIONS = 1 << 6,
    INCLUDE_VERSIONS_ONLY = 1 << 7,
};
/* Those after the first eight are accepted, but this server has nothing to show for them. */
static const char *const include_names[] = {
    "snapshots",
    "metadata",
    "uncommittedblobs",
    "tags",
    "copy",
    "deleted",
    "versions",
    "deletedwithversions",
    "immutabilitypolicy",
    "legalhold",
    NULL,
};

/* A page of XML under construction. */
struct blob_page {
    struct blob_sink sink;
    const struct call *call;
    const struct list_blobs_parameters *asked;
    struct blob_view view;
    struct text out;
    bool has_entry;
};

/* ---- request ---- */

/* Refuses clients that accept only Apache Arrow, which is not supported; those that ask for it also
 * accept XML. rest: List-Blobs, "Accept" */
static enum error check_accept(struct call *call)
{
    struct bytes accept = call_header(call, "accept");

    if (!accept.ptr || !memmem(accept.ptr, accept.len, "vnd.apache.arrow", 16))
        return OK;
    if (memmem(accept.ptr, accept.len, "application/xml", 15) ||
        memmem(accept.ptr, accept.len, "*/*", 3))
        return OK;
    return call_fail(call, E_NotImplemented, "Listings are served as application/xml only.");
}

static enum error check_text(struct call *call, const char *name, struct bytes *ret_value)
{
    struct bytes value = listing_query(call, name);

    if (value.ptr && !bytes_is_utf8(value))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, (struct bytes){ NULL, 0 },
                               "Not UTF-8.");
    *ret_value = value;
    return OK;
}

static enum error check_combination(struct call *call, struct list_blobs_parameters *p)
{
    if (p->delimiter.ptr && (p->listing.include & INCLUDE_SNAPSHOTS) &&
        !call_since(call, "2021-06-08"))
        return call_fail_query(call, E_InvalidQueryParameterValue, "include",
                               call_query(call, "include"),
                               "Snapshots cannot be listed by delimiter.");
    if (p->listing.marker.ptr && !blob_marker_decode(call->arena, p->listing.marker, &p->from))
        return call_fail_query(call, E_InvalidQueryParameterValue, "marker", p->listing.marker,
                               "Not a marker of a list of blobs.");
    if (call_query(call, "showonly").ptr)
        return call_fail(call, E_NotImplemented, "showonly is not supported.");
    return OK;
}

/* ---- the page ---- */

static struct blob_page *page_of(struct blob_sink *sink)
{
    return (struct blob_page *)(void *)sink;
}

static void begin_page(struct blob_sink *sink, instant now)
{
    struct blob_page *page = page_of(sink);
    const struct list_blobs_parameters *asked = page->asked;

    sink->full = false;
    page->view.now = now;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
    listing_begin(&page->out, page->call, blob_resource(page->call->input.resource)->container,
                  &asked->listing);
    if (asked->delimiter.ptr)
        listing_name(&page->out, "Delimiter", asked->delimiter);
}

static void begin_entry(struct blob_page *page)
{
    if (!page->has_entry)
        text_add_string(&page->out, "<Blobs>");
    page->has_entry = true;
}

static void add_entry(struct blob_sink *sink, struct bytes name, const struct blob *blob)
{
    struct blob_page *page = page_of(sink);

    begin_entry(page);
    blob_entry_xml(&page->out, &page->view, name, blob);
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

static void add_prefix(struct blob_sink *sink, struct bytes prefix)
{
    struct blob_page *page = page_of(sink);

    begin_entry(page);
    text_add_string(&page->out, "<BlobPrefix>");
    listing_name(&page->out, "Name", prefix);
    text_add_string(&page->out, "</BlobPrefix>");
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

static struct blob_page *page_new(const struct call *call,
                                  const struct list_blobs_parameters *asked)
{
    struct blob_page *page = arena_alloc(call->arena, sizeof *page);

    page->sink =
        (struct blob_sink){ .begin = begin_page, .add = add_entry, .add_group = add_prefix };
    page->call = call;
    page->asked = asked;
    page->view = (struct blob_view){
        .call = call,
        .container = blob_resource(call->input.resource)->container,
        .metadata = asked->listing.include & INCLUDE_METADATA,
        .tags = asked->listing.include & INCLUDE_TAGS,
        .tag_count = call_since(call, "2019-12-12"),
        .copy = asked->listing.include & INCLUDE_COPY,
        .encrypted = call_since(call, "2015-12-11"),
        .incremental = call_since(call, "2016-05-31"),
        .creation_time = call_since(call, "2017-11-09"),
        .tier = call_since(call, "2017-04-17"),
        .snapshot_tier = call_since(call, "2019-12-12"),
        .crc64 = call_since(call, "2019-02-02"),
        .or_metadata = call_since(call, "2019-12-12"),
        .deleted_lease = !call_since(call, "2019-07-07"),
        .sealed = call_since(call, "2019-12-12"),
        .deleted_first = call_since(call, "2019-12-12"),
        .versions = call_since(call, "2019-12-12"),
        .versions_only = asked->listing.include & INCLUDE_VERSIONS_ONLY,
    };
    return page;
}

/* ---- the functions ---- */

enum error list_blobs_check(struct call *call, struct list_blobs_parameters *p)
{
    enum error e;

    e = check_accept(call);
    if (e)
        return e;
    e = listing_read(call, include_names, &p->listing);
    if (e)
        return e;
    e = check_text(call, "delimiter", &p->delimiter);
    if (e)
        return e;
    e = check_text(call, "startfrom", &p->start_from);
    if (e)
        return e;
    e = check_text(call, "endbefore", &p->end_before);
    if (e)
        return e;
    e = check_combination(call, p);
    if (e)
        return e;
    p->snapshots = p->listing.include & INCLUDE_SNAPSHOTS;
    p->versions = p->listing.include & INCLUDE_VERSIONS;
    p->versions_only = p->listing.include & INCLUDE_VERSIONS_ONLY;
    if (p->listing.include & INCLUDE_TAGS)
        tags_demand(call, ACTION_BLOB_TAGS_READ);
    p->uncommitted = p->listing.include & INCLUDE_UNCOMMITTED;
    p->deleted = p->listing.include & INCLUDE_DELETED;
    p->sink = &page_new(call, p)->sink;
    return OK;
}

void list_blobs_answer(struct answer *a, const struct list_blobs_parameters *p,
                       const struct list_blobs_result *r)
{
    struct blob_page *page = page_of(p->sink);
    struct bytes marker = { NULL, 0 };

    if (r->next.name.ptr)
        marker = blob_marker_encode(a->arena, r->next);
    text_add_string(&page->out, page->has_entry ? "</Blobs>" : "<Blobs />");
    listing_end(&page->out, marker);
    answer_xml(a, &page->out);
}
