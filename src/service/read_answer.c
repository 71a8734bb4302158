/* See read_answer.h. */
#include "service/read_answer.h"

#include <inttypes.h>

static const char md5_header[] = "x-ms-range-get-content-md5";
static const char crc64_header[] = "x-ms-range-get-content-crc64";

static struct bytes header_of_range(const struct call *call)
{
    struct bytes range = call_header(call, "x-ms-range");

    return range.ptr ? range : call_header(call, "range");
}

void read_range_positions(const struct call *call, struct read_range *ret_range)
{
    uint64_t length;

    *ret_range = (struct read_range){ .is_given = true, .first = UINT64_MAX, .last = UINT64_MAX };
    switch (range_parse(header_of_range(call), UINT64_MAX, &ret_range->first, &length)) {
    case RANGE_ALL:
        ret_range->is_given = false;
        break;
    case RANGE_PART:
        ret_range->last = ret_range->first + length - 1;
        break;
    case RANGE_UNSATISFIABLE: /* starts past any end */
        break;
    }
}

enum error write_range_read(struct call *call, struct read_range *ret_range, struct bytes *ret_text)
{
    *ret_text = header_of_range(call);
    if (!ret_text->ptr)
        return call_fail_header(call, E_MissingRequiredHeader, "x-ms-range", *ret_text);
    read_range_positions(call, ret_range);
    return OK;
}

/* Refuses a checksum without a range, and requests for both checksums. */
static enum error check_sums(struct call *call, struct read_range *range)
{
    if (!range->md5 && !range->crc64)
        return OK;
    range->sum_source.name = range->crc64 ? crc64_header : md5_header;
    range->sum_source.value = call_header(call, range->sum_source.name);
    if (range->md5 && range->crc64)
        return E_BothCrc64AndMd5RangeHeaderPresent;
    if (!header_of_range(call).ptr)
        return call_fail_header(call, E_InvalidHeaderValue, range->sum_source.name,
                                range->sum_source.value);
    return OK;
}

enum error read_range_check(struct call *call, struct read_range *ret_range)
{
    enum error e;

    read_range_positions(call, ret_range);
    e = call_read_flag(call, md5_header, &ret_range->md5);
    if (!e)
        e = call_read_flag(call, crc64_header, &ret_range->crc64);
    return e ? e : check_sums(call, ret_range);
}

void read_answer(struct answer *a, const struct read_range *range, const struct read_part *part,
                 const struct content *content)
{
    a->content = (struct answer_content){
        .wanted = true,
        .content = *content,
        .offset = part->offset,
        .length = part->length,
        .md5 = range->md5 && part->is_part,
        .crc64 = range->crc64 && part->is_part,
    };
    if (!part->is_part)
        return;
    answer_status(a, 206);
    answer_header(a, "Content-Range",
                  arena_printf(a->arena, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, part->offset,
                               part->offset + part->length - 1, content->length));
}
