/* List Shares as a request and as XML. rest: List-Shares; semantics 8.1 */
#include "file/rest/request.h"
#include "service/lease_answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0, INCLUDE_SNAPSHOTS = 1 << 1, INCLUDE_DELETED = 1 << 2 };
static const char *const include_names[] = { "metadata", "snapshots", "deleted", NULL };

/* A page of XML while its entries come in. */
struct share_page {
    struct share_sink sink;
    const struct call *call;
    const struct listing *listing;
    instant now;
    struct text out;
    bool has_entry;
};

static struct share_page *page_of(struct share_sink *sink)
{
    return (struct share_page *)(void *)sink;
}

/* ---- the page: elements in their order as recorded ---- */

static void add_date(struct text *out, const char *name, instant date)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    xml_element_string(out, name, text);
}

/* Nobody has a lease of a deleted share; the state is as recorded of containers. semantics 5 */
static void add_lease(struct share_page *page, struct share_key key, const struct share *share)
{
    if (key.deleted == 0)
        lease_xml(&page->out, &share->lease, page->now);
    else
        text_add_string(&page->out, "<LeaseStatus>unlocked</LeaseStatus>"
                                    "<LeaseState>expired</LeaseState>");
}

/* Whole days that are left. */
static void add_deletion(struct share_page *page, struct share_key key, const struct share *share)
{
    if (key.deleted == 0)
        return;
    add_date(&page->out, "DeletedTime", key.deleted);
    xml_element_u64(&page->out, "RemainingRetentionDays",
                    (share->expires - page->now) / TICKS_PER_DAY);
}

static void add_properties(struct share_page *page, struct share_key key, const struct share *share)
{
    const struct call *call = page->call;
    struct text *out = &page->out;
    char etag[ETAG_TEXT_SIZE];

    etag_format(share->etag, etag);
    xml_open(out, "Properties");
    add_date(out, "Last-Modified", share->modified);
    text_printf(out, "<Etag>%s</Etag>", etag); /* quoted, and not escaped */
    if (call_since(call, "2020-02-10"))
        add_lease(page, key, share);
    xml_element_u64(out, "Quota", share->quota_gib);
    if (call_since(call, "2019-12-12")) {
        xml_element_string(out, "AccessTier", share_tier_text(share->tier));
        add_date(out, "AccessTierChangeTime", share->tier_changed);
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    add_deletion(page, key, share);
    xml_close(out, "Properties");
}

static void begin_page(struct share_sink *sink, instant now)
{
    struct share_page *page = page_of(sink);

    sink->full = false;
    page->now = now;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 4096);
    listing_begin(&page->out, page->call, (struct bytes){ NULL, 0 }, page->listing);
}

static void add_entry(struct share_sink *sink, struct bytes name, struct share_key key,
                      const struct share *share)
{
    struct share_page *page = page_of(sink);
    struct text *out = &page->out;
    char date[INSTANT_ISO_SIZE];

    if (!page->has_entry)
        xml_open(out, "Shares");
    page->has_entry = true;
    xml_open(out, "Share");
    xml_element(out, "Name", name);
    if (key.snapshot > 0) {
        instant_format_iso(key.snapshot, date);
        xml_element_string(out, "Snapshot", date);
    }
    if (key.deleted > 0) {
        xml_element_string(out, "Deleted", "true");
        xml_element(out, "Version", share_version_text(page->call->arena, key.deleted));
    }
    add_properties(page, key, share);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, share->metadata);
    xml_close(out, "Share");
    sink->full = out->len > LISTING_PAGE_BYTES;
}

/* ---- markers: "/account/share", and "/account/share/DATE" or "/account/share/-" in the midst of the
 * records of a share, of which "-" is the share itself; of a deleted one "/VERSION" follows ---- */

static struct bytes marker_of(const struct answer *a, const struct share_place *next)
{
    struct bytes marker = listing_next(a, next->name);
    char date[INSTANT_ISO_SIZE] = "-";

    if (!marker.ptr || next->is_first)
        return marker;
    if (next->key.snapshot > 0)
        instant_format_iso(next->key.snapshot, date);
    marker = arena_printf(a->arena, "%.*s/%s", BYTES_ARG(marker), date);
    if (next->key.deleted == 0)
        return marker;
    return arena_printf(a->arena, "%.*s/%.*s", BYTES_ARG(marker),
                        BYTES_ARG(share_version_text(a->arena, next->key.deleted)));
}

/* What stands behind the name. */
static bool read_key(struct bytes text, struct share_key *ret_key)
{
    struct bytes date, version;

    bytes_cut(text, '/', &date, &version);
    if (version.ptr && !share_version_parse(version, &ret_key->deleted))
        return false;
    if (bytes_is(date, "-"))
        return true;
    return instant_parse_iso(date, &ret_key->snapshot) && ret_key->snapshot > 0;
}

static enum error read_place(struct call *call, const struct listing *listing,
                             struct share_place *ret_place)
{
    struct listing shares = *listing;
    struct bytes key = { NULL, 0 }, account, name, first;
    enum error e;

    if (listing->marker.ptr) {
        bytes_cut(listing->marker, '/', &first, &account);
        bytes_cut(account, '/', &account, &name);
        bytes_cut(name, '/', &name, &key);
    }
    if (key.ptr)
        shares.marker.len -= key.len + 1;
    ret_place->is_first = !key.ptr;
    e = listing_read_next(call, &shares, &ret_place->name);
    if (!e && key.ptr && !read_key(key, &ret_place->key))
        e = call_fail_query(call, E_InvalidQueryParameterValue, "marker", listing->marker,
                            "Not a marker of this list.");
    return e;
}

/* ---- the functions ---- */

enum error list_shares_check(struct call *call, struct list_shares_parameters *p)
{
    struct share_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = listing_read(call, include_names, &p->listing);

    if (!e)
        e = read_place(call, &p->listing, &p->from);
    page->sink = (struct share_sink){ .begin = begin_page, .add = add_entry };
    page->call = call;
    page->listing = &p->listing;
    p->snapshots = p->listing.include & INCLUDE_SNAPSHOTS;
    p->deleted = p->listing.include & INCLUDE_DELETED;
    p->sink = &page->sink;
    return e;
}

void list_shares_answer(struct answer *a, const struct list_shares_parameters *p,
                        const struct list_shares_result *r)
{
    struct share_page *page = page_of(p->sink);

    if (page->has_entry)
        xml_close(&page->out, "Shares");
    else
        text_add_string(&page->out, "<Shares />");
    listing_end(&page->out, marker_of(a, &r->next));
    answer_xml(a, &page->out);
}
