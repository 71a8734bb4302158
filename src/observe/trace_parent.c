/* See trace_parent.h. The format is "00-TRACE-PARENT-FLAGS". A later version may append further
 * fields after another dash. */
#include "observe/trace_parent.h"

static bool is_lower_hex(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (bytes_hex_digit(text.ptr[i]) < 0 || (text.ptr[i] >= 'A' && text.ptr[i] <= 'F'))
            return false;
    }
    return true;
}

static bool is_zero(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '0')
            return false;
    }
    return true;
}

struct bytes trace_parent_id(struct bytes traceparent)
{
    static const struct bytes none = { NULL, 0 };
    struct bytes version, trace, parent, flags, more;

    bytes_cut(traceparent, '-', &version, &more);
    bytes_cut(more, '-', &trace, &more);
    bytes_cut(more, '-', &parent, &more);
    bytes_cut(more, '-', &flags, &more);
    if (version.len != 2 || trace.len != TRACE_ID_LENGTH || parent.len != 16 || flags.len != 2)
        return none;
    if (!is_lower_hex(version) || !is_lower_hex(trace) || !is_lower_hex(parent) ||
        !is_lower_hex(flags))
        return none;
    if (bytes_is(version, "ff") || (bytes_is(version, "00") && more.ptr) || is_zero(trace) ||
        is_zero(parent))
        return none;
    return trace;
}
