/* List Handles and Force Close Handles: requests and XML responses. rest: List-Handles,
 * Force-Close-Handles; semantics 8.1 */
#include "base/encode.h"
#include "file/handle_operations.h"
#include "file/rest/request.h"
#include "service/listing_xml.h"

/* First versions whose responses have these fields. decision: 340, 341 */
#define RIGHTS_SINCE "2023-01-03"
#define NAMES_SINCE  "2024-02-04"
#define FAILED_SINCE "2019-07-07"

/* ---- markers: both ids as 16 hexadecimal digits each ---- */

#define MARKER_SIZE  32

static struct bytes marker_text(struct arena *arena, const struct handle_marker *marker)
{
    if (!marker->is_given)
        return bytes_of(NULL, 0);
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)marker->node,
                        (unsigned long long)marker->id);
}

static bool parse_hex(struct bytes text, uint64_t *ret_value)
{
    static const char digits[] = "0123456789abcdef";

    *ret_value = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.ptr[i] ? strchr(digits, text.ptr[i]) : NULL;

        if (!digit)
            return false;
        *ret_value = *ret_value << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static enum error read_marker(struct call *call, struct handle_marker *ret_marker)
{
    static const char name[] = "marker";
    struct bytes text = listing_query(call, name);

    ret_marker->is_given = text.ptr != NULL;
    if (text.ptr && (text.len != MARKER_SIZE ||
                     !parse_hex(bytes_of(text.ptr, MARKER_SIZE / 2), &ret_marker->node) ||
                     !parse_hex(bytes_from(text, MARKER_SIZE / 2), &ret_marker->id)))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, text,
                               "Not a marker of this list.");
    return OK;
}

/* ---- List Handles ---- */

/* A page of XML under construction. */
struct handle_page {
    struct handle_sink sink;
    const struct call *call;
    struct text out;
    bool has_entry;
};

static struct handle_page *page_of(struct handle_sink *sink)
{
    return (struct handle_page *)(void *)sink;
}

static void begin_page(struct handle_sink *sink)
{
    struct handle_page *page = page_of(sink);

    sink->full = false;
    page->has_entry = false;
    text_init(&page->out, page->call->arena, 1024);
}

static void add_rights(struct text *out, uint8_t access)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } rights[] = { { ACCESS_READ, "Read" },
                   { ACCESS_WRITE, "Write" },
                   { ACCESS_DELETE, "Delete" } };

    if (access == 0)
        return;
    xml_open(out, "AccessRightList");
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
        if (access & rights[i].bit)
            xml_element_string(out, "AccessRight", rights[i].name);
    xml_close(out, "AccessRightList");
}

static void add_path(struct text *out, struct bytes path)
{
    if (path.len == 0)
        text_add_string(out, "<Path />");
    else
        listing_name(out, "Path", path);
}

/* Adds a handle. The elements are in the recorded order. */
static void add_handle(struct handle_sink *sink, const struct handle *handle,
                       const struct handle_path *place)
{
    struct handle_page *page = page_of(sink);
    struct text *out = &page->out;

    page->has_entry = true;
    xml_open(out, "Handle");
    xml_element_u64(out, "HandleId", handle->id);
    add_path(out, place->path);
    xml_element_u64(out, "FileId", handle->node);
    xml_element_u64(out, "ParentId", place->parent);
    xml_element_u64(out, "SessionId", handle->session);
    xml_element(out, "ClientIp", handle->client_address);
    if (handle->client_name.len > 0 && call_since(page->call, NAMES_SINCE))
        listing_name(out, "ClientName", handle->client_name);
    xml_element_http_date(out, "OpenTime", handle->opened);
    if (handle->reconnected > 0)
        xml_element_http_date(out, "LastReconnectTime", handle->reconnected);
    if (call_since(page->call, RIGHTS_SINCE))
        add_rights(out, handle->access);
    xml_close(out, "Handle");
    sink->full = out->len > LISTING_PAGE_BYTES;
}

enum error list_handles_check(struct call *call, struct list_handles_parameters *p)
{
    struct handle_page *page = arena_alloc(call->arena, sizeof *page);
    enum error e = listing_read_max(call, LISTING_MAX, &p->listing.max_given, &p->listing.max);

    if (!e)
        e = read_marker(call, &p->from);
    if (!e)
        e = file_read_flag(call, "x-ms-recursive", &p->recursive);
    p->listing.marker = listing_query(call, "marker");
    page->sink = (struct handle_sink){ .begin = begin_page, .add = add_handle };
    page->call = call;
    p->sink = &page->sink;
    return e;
}

void list_handles_answer(struct answer *a, const struct list_handles_parameters *p,
                         const struct list_handles_result *r)
{
    struct handle_page *page = page_of(p->sink);
    struct text out;

    text_init(&out, a->arena, page->out.len + 256);
    xml_begin(&out);
    xml_open(&out, "EnumerationResults");
    listing_echo(&out, &p->listing);
    if (page->has_entry) {
        xml_open(&out, "Entries");
        text_add(&out, text_bytes(&page->out));
        xml_close(&out, "Entries");
    } else {
        text_add_string(&out, "<Entries />");
    }
    listing_end(&out, marker_text(a->arena, &r->next));
    answer_xml(a, &out);
}

/* ---- Force Close Handles ---- */

static enum error read_id(struct call *call, uint64_t *ret_id)
{
    static const char name[] = "x-ms-handle-id";
    struct bytes text = call_header(call, name);

    *ret_id = 0;
    if (!text.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, name, text);
    if (!bytes_is(text, "*") && (!bytes_parse_u64(text, UINT64_MAX, ret_id) || *ret_id == 0))
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

enum error force_close_handles_check(struct call *call, struct force_close_handles_parameters *p)
{
    enum error e = read_id(call, &p->id);

    if (!e)
        e = read_marker(call, &p->from);
    return e ? e : file_read_flag(call, "x-ms-recursive", &p->recursive);
}

void force_close_handles_answer(struct answer *a, const struct force_close_handles_parameters *p,
                                const struct force_close_handles_result *r)
{
    struct bytes marker = marker_text(a->arena, &r->next);

    (void)p;
    answer_u64(a, "x-ms-number-of-handles-closed", r->closed);
    if (call_since(a->call, FAILED_SINCE))
        answer_u64(a, "x-ms-number-of-handles-failed", 0);
    if (marker.ptr)
        answer_header(a, "x-ms-marker", marker);
}
