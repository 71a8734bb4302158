/* Request and XML response of Get Page Ranges. rest: Get-Page-Ranges */
#include "blob/page_blob_operations.h"
#include "blob/rest/request.h"

#include "base/encode.h"
#include "base/url.h"
#include "service/range_list_xml.h"
#include "service/read_answer.h"

/* ---- request ---- */

/* Parses the snapshot parameter, of which there must be exactly one. */
static bool read_snapshot(struct arena *arena, struct bytes query, instant *ret_snapshot)
{
    struct bytes name, value;
    bool found = false;

    while (url_take_parameter(&query, &name, &value)) {
        if (!bytes_is_nocase(name, "snapshot"))
            continue;
        value = query_decode(arena, value);
        if (found || !value.ptr || !instant_parse_iso(value, ret_snapshot))
            return false;
        found = true;
    }
    return found;
}

/* Parses the URL of a snapshot of the same blob: host and path must be the same. decision: 74 */
static bool read_previous_url(const struct call *call, struct bytes text, instant *ret_previous)
{
    struct bytes path, own_path = percent_decode(call->arena, call->request->path);
    struct url url;

    if (!url_parse(url_normal(call->arena, text), &url) ||
        !bytes_equal_nocase(url.authority, call->request->authority))
        return false;
    path = percent_decode(call->arena, url.path);
    return path.ptr && own_path.ptr &&
           bytes_equal(url_normalize_path(call->arena, path),
                       url_normalize_path(call->arena, own_path)) &&
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

/* Extends a range to whole pages, as in the real service. decision: 854 */
static void widen_to_pages(struct read_range *range)
{
    range->first -= range->first % PAGE_SIZE;
    if (range->last < PAGE_BLOB_MAX)
        range->last += PAGE_SIZE - 1 - range->last % PAGE_SIZE;
}

enum error get_page_ranges_check(struct call *call, struct get_page_ranges_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    if (!e)
        e = range_list_read_page(call, &p->list);
    if (!e)
        e = read_previous(call, p);
    read_range_positions(call, &p->list.range);
    widen_to_pages(&p->list.range);
    return e;
}

/* ---- response ---- */

void get_page_ranges_answer(struct answer *a, const struct get_page_ranges_parameters *p,
                            const struct get_page_ranges_result *r)
{
    static const struct range_list_names names = { .list = "PageList", .range = "PageRange" };

    range_list_answer(a, &p->list, &names, &r->ranges);
    answer_u64(a, "x-ms-blob-content-length", r->length);
}
