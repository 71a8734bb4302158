/* List Shares: request and XML response. rest: List-Shares; semantics 8.1 */
#include "file/rest/request.h"
#include "properties/soft_delete_xml.h"
#include "service/lease_answer.h"
#include "service/listing_xml.h"
#include "service/metadata.h"

enum { INCLUDE_METADATA = 1 << 0, INCLUDE_SNAPSHOTS = 1 << 1, INCLUDE_DELETED = 1 << 2 };
static const char *const include_names[] = { "metadata", "snapshots", "deleted", NULL };

/* ---- the page, with elements in the recorded order ---- */

static void add_date(struct text *out, const char *name, instant date)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    xml_element_string(out, name, text);
}

static void add_lease(struct listing_page *page, struct share_key key, const struct share *share)
{
    if (key.deleted == 0)
        lease_xml(&page->out, &share->lease, page->now);
    else
        deleted_lease_xml(&page->out);
}

static void add_properties(struct listing_page *page, struct share_key key,
                           const struct share *share)
{
    const struct call *call = page->call;
    struct text *out = &page->out;
    const char *transition = share_transition_text(call, share, page->now);
    char etag[ETAG_TEXT_SIZE];

    etag_format(share->etag, etag);
    xml_open(out, "Properties");
    add_date(out, "Last-Modified", share->modified);
    text_printf(out, "<Etag>%s</Etag>", etag); /* quoted, not escaped */
    if (call_since(call, "2020-02-10"))
        add_lease(page, key, share);
    xml_element_u64(out, "Quota", share->quota_gib);
    if (call_since(call, "2019-12-12")) {
        xml_element_string(out, "AccessTier", share_tier_text(share->tier));
        add_date(out, "AccessTierChangeTime", share->tier_changed);
        if (transition)
            xml_element_string(out, "AccessTierTransitionState", transition);
        xml_element_string(out, "DefaultEncryptionScope", "$account-encryption-key");
        xml_element_string(out, "DenyEncryptionScopeOverride", "false");
    }
    if (key.deleted > 0)
        deleted_days_xml(out, key.deleted, share->expires, page->now);
    xml_close(out, "Properties");
}

/* Returns true if the record is listed. Leaves out soft-deleted shares whose retention has
 * expired, even if their task has not run yet. */
static bool shows_share(const struct listing_page *page, const struct space_record *at)
{
    unsigned include = page->listing->include;
    struct share_key key;
    struct share share;

    if (!share_decode(at->record_key, at->value, &share, &key))
        return true;
    return (key.snapshot == 0 || (include & INCLUDE_SNAPSHOTS)) &&
           (key.deleted == 0 || ((include & INCLUDE_DELETED) && share.expires > page->now));
}

static bool add_share(struct listing_page *page, const struct space_record *at)
{
    struct text *out = &page->out;
    char date[INSTANT_ISO_SIZE];
    struct share_key key;
    struct share share;

    if (!share_decode(at->record_key, at->value, &share, &key))
        return false;
    xml_open(out, "Share");
    xml_element(out, "Name", at->partition_key);
    if (key.snapshot > 0) {
        instant_format_iso(key.snapshot, date);
        xml_element_string(out, "Snapshot", date);
    }
    if (key.deleted > 0)
        deleted_version_xml(out, key.deleted);
    add_properties(page, key, &share);
    if (page->listing->include & INCLUDE_METADATA)
        metadata_xml(out, share.metadata);
    xml_close(out, "Share");
    return true;
}

/* ---- markers: between the records of a share, its name is followed by "DATE" of a snapshot or
 * "-" for the share itself, and for a deleted share by "/VERSION" ---- */

static struct bytes mark(struct listing_page *page, struct bytes record_key)
{
    struct arena *arena = page->out.arena;
    char date[INSTANT_ISO_SIZE] = "-";
    struct share_key key = share_itself;

    (void)share_key_read(record_key, &key);
    if (key.snapshot == 0 && key.deleted == 0 &&
        !(page->listing->include & (INCLUDE_SNAPSHOTS | INCLUDE_DELETED)))
        return (struct bytes){ NULL, 0 };
    if (key.snapshot > 0)
        instant_format_iso(key.snapshot, date);
    if (key.deleted == 0)
        return arena_printf(arena, "%s", date);
    return arena_printf(arena, "%s/%.*s", date,
                        BYTES_ARG(deleted_version_text(arena, key.deleted)));
}

static bool read_mark(struct arena *arena, struct bytes text, struct bytes *ret_record_key)
{
    struct share_key key = share_itself;
    struct bytes date, version;

    bytes_cut(text, '/', &date, &version);
    if (version.ptr && !deleted_version_parse(version, &key.deleted))
        return false;
    if (!bytes_is(date, "-") && (!instant_parse_iso(date, &key.snapshot) || key.snapshot == 0))
        return false;
    *ret_record_key = share_record_key(arena, key);
    return true;
}

/* ---- the functions ---- */

enum error list_shares_check(struct call *call, struct list_shares_parameters *p)
{
    static const struct listing_form form = { .include_names = include_names,
                                              .list = "Shares",
                                              .shows = shows_share,
                                              .add = add_share,
                                              .mark = mark,
                                              .read_mark = read_mark };

    return listing_page_begin(call, &form, &p->listing, &p->from, &p->sink);
}

void list_shares_answer(struct answer *a, const struct list_shares_parameters *p,
                        const struct list_shares_result *r)
{
    listing_page_answer(a, p->sink, &r->next);
}
