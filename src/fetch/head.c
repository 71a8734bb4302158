/* See head.h. rfc: 9112 4, 5 */
#include "fetch/head.h"

static struct bytes without_end(struct bytes line)
{
    while (line.len > 0 && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    return line;
}

/* Parses "HTTP/1.1 200 OK". */
static bool begin(struct fetch_head *head, struct bytes line)
{
    struct bytes version, status, reason;
    uint64_t number = 0;

    bytes_cut(line, ' ', &version, &status);
    bytes_cut(status, ' ', &status, &reason);
    if (!bytes_has_prefix(version, bytes_from_string("HTTP/")) || status.len != 3 ||
        !bytes_parse_u64(status, 999, &number))
        return false;
    head->status = (int)number;
    head->header_count = 0;
    head->is_open = true;
    return true;
}

struct bytes fetch_head_find(const struct fetch_head *head, const char *name)
{
    for (size_t i = head->header_count; i > 0; i--) {
        if (bytes_is(head->headers[i - 1].name, name))
            return head->headers[i - 1].value;
    }
    return (struct bytes){ NULL, 0 };
}

/* A 3xx response without Location, and 304, are final responses. rfc: 9110 15.4 */
static bool is_redirect(const struct fetch_head *head)
{
    return head->status / 100 == 3 && head->status != 304 &&
           fetch_head_find(head, "location").len > 0;
}

static bool end(struct fetch_head *head)
{
    head->is_open = false;
    head->is_complete = head->status >= 200 && !is_redirect(head);
    return true;
}

static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] <= 0x20 || name.ptr[i] > 0x7e)
            return false;
    }
    return name.len > 0;
}

static bool add(struct fetch_head *head, struct bytes line)
{
    struct bytes name, value;

    bytes_cut(line, ':', &name, &value);
    if (!value.ptr || !is_name(name) || head->header_count == FETCH_HEADERS_MAX)
        return false;
    head->headers[head->header_count++] = (struct fetch_header){
        .name = arena_copy_lower(head->arena, name),
        .value = arena_copy(head->arena, bytes_trim(value)),
    };
    return true;
}

bool fetch_head_line(struct fetch_head *head, struct bytes line)
{
    head->bytes += line.len;
    if (head->bytes > FETCH_HEAD_BYTES_MAX)
        return head->is_complete; /* trailers are not limited */
    if (head->is_complete)
        return true;
    line = without_end(line);
    if (!head->is_open)
        return begin(head, line);
    return line.len == 0 ? end(head) : add(head, line);
}
