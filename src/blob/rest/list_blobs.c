/* Request and XML response of List Blobs. rest: List-Blobs */
#include "base/codec.h"
#include "base/encode.h"
#include "blob/container_operations.h"
#include "blob/list_kept.h"
#include "blob/rest/list_blobs.h"
#include "blob/rest/blob_tags.h"

/* Markers of List Blobs. A marker is base64 in the URL alphabet (rfc: 4648 5), without padding, of:
 *   u8 1 (version); bytes name; bytes record key (base/codec.h)
 * of the first record of the next page. Clients send it back, so all of it is validated. */

#define MARKER_VERSION    1
#define MARKER_MAX_BYTES  16384

#define SNAPSHOT_KEY_SIZE 9 /* 0x01, ticks big-endian */

static struct bytes to_url_alphabet(struct arena *arena, struct bytes base64)
{
    char *to = arena_bytes(arena, base64.len);
    size_t len = 0;

    for (size_t i = 0; i < base64.len && base64.ptr[i] != '='; i++) {
        char c = base64.ptr[i];

        to[len++] = c;
        if (c == '+')
            to[len - 1] = '-';
        else if (c == '/')
            to[len - 1] = '_';
    }
    return bytes_of(to, len);
}

/* Restores padding and the common alphabet; ptr NULL if a character belongs to neither alphabet. */
static struct bytes from_url_alphabet(struct arena *arena, struct bytes text)
{
    size_t padded = (text.len + 3) / 4 * 4;
    char *to = arena_bytes(arena, padded);

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '+' || c == '/' || c == '=')
            return (struct bytes){ NULL, 0 };
        to[i] = c;
        if (c == '-')
            to[i] = '+';
        else if (c == '_')
            to[i] = '/';
    }
    memset(to + text.len, '=', padded - text.len);
    return bytes_of(to, padded);
}

struct bytes marker_text(struct arena *arena, struct bytes value)
{
    return to_url_alphabet(arena, base64_encode(arena, value));
}

struct bytes marker_value(struct arena *arena, struct bytes text)
{
    struct bytes base64;

    if (text.len > MARKER_MAX_BYTES)
        return (struct bytes){ NULL, 0 };
    base64 = from_url_alphabet(arena, text);
    return base64.ptr ? base64_decode(arena, base64) : base64;
}

static struct bytes blob_marker_encode(struct arena *arena, struct listing_place place)
{
    struct text out;

    text_init(&out, arena, place.name.len + place.record.len + 8);
    encode_u8(&out, MARKER_VERSION);
    encode_bytes(&out, place.name);
    encode_bytes(&out, place.record);
    return marker_text(arena, text_bytes(&out));
}

static bool is_record_key(struct bytes key)
{
    if (key.len == 1)
        return (unsigned char)key.ptr[0] == 0xFF;
    return (key.len == SNAPSHOT_KEY_SIZE && key.ptr[0] == 1) || key_is_of_kept_path(key);
}

static bool blob_marker_decode(struct arena *arena, struct bytes marker,
                               struct listing_place *ret_place)
{
    struct listing_place place;
    struct bytes value = marker_value(arena, marker);
    struct decoder in;

    if (!value.ptr)
        return false;
    decoder_init(&in, value);
    if (decode_u8(&in) != MARKER_VERSION)
        return false;
    place.name = decode_bytes(&in);
    place.record = decode_bytes(&in);
    if (!decoder_ok(&in) || place.name.len == 0 || !bytes_is_utf8(place.name) ||
        !is_record_key(place.record))
        return false;
    *ret_place = place;
    return true;
}

enum {
    INCLUDE_SNAPSHOTS = 1 << 0,
    INCLUDE_METADATA = 1 << 1,
    INCLUDE_UNCOMMITTED = 1 << 2,
    INCLUDE_TAGS = 1 << 3,
    INCLUDE_COPY = 1 << 4,
    INCLUDE_DELETED = 1 << 5,
    INCLUDE_VERSIONS = 1 << 6,
    INCLUDE_VERSIONS_ONLY = 1 << 7,
    INCLUDE_PERMISSIONS = 1 << 8,
    INCLUDE_POLICY = 1 << 9,
    INCLUDE_HOLD = 1 << 10,
};
static const char *const include_names[] = {
    "snapshots", "metadata", "uncommittedblobs",    "tags",        "copy",
    "deleted",   "versions", "deletedwithversions", "permissions", "immutabilitypolicy",
    "legalhold", NULL,
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
    return OK;
}

/* rest: List-Blobs "showonly"; decision: 1370 */
static enum error check_showonly(struct call *call, struct list_blobs_parameters *p)
{
    static const char *const names[] = {
        [LIST_DELETED] = "deleted", [LIST_FILES] = "files", [LIST_DIRECTORIES] = "directories"
    };
    const struct bytes value = call_query(call, "showonly");

    if (!value.ptr)
        return OK;
    for (size_t i = LIST_DELETED; i < sizeof names / sizeof names[0]; i++) {
        if (bytes_is_nocase(value, names[i]))
            p->only = (enum list_only)i;
    }
    if (p->only == LIST_ALL || !account_is_hierarchical(call->account) ||
        (p->only == LIST_DELETED && (p->listing.include & INCLUDE_DELETED)))
        return call_fail_query(call, E_InvalidQueryParameterValue, "showonly", value,
                               "The value is deleted (without include=deleted), files or "
                               "directories, in accounts with a hierarchical namespace.");
    return OK;
}

/* rest: List-Blobs "permissions", "x-ms-upn"; decision: 1371 */
static enum error check_permissions(struct call *call, const struct list_blobs_parameters *p)
{
    const struct bytes upn = call_header(call, "x-ms-upn"); /* there are no user names to show */

    if (!(p->listing.include & INCLUDE_PERMISSIONS))
        return OK;
    if (!account_is_hierarchical(call->account))
        return call_fail_query(call, E_InvalidQueryParameterValue, "include",
                               call_query(call, "include"),
                               "Permissions require an account with a hierarchical namespace.");
    if (upn.len > 0 && !bytes_is_nocase(upn, "true") && !bytes_is_nocase(upn, "false"))
        return call_fail_header(call, E_InvalidHeaderValue, "x-ms-upn", upn);
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

static void add_prefix(struct blob_sink *sink, struct bytes prefix, const struct blob *directory)
{
    struct blob_page *page = page_of(sink);

    begin_entry(page);
    blob_prefix_xml(&page->out, &page->view, prefix, directory);
    sink->full = page->out.len > LISTING_PAGE_BYTES;
}

static struct blob_page *page_new(const struct call *call,
                                  const struct list_blobs_parameters *asked)
{
    struct blob_page *page = arena_alloc(call->arena, sizeof *page);

    page->sink =
        (struct blob_sink){ .shows_metadata = (asked->listing.include & INCLUDE_METADATA) != 0,
                            .begin = begin_page,
                            .add = add_entry,
                            .add_group = add_prefix };
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
        .encryption = call_since(call, "2019-02-02"),
        .incremental = call_since(call, "2016-05-31"),
        .creation_time = call_since(call, "2017-11-09"),
        .tier = call_since(call, "2017-04-17"),
        .snapshot_tier = call_since(call, "2019-12-12"),
        .crc64 = call_since(call, "2019-02-02"),
        .access_time = call->input.tracks_access,
        .paths = account_is_hierarchical(call->account),
        .or_metadata = call_since(call, "2019-12-12"),
        .deleted_lease = !call_since(call, "2019-07-07"),
        .sealed = call_since(call, "2019-12-12"),
        .deleted_first = call_since(call, "2019-12-12"),
        .versions = call_since(call, "2019-12-12"),
        .resource_type = account_is_hierarchical(call->account) && call_since(call, "2020-10-02"),
        .versions_only = asked->listing.include & INCLUDE_VERSIONS_ONLY,
        .permissions = asked->listing.include & INCLUDE_PERMISSIONS,
        .directories = account_is_hierarchical(call->account) && call_since(call, "2020-06-12"),
        .placeholders = account_is_hierarchical(call->account) && asked->deleted &&
                        asked->delimiter.ptr && bytes_is(asked->delimiter, "/") &&
                        call_since(call, "2021-06-08"),
        .policy = asked->listing.include & INCLUDE_POLICY,
        .hold = asked->listing.include & INCLUDE_HOLD,
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
    if (!e)
        e = check_showonly(call, p);
    if (!e)
        e = check_permissions(call, p);
    if (e)
        return e;
    p->snapshots = p->listing.include & INCLUDE_SNAPSHOTS;
    p->versions = p->listing.include & INCLUDE_VERSIONS;
    p->versions_only = p->listing.include & INCLUDE_VERSIONS_ONLY;
    if (p->listing.include & INCLUDE_TAGS)
        tags_demand(call, ACTION_BLOB_TAGS_READ);
    p->uncommitted = p->listing.include & INCLUDE_UNCOMMITTED;
    p->deleted = p->only == LIST_DELETED || (p->listing.include & INCLUDE_DELETED);
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
