/* Entries of a page of List Blobs. Written straight into the page, without allocations: a page has
 * up to 5,000. Elements, their order and presence as recorded; rest: List-Blobs */
#include "blob/listing.h"

#include <nettle/base64.h>

static void add_date(struct text *out, const char *element, instant date)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    xml_element_string(out, element, text);
}

/* Without quotes, unlike the header and List Containers. semantics 5, Listing */
static void add_etag(struct text *out, struct etag etag)
{
    char text[ETAG_TEXT_SIZE];

    etag_format(etag, text);
    xml_element(out, "Etag", bytes_of(text + 1, strlen(text) - 2));
}

static void add_md5(struct text *out, const struct http_properties *http)
{
    char text[BASE64_ENCODE_RAW_LENGTH(sizeof http->md5)];

    if (!http->has_md5) {
        text_add_string(out, "<Content-MD5 />");
        return;
    }
    base64_encode_raw(text, sizeof http->md5, http->md5);
    xml_element(out, "Content-MD5", bytes_of(text, sizeof text));
}

static const char *type_text(enum blob_type type)
{
    switch (type) {
    case BLOB_BLOCK:
        return "BlockBlob";
    case BLOB_PAGE:
        return "PageBlob";
    case BLOB_APPEND:
        return "AppendBlob";
    }
    return "BlockBlob";
}

static void add_tier(struct text *out, const struct blob *blob)
{
    bool inferred = blob->tier == TIER_NONE;

    xml_element_string(out, "AccessTier", access_tier_text(inferred ? TIER_HOT : blob->tier));
    if (inferred)
        text_add_string(out, "<AccessTierInferred>true</AccessTierInferred>");
    else if (blob->tier_changed > 0)
        add_date(out, "AccessTierChangeTime", blob->tier_changed);
}

static void add_lease(struct text *out, const struct lease *lease, instant now)
{
    const char *duration = lease_duration_text(lease, now);

    xml_element_string(out, "LeaseStatus", lease_status_text(lease, now));
    xml_element_string(out, "LeaseState", lease_state_text(lease, now));
    if (duration)
        xml_element_string(out, "LeaseDuration", duration);
}

/* What a blob of uncommitted blocks alone does not have yet. */
static void add_committed_properties(struct text *out, const struct blob_view *view,
                                     const struct blob *blob)
{
    if (view->creation_time)
        add_date(out, "Creation-Time", blob->created);
    add_date(out, "Last-Modified", blob->modified);
    add_etag(out, blob->etag);
    xml_element_u64(out, "Content-Length", blob->content.length);
    xml_element(out, "Content-Type", blob->http.content_type);
    xml_element(out, "Content-Encoding", blob->http.content_encoding);
    xml_element(out, "Content-Language", blob->http.content_language);
    add_md5(out, &blob->http);
    xml_element(out, "Cache-Control", blob->http.cache_control);
    xml_element(out, "Content-Disposition", blob->http.content_disposition);
}

void blob_entry_xml(struct text *out, const struct blob_view *view, struct bytes name,
                    instant snapshot, const struct blob *blob)
{
    bool tier = snapshot == 0 ? view->tier : view->snapshot_tier;
    char date[INSTANT_ISO_SIZE];

    text_add_string(out, "<Blob>");
    listing_name(out, "Name", name);
    if (snapshot > 0) {
        instant_format_iso(snapshot, date);
        xml_element_string(out, "Snapshot", date);
    }
    text_add_string(out, "<Properties>");
    if (blob->uncommitted)
        xml_element_u64(out, "Content-Length", 0);
    else
        add_committed_properties(out, view, blob);
    xml_element_string(out, "BlobType", type_text(blob->type));
    if (tier && blob->type == BLOB_BLOCK)
        add_tier(out, blob);
    if (snapshot == 0)
        add_lease(out, &blob->lease, view->now);
    xml_element_string(out, "ServerEncrypted", blob->uncommitted ? "false" : "true");
    text_add_string(out, "</Properties>");
    if (view->metadata)
        metadata_xml(out, blob->metadata);
    text_add_string(out, "</Blob>");
}
