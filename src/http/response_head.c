/* See response_head.h. */
#include "http/response_head.h"

#include <assert.h>

#include "http/http_private.h"
#include "http/tokens.h"

static const struct bytes end_of_head = BYTES("\r\n\r\n");

/* Parses "HTTP/1.1 200 OK". Returns 0 if it is anything else. */
static int read_status(struct bytes line)
{
    static const struct bytes version = BYTES("HTTP/1.1 ");
    uint64_t status;

    if (line.len < version.len + 4 || !bytes_has_prefix(line, version) ||
        line.ptr[version.len + 3] != ' ' || http_has_control(line, ' ') ||
        !bytes_parse_u64(bytes_of(line.ptr + version.len, 3), 599, &status))
        return 0;
    return status == 100 || status >= 200 ? (int)status : 0;
}

/* Accepts at most one Content-Length, and no other framing. */
static bool read_header(struct bytes name, struct bytes value, bool *has_length,
                        struct response *to, struct response_head *head)
{
    if (bytes_is_nocase(name, "content-length")) {
        if (*has_length || !bytes_parse_u64(value, INT64_MAX, &head->length))
            return false;
        *has_length = true;
    } else if (bytes_is_nocase(name, "connection")) {
        head->closes |= bytes_is_nocase(value, "close");
    } else if (bytes_is_nocase(name, "transfer-encoding")) {
        return false;
    } else if (!bytes_is_nocase(name, "date")) {
        response_header(to, arena_copy(to->arena, name), arena_copy(to->arena, value));
    }
    return true;
}

static bool read_line(struct bytes line, bool *has_length, struct response *to,
                      struct response_head *head)
{
    struct bytes name, value;

    bytes_cut(line, ':', &name, &value);
    if (!value.ptr || !http_is_token(name) || http_has_control(value, '\t'))
        return false;
    return read_header(name, bytes_trim(value), has_length, to, head);
}

/* Returns the next line without its end; ptr NULL if the line end is not CR LF. */
static struct bytes take_line(struct bytes *lines)
{
    const char *end = memchr(lines->ptr, '\n', lines->len);
    struct bytes line = { NULL, 0 };

    if (end && end > lines->ptr && end[-1] == '\r')
        line = bytes_of(lines->ptr, (size_t)(end - lines->ptr) - 1);
    *lines = end ? bytes_from(*lines, (size_t)(end - lines->ptr) + 1) : bytes_of("", 0);
    return line;
}

static bool read_lines(struct bytes lines, struct response *to, struct response_head *head)
{
    struct bytes line = take_line(&lines);
    bool has_length = false;

    head->status = line.ptr ? read_status(line) : 0;
    if (head->status == 0)
        return false;
    while (lines.len > 0) {
        line = take_line(&lines);
        if (!line.ptr || !read_line(line, &has_length, to, head))
            return false;
    }
    return head->status != 100 || to->header_count == 0;
}

enum response_found response_head_read(struct bytes input, size_t searched, struct response *to,
                                       struct response_head *ret_head)
{
    size_t from = searched > end_of_head.len ? searched - end_of_head.len : 0;
    const char *end = input.len > from ? memmem(input.ptr + from, input.len - from, end_of_head.ptr,
                                                end_of_head.len)
                                       : NULL;

    if (!end)
        return input.len < RESPONSE_HEAD_MAX ? RESPONSE_PART : RESPONSE_MALFORMED;
    *ret_head = (struct response_head){ .size = (size_t)(end - input.ptr) + end_of_head.len };
    if (ret_head->size > RESPONSE_HEAD_MAX ||
        !read_lines(bytes_of(input.ptr, ret_head->size - 2), to, ret_head))
        return RESPONSE_MALFORMED;
    to->status = ret_head->status;
    return RESPONSE_WHOLE;
}

/* ---- Builds a response for the application ---- */

#define HEADERS_FIRST 32

void response_init(struct response *response, struct arena *arena)
{
    *response = (struct response){ .arena = arena, .fd = -1 };
}

void response_header(struct response *response, struct bytes name, struct bytes value)
{
    assert(response->arena && name.len > 0);
    if (response->header_count == response->header_capacity) {
        size_t capacity =
            response->header_capacity > 0 ? 2 * response->header_capacity : HEADERS_FIRST;
        struct http_header *grown = arena_alloc_head(response->arena, capacity * sizeof *grown, 0);

        if (response->header_count > 0)
            memcpy(grown, response->headers, response->header_count * sizeof *grown);
        response->headers = grown;
        response->header_capacity = capacity;
    }
    assert(response->header_count < response->header_capacity);
    response->headers[response->header_count++] =
        (struct http_header){ .name = name, .value = value };
}

void response_header_string(struct response *response, const char *name, const char *value)
{
    response_header(response, bytes_from_string(name), bytes_from_string(value));
}

const struct http_header *response_find_header(const struct response *response, struct bytes name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (bytes_equal_nocase(response->headers[i].name, name))
            return &response->headers[i];
    }
    return NULL;
}

void response_copy_headers(struct response *response, struct arena *to)
{
    struct http_header *copies = arena_array(to, response->header_capacity, sizeof *copies);

    assert(response->header_count <= response->header_capacity);
    for (size_t i = 0; i < response->header_count; i++) {
        copies[i].name = arena_copy(to, response->headers[i].name);
        copies[i].value = arena_copy(to, response->headers[i].value);
    }
    response->headers = copies;
}
