/* The Range and x-ms-range headers. rfc: 9110 14.1.2; rest:
 * Specifying-the-Range-Header-for-Blob-Service-Operations */
#include <assert.h>

#include "http/http.h"

static bool is_digits(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    }
    return text.len > 0;
}

/* Parses a position. Returns UINT64_MAX if it overflows. */
static bool parse_position(struct bytes text, uint64_t *ret_position)
{
    if (!is_digits(text))
        return false;
    if (!bytes_parse_u64(text, UINT64_MAX, ret_position))
        *ret_position = UINT64_MAX;
    return true;
}

/* Parses "bytes=a-b" or "bytes=a-"; without b the last position is UINT64_MAX. */
static bool parse_form(struct bytes header, uint64_t *ret_first, uint64_t *ret_last)
{
    struct bytes unit, positions, first, last;

    bytes_cut(bytes_trim(header), '=', &unit, &positions);
    if (!positions.ptr || !bytes_is_nocase(unit, "bytes"))
        return false;
    bytes_cut(positions, '-', &first, &last);
    if (!last.ptr || !parse_position(first, ret_first))
        return false;
    if (last.len == 0) {
        *ret_last = UINT64_MAX;
        return true;
    }
    return parse_position(last, ret_last) && *ret_first <= *ret_last;
}

enum range_result range_parse(struct bytes header, uint64_t size, uint64_t *ret_offset,
                              uint64_t *ret_length)
{
    uint64_t first, last;

    if (!header.ptr || !parse_form(header, &first, &last))
        return RANGE_ALL;
    if (first >= size)
        return RANGE_UNSATISFIABLE;
    if (last > size - 1)
        last = size - 1;
    *ret_offset = first;
    *ret_length = last - first + 1;
    assert(*ret_length > 0 && *ret_offset + *ret_length <= size);
    return RANGE_PART;
}
