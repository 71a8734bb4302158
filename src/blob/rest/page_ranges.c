/* Get Page Ranges as a request and as XML. rest: Get-Page-Ranges
 *
 * A marker is, as recorded, "2!", the length of what follows the next '!', "!", and base64 of six
 * digits, "!", the offset to go on at, "!"; the digits are the length of the offset's text. */
#include "blob/rest/listing.h"
#include "blob/rest/request.h"

#include <inttypes.h>

#include "base/encode.h"
#include "base/url.h"
#include "blob/page_blob_operations.h"
#include "service/listing_xml.h"

/* ---- markers ---- */

static struct bytes marker_of(struct arena *arena, uint64_t offset)
{
    struct bytes text = arena_printf(arena, "%" PRIu64, offset);
    struct bytes inner = arena_printf(arena, "%06zu!%.*s!", text.len, BYTES_ARG(text));
    struct bytes base64 = base64_encode(arena, inner);

    return arena_printf(arena, "2!%zu!%.*s", base64.len, BYTES_ARG(base64));
}

/* Only what marker_of() makes. */
static bool read_marker(struct arena *arena, struct bytes marker, uint64_t *ret_offset)
{
    struct bytes version, length, base64, inner, digits, offset, end;

    bytes_cut(marker, '!', &version, &length);
    bytes_cut(length, '!', &length, &base64);
    if (!base64.ptr)
        return false;
    inner = base64_decode(arena, base64);
    if (!inner.ptr)
        return false;
    bytes_cut(inner, '!', &digits, &offset);
    bytes_cut(offset, '!', &offset, &end);
    return bytes_parse_u64(offset, PAGE_BLOB_MAX, ret_offset) &&
           bytes_equal(marker, marker_of(arena, *ret_offset));
}

/* ---- the request ---- */

static enum error read_page(struct call *call, struct get_page_ranges_parameters *p)
{
    struct bytes marker = listing_query(call, "marker");
    enum error e = listing_read_max(call, PAGE_RANGES_MAX, &p->is_paged, &p->max);

    if (e || !marker.ptr)
        return e;
    p->is_paged = true;
    if (!read_marker(call->arena, marker, &p->from))
        return call_fail_query(call, E_InvalidQueryParameterValue, "marker", marker,
                               "Not a marker of a list of page ranges.");
    return OK;
}

/* The query's only snapshot. */
static bool read_snapshot(struct arena *arena, struct bytes query, instant *ret_snapshot)
{
    bool found = false;

    while (query.ptr) {
        struct bytes parameter, name, value;

        bytes_cut(query, '&', &parameter, &query);
        bytes_cut(parameter, '=', &name, &value);
        if (!bytes_is_nocase(name, "snapshot"))
            continue;
        value = query_decode(arena, value);
        if (found || !value.ptr || !instant_parse_iso(value, ret_snapshot))
            return false;
        found = true;
    }
    return found;
}

/* A snapshot of the blob of the request: the same host and path. decision: 74 */
static bool read_previous_url(const struct call *call, struct bytes text, instant *ret_previous)
{
    struct bytes path, own_path = percent_decode(call->arena, call->request->path);
    struct url url;

    if (!url_parse(text, &url) || !bytes_equal_nocase(url.authority, call->request->authority))
        return false;
    path = percent_decode(call->arena, url.path);
    return path.ptr && bytes_equal(path, own_path) &&
           read_snapshot(call->arena, url.query, ret_previous);
}

static enum error read_previous(struct call *call, struct get_page_ranges_parameters *p)
{
    static const char header[] = "x-ms-previous-snapshot-url";
    struct bytes text = call_query(call, "prevsnapshot"), url = call_header(call, header);

    if (text.ptr && url.ptr)
        return call_fail_header(call, E_InvalidHeaderValue, header, url);
    if (text.ptr && !instant_parse_iso(text, &p->previous))
        return call_fail_query(call, E_InvalidQueryParameterValue, "prevsnapshot", text,
                               "Not a snapshot's date and time.");
    if (url.ptr && !read_previous_url(call, url, &p->previous))
        return call_fail_header(call, E_InvalidHeaderValue, header, url);
    return OK;
}

enum error get_page_ranges_check(struct call *call, struct get_page_ranges_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    if (!e)
        e = read_page(call, p);
    if (!e)
        e = read_previous(call, p);
    blob_read_range(call, &p->has_range, &p->first, &p->last);
    return e;
}

/* ---- the answer ---- */

static void range_xml(struct text *out, const struct content_range *range)
{
    const char *name = range->is_hole ? "ClearRange" : "PageRange";

    xml_open(out, name);
    xml_element_u64(out, "Start", range->start);
    xml_element_u64(out, "End", range->end - 1);
    xml_close(out, name);
}

void get_page_ranges_answer(struct answer *a, const struct get_page_ranges_parameters *p,
                            const struct get_page_ranges_result *r)
{
    struct bytes next = { NULL, 0 };
    struct text out;

    text_init(&out, a->arena, 128 + 72 * r->ranges.count);
    xml_begin(&out);
    text_add_char(&out, '\n'); /* recorded, 8 of 10 */
    xml_open(&out, "PageList");
    for (size_t i = 0; i < r->ranges.count; i++)
        range_xml(&out, &r->ranges.ranges[i]);
    if (r->ranges.next != UINT64_MAX)
        next = marker_of(a->arena, r->ranges.next);
    if (p->is_paged)
        xml_element(&out, "NextMarker", next);
    xml_close(&out, "PageList");
    answer_xml(a, &out);
    answer_u64(a, "x-ms-blob-content-length", r->length);
}
