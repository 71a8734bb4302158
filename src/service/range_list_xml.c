/* Lists of ranges in requests and responses; see read_answer.h. rest: Get-Page-Ranges,
 * List-Ranges
 *
 * A marker has the recorded format: "2!", the length of the text after the next '!', "!", and
 * base64 of: six digits, "!", the offset at which to continue, "!". The digits are the length of
 * the offset's text. */
#include "service/read_answer.h"

#include <inttypes.h>

#include "base/encode.h"
#include "service/listing_xml.h"

/* ---- markers ---- */

static struct bytes marker_of(struct arena *arena, uint64_t offset)
{
    struct bytes text = arena_printf(arena, "%" PRIu64, offset);
    struct bytes inner = arena_printf(arena, "%06zu!%.*s!", text.len, BYTES_ARG(text));
    struct bytes base64 = base64_encode(arena, inner);

    return arena_printf(arena, "2!%zu!%.*s", base64.len, BYTES_ARG(base64));
}

/* Accepts only markers that marker_of() creates. */
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
    return bytes_parse_u64(offset, CONTENT_LENGTH_MAX, ret_offset) &&
           bytes_equal(marker, marker_of(arena, *ret_offset));
}

enum error range_list_read_page(struct call *call, struct range_list *list)
{
    struct bytes marker = listing_query(call, "marker");
    enum error e = listing_read_max(call, RANGE_LIST_MAX, &list->is_paged, &list->max);

    if (e || !marker.ptr)
        return e;
    list->is_paged = true;
    if (!read_marker(call->arena, marker, &list->from))
        return call_fail_query(call, E_InvalidQueryParameterValue, "marker", marker,
                               "Not a marker of a list of ranges.");
    return OK;
}

/* ---- response ---- */

static void range_xml(struct text *out, const struct range_list_names *names,
                      const struct content_range *range)
{
    const char *name = range->is_hole ? "ClearRange" : names->range;

    xml_open(out, name);
    xml_element_u64(out, "Start", range->start);
    xml_element_u64(out, "End", range->end - 1);
    xml_close(out, name);
}

void range_list_answer(struct answer *a, const struct range_list *list,
                       const struct range_list_names *names, const struct content_ranges *ranges)
{
    struct bytes next = { NULL, 0 };
    struct text out;

    text_init(&out, a->arena, 128 + 72 * ranges->count);
    xml_begin(&out);
    text_add_char(&out, '\n'); /* in 8 of 10 recordings */
    xml_open(&out, names->list);
    for (size_t i = 0; i < ranges->count; i++)
        range_xml(&out, names, &ranges->ranges[i]);
    if (ranges->next != UINT64_MAX)
        next = marker_of(a->arena, ranges->next);
    if (list->is_paged)
        xml_element(&out, "NextMarker", next);
    xml_close(&out, names->list);
    answer_xml(a, &out);
}
