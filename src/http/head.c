/* Two passes: the first searches for line ends, and resumes where it stopped when more bytes
 * arrive; the second parses a complete header section. */
#include "http/head.h"

#include <assert.h>

#include "http/tokens.h"

static void assert_scan(const struct head_scan *scan)
{
    assert(scan->begin <= scan->line && scan->line <= scan->scanned);
}

enum head_found head_find(struct head_scan *scan, struct bytes input)
{
    const char *found;

    assert_scan(scan);
    assert(scan->scanned <= input.len);
    while (scan->scanned < input.len &&
           (found = memchr(input.ptr + scan->scanned, '\n', input.len - scan->scanned))) {
        size_t at = (size_t)(found - input.ptr);
        bool is_empty = at == scan->line + 1;

        if (at == scan->line || input.ptr[at - 1] != '\r')
            return HEAD_MALFORMED; /* rfc: 9112 2.2 */
        scan->scanned = scan->line = at + 1;
        if (is_empty && scan->lines > 0) {
            scan->end = at + 1;
            return HEAD_WHOLE;
        }
        if (is_empty)
            scan->begin = at + 1; /* skip an empty line before the request line. rfc: 9112 2.2 */
        else
            scan->lines++;
    }
    scan->scanned = input.len;
    assert_scan(scan);
    return HEAD_PART;
}

void head_forget(struct head_scan *scan, size_t size)
{
    assert(size <= scan->begin);
    scan->begin -= size;
    scan->scanned -= size;
    scan->line -= size;
}

/* ---- the request line ---- */

/* Parses "HTTP/1.1". Returns 0, 400 or 505. */
static int read_version(struct bytes text, unsigned *ret_minor)
{
    if (text.len != 8 || !bytes_has_prefix(text, (struct bytes)BYTES("HTTP/")) ||
        text.ptr[5] < '0' || text.ptr[5] > '9' || text.ptr[6] != '.' || text.ptr[7] < '0' ||
        text.ptr[7] > '9')
        return 400;
    if (text.ptr[5] != '1' || text.ptr[7] > '1')
        return 505;
    *ret_minor = (unsigned)(text.ptr[7] - '0');
    return 0;
}

/* Splits the absolute-form: removes the scheme and the authority, which overrides Host. The
 * authority ends at the first '/' or '?'. rfc: 9112 3.2.2; 3986 3.2; decision: 270 */
static bool read_authority(struct bytes *target, struct request *request)
{
    struct bytes scheme, rest;
    size_t length = 0;

    bytes_cut(*target, ':', &scheme, &rest);
    if (!rest.ptr || !bytes_has_prefix(rest, (struct bytes)BYTES("//")) ||
        (!bytes_is_nocase(scheme, "http") && !bytes_is_nocase(scheme, "https")))
        return false;
    rest = bytes_from(rest, 2);
    while (length < rest.len && rest.ptr[length] != '/' && rest.ptr[length] != '?')
        length++;
    request->authority = bytes_of(rest.ptr, length);
    *target = bytes_from(rest, length);
    return http_is_host(request->authority);
}

/* Parses origin-form or absolute-form, without fragment. rfc: 9112 3.2 */
static bool read_target(struct bytes target, struct request *request)
{
    if (http_has_control(target, ' ') || target.len == 0 || memchr(target.ptr, '#', target.len))
        return false;
    if (target.ptr[0] != '/' && !read_authority(&target, request))
        return false;
    bytes_cut(target, '?', &request->path, &request->query);
    if (request->path.len == 0) /* rfc: 9110 4.2.3 */
        request->path = (struct bytes)BYTES("/");
    return true;
}

/* Returns 0, 400 or 505. rfc: 9112 3 */
static int read_request_line(struct bytes line, struct request *request, unsigned *ret_minor)
{
    struct bytes target;
    struct bytes version;
    int refusal;

    bytes_cut(line, ' ', &request->method_text, &target);
    if (!target.ptr || !http_is_token(request->method_text))
        return 400;
    bytes_cut(target, ' ', &target, &version);
    if (!version.ptr)
        return 400;
    refusal = read_version(version, ret_minor);
    if (refusal != 0)
        return refusal;
    request->method = http_method_of(request->method_text);
    return read_target(target, request) ? 0 : 400;
}

/* ---- header lines ---- */

/* rfc: 9112 5. lower: buffer for the name */
static bool read_header(struct bytes line, char *lower, struct http_header *header)
{
    size_t name = http_lower_token(line, lower);

    if (name == 0 || name == line.len || line.ptr[name] != ':')
        return false;
    header->name_as_sent = bytes_of(line.ptr, name);
    header->name = bytes_of(lower, name);
    header->value = bytes_trim(bytes_from(line, name + 1));
    return !http_has_control(header->value, '\t');
}

/* Returns the next line without its line end, which head_find() has checked. */
static struct bytes next_line(struct bytes *lines)
{
    const char *end = memchr(lines->ptr, '\n', lines->len);
    struct bytes line = { lines->ptr, (size_t)(end - lines->ptr) - 1 };

    assert(end && end > lines->ptr && end[-1] == '\r');
    *lines = bytes_from(*lines, line.len + 2);
    return line;
}

int head_read(struct arena *arena, struct bytes head, size_t lines, struct request *request,
              unsigned *ret_minor)
{
    int refusal = read_request_line(next_line(&head), request, ret_minor);
    size_t count = lines - 1;
    struct http_header *headers;
    char *lower;

    if (refusal != 0)
        return refusal;
    if (count > HEAD_HEADERS_MAX || head.len > HEAD_HEADERS_SIZE_MAX)
        return 431;
    headers = arena_array(arena, count, sizeof *headers);
    lower = arena_bytes(arena, head.len);
    for (size_t i = 0; i < count; i++) {
        if (!read_header(next_line(&head), lower, &headers[i]))
            return 400;
        lower += headers[i].name.len;
    }
    request->headers = headers;
    request->header_count = count;
    return 0;
}
