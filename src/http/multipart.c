/* See multipart.h. */
#include "http/multipart.h"

#include <assert.h>

#include "http/tokens.h"

static const struct bytes line_end = BYTES("\r\n");
static const struct bytes dashes = BYTES("--");

/* ---- the boundary ---- */

/* rfc: 2046 5.1.1 "bchars", without the space, which no client uses */
static bool may_be_boundary(struct bytes text)
{
    static const char others[] = "'()+_,-./:=?";

    if (text.len == 0 || text.len > MULTIPART_BOUNDARY_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

        if (!alphanumeric && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return true;
}

static struct bytes unquoted(struct bytes value)
{
    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"')
        return bytes_of(value.ptr + 1, value.len - 2);
    return value;
}

enum multipart_type multipart_type(struct bytes content_type, struct bytes *ret_boundary)
{
    struct bytes first, rest;
    unsigned boundaries = 0;

    bytes_cut(content_type, ';', &first, &rest);
    if (!bytes_is_nocase(bytes_trim(first), "multipart/mixed"))
        return MULTIPART_TYPE_OTHER;
    while (rest.len > 0) {
        struct bytes parameter, name, value;

        bytes_cut(rest, ';', &parameter, &rest);
        bytes_cut(parameter, '=', &name, &value);
        if (!bytes_is_nocase(bytes_trim(name), "boundary"))
            continue;
        *ret_boundary = unquoted(bytes_trim(value));
        boundaries++;
    }
    if (boundaries > 1)
        return MULTIPART_TYPE_AMBIGUOUS;
    return boundaries == 1 && may_be_boundary(*ret_boundary) ? MULTIPART_TYPE_OK
                                                             : MULTIPART_TYPE_OTHER;
}

/* ---- lines ---- */

/* Returns the line end at the start of the text; ptr NULL if it has none. */
static struct bytes line_end_at(enum multipart_rules rules, struct bytes text)
{
    if (bytes_has_prefix(text, line_end))
        return bytes_of(text.ptr, line_end.len);
    if (rules == MULTIPART_LENIENT && text.len > 0 && text.ptr[0] == '\n')
        return bytes_of(text.ptr, 1);
    return bytes_of(NULL, 0);
}

/* Returns the first line end in the text; ptr NULL if it has none. */
static struct bytes find_line_end(enum multipart_rules rules, struct bytes text)
{
    struct bytes left = text;
    const char *at;

    while (left.len > 0 && (at = memchr(left.ptr, '\n', left.len))) {
        bool after_return = at > text.ptr && at[-1] == '\r';

        if (after_return || rules == MULTIPART_LENIENT)
            return bytes_of(after_return ? at - 1 : at, after_return ? line_end.len : 1);
        left = bytes_from(left, (size_t)(at - left.ptr) + 1);
    }
    return bytes_of(NULL, 0);
}

/* Removes and returns the first line, or the entire text if it has no line end. */
static struct bytes take_line(enum multipart_rules rules, struct bytes *text)
{
    struct bytes end = find_line_end(rules, *text);
    struct bytes line = { text->ptr, end.ptr ? (size_t)(end.ptr - text->ptr) : text->len };

    assert(line.len + end.len <= text->len);
    *text = bytes_from(*text, line.len + end.len);
    return line;
}

struct bytes multipart_skip_lines(enum multipart_rules rules, struct bytes text)
{
    struct bytes end;

    while ((end = line_end_at(rules, text)).ptr)
        text = bytes_from(text, end.len);
    return text;
}

/* Skips leading spaces and tabs, which may follow a boundary. */
static struct bytes skip_blanks(struct bytes text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = bytes_from(text, 1);
    return text;
}

/* Parses "Name: value". Refuses folded lines, because a name contains no space. */
static bool read_header(struct arena *arena, struct bytes line, struct http_header *ret_header)
{
    struct bytes name, value;
    char *lower;

    bytes_cut(line, ':', &name, &value);
    if (!value.ptr)
        return false;
    lower = arena_bytes(arena, name.len);
    *ret_header = (struct http_header){ .name = bytes_of(lower, name.len),
                                        .value = bytes_trim(value),
                                        .name_as_sent = name };
    return http_lower_name(name, lower) && !http_has_control(ret_header->value, '\t');
}

/* Removes headers and the empty line after them. ends: the text may end instead of the empty line.
 * Returns false if they are malformed or exceed a limit. */
static bool take_headers(struct arena *arena, enum multipart_rules rules, struct bytes *text,
                         bool ends, struct http_header *headers, size_t *ret_count)
{
    size_t size = 0;

    *ret_count = 0;
    while (text->len > 0) {
        struct bytes line = take_line(rules, text);

        if (line.len == 0)
            return true;
        size += line.len;
        if (*ret_count == MULTIPART_HEADER_COUNT_MAX || size > MULTIPART_HEADERS_MAX ||
            !read_header(arena, line, &headers[*ret_count]))
            return false;
        ++*ret_count;
    }
    return ends;
}

/* ---- parts ---- */

void multipart_begin(struct multipart *reader, struct arena *arena, enum multipart_rules rules,
                     struct bytes boundary, struct bytes body)
{
    assert(boundary.len > 0 && boundary.len <= MULTIPART_BOUNDARY_MAX);
    *reader = (struct multipart){
        .rules = rules,
        .boundary = arena_printf(arena, "--%.*s", BYTES_ARG(boundary)),
        .rest = body,
    };
}

/* Returns the line end if only spaces and tabs precede it; otherwise ptr NULL. */
static struct bytes rest_of_line(enum multipart_rules rules, struct bytes text)
{
    return line_end_at(rules, skip_blanks(text));
}

static bool is_blank(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!strchr(" \t\r\n", text.ptr[i]) || text.ptr[i] == '\0')
            return false;
    }
    return true;
}

/* Returns true if the text starts with a boundary line, and not just with a longer word. */
static bool is_boundary(const struct multipart *reader, struct bytes text)
{
    struct bytes behind;

    if (!bytes_has_prefix(text, reader->boundary))
        return false;
    behind = bytes_from(text, reader->boundary.len);
    return bytes_has_prefix(behind, dashes) || rest_of_line(reader->rules, behind).ptr;
}

/* Removes and returns the content up to the next boundary, at which `rest` starts afterwards. */
static bool take_content(struct multipart *reader, struct bytes *ret_content)
{
    struct bytes all = reader->rest;
    struct bytes left = all;
    struct bytes end;

    while ((end = find_line_end(reader->rules, left)).ptr) {
        left = bytes_from(left, (size_t)(end.ptr - left.ptr) + end.len);
        if (is_boundary(reader, left)) {
            *ret_content = bytes_of(all.ptr, (size_t)(end.ptr - all.ptr));
            assert(ret_content->len + end.len + left.len == all.len);
            reader->rest = left;
            return true;
        }
    }
    return false;
}

static bool read_part(struct arena *arena, enum multipart_rules rules, struct bytes text,
                      struct multipart_part *ret_part)
{
    struct http_header headers[MULTIPART_HEADER_COUNT_MAX];
    size_t count;

    if (!take_headers(arena, rules, &text, false, headers, &count))
        return false;
    *ret_part = (struct multipart_part){ .content = text };
    for (size_t i = 0; i < count; i++) {
        struct bytes *to = bytes_is(headers[i].name, "content-type") ? &ret_part->content_type
                           : bytes_is(headers[i].name, "content-transfer-encoding")
                               ? &ret_part->transfer_encoding
                           : bytes_is(headers[i].name, "content-id") ? &ret_part->id
                                                                     : NULL;

        if (to && to->ptr)
            return false; /* a repeated header, of which one would be ignored */
        if (to)
            *to = headers[i].value;
    }
    return ret_part->id.len <= MULTIPART_ID_MAX;
}

enum multipart_step multipart_next(struct multipart *reader, struct arena *arena,
                                   struct multipart_part *ret_part)
{
    struct bytes content, end;

    if (!bytes_has_prefix(reader->rest, reader->boundary))
        return MULTIPART_MALFORMED;
    reader->rest = bytes_from(reader->rest, reader->boundary.len);
    if (bytes_has_prefix(reader->rest, dashes))
        return is_blank(bytes_from(reader->rest, dashes.len)) ? MULTIPART_END : MULTIPART_MALFORMED;
    end = rest_of_line(reader->rules, reader->rest);
    if (!end.ptr)
        return MULTIPART_MALFORMED;
    reader->rest = bytes_from(skip_blanks(reader->rest), end.len);
    if (!take_content(reader, &content) || !read_part(arena, reader->rules, content, ret_part))
        return MULTIPART_MALFORMED;
    return MULTIPART_PART;
}

/* ---- requests ---- */

static bool has_scheme(struct bytes path)
{
    struct bytes first, rest;

    bytes_cut(path, '/', &first, &rest);
    return first.len > 0 && first.ptr[first.len - 1] == ':' &&
           bytes_has_prefix(rest, (struct bytes)BYTES("/"));
}

/* Returns the part of a URL after the host. */
static struct bytes path_of_url(struct bytes url)
{
    struct bytes scheme, host, path;

    bytes_cut(url, '/', &scheme, &url);
    bytes_cut(bytes_from(url, 1), '/', &host, &path);
    return path.ptr ? path : bytes_from_string("/");
}

/* Parses "DELETE /container/blob?query HTTP/1.1". */
static bool read_request_line(struct arena *arena, struct bytes line, enum multipart_rules rules,
                              struct request *request)
{
    struct bytes target, version, more;

    bytes_cut(line, ' ', &request->method_text, &more);
    bytes_cut(more, ' ', &target, &version);
    if (!bytes_is(version, "HTTP/1.1") && !bytes_is(version, "HTTP/1.0"))
        return false;
    /* Like a request's target, it has no fragment. rfc: 9112 3.2 */
    if (request->method_text.len == 0 || target.len == 0 || target.len > MULTIPART_TARGET_MAX ||
        http_has_control(line, ' ') || memchr(target.ptr, '#', target.len))
        return false;
    request->method = http_method_of(request->method_text);
    bytes_cut(target, '?', &request->path, &request->query);
    if (rules == MULTIPART_LENIENT && has_scheme(request->path))
        request->path = path_of_url(request->path);
    if (!bytes_has_prefix(request->path, (struct bytes)BYTES("/"))) {
        /* The .NET client omits the '/'. A URL with a host is refused. */
        if (has_scheme(request->path))
            return false;
        request->path = arena_printf(arena, "/%.*s", BYTES_ARG(request->path));
    }
    return true;
}

bool multipart_request(struct arena *arena, struct bytes content, enum multipart_rules rules,
                       struct request *ret_request, struct bytes *ret_body)
{
    struct http_header headers[MULTIPART_HEADER_COUNT_MAX];
    struct http_header *kept;
    struct bytes length;
    size_t count;

    *ret_request = (struct request){ .method = METHOD_OTHER };
    if (!read_request_line(arena, take_line(rules, &content), rules, ret_request) ||
        !take_headers(arena, rules, &content, true, headers, &count))
        return false;
    kept = arena_array(arena, count, sizeof *kept);
    if (count > 0)
        memcpy(kept, headers, count * sizeof *kept);
    ret_request->headers = kept;
    ret_request->header_count = count;
    *ret_body = content;
    length = request_header(ret_request, "content-length");
    /* The part itself delimits the body. */
    if (request_header(ret_request, "transfer-encoding").ptr)
        return false;
    return !length.ptr || bytes_parse_u64(length, INT64_MAX, &ret_request->content_length);
}

/* ---- responses ---- */

static void add_line(struct text *to, const char *begin, struct bytes rest)
{
    text_add_string(to, begin);
    text_add(to, rest);
    text_add(to, line_end);
}

void multipart_add(struct text *to, struct bytes boundary, struct bytes id,
                   const struct response *response, struct bytes reason)
{
    bool has_body = response->body_kind == BODY_BYTES;

    assert(has_body || response->body_kind == BODY_NONE);
    assert(response->status >= 200 && response->status <= 599);
    text_add(to, dashes);
    text_add(to, boundary);
    text_add_string(to, "\r\nContent-Type: application/http\r\n");
    if (id.ptr)
        add_line(to, "Content-ID: ", id);
    text_add_string(to, "\r\nHTTP/1.1 ");
    text_add_u64(to, (uint64_t)response->status);
    add_line(to, " ", reason);
    for (size_t i = 0; i < response->header_count; i++) {
        const struct http_header *header = &response->headers[i];

        if (has_body && bytes_is_nocase(header->name, "content-type"))
            text_printf(to, "Content-Length: %zu\r\n", response->body.len);
        text_add(to, header->name);
        add_line(to, ": ", header->value);
    }
    text_add(to, line_end);
    if (has_body) {
        text_add(to, response->body);
        text_add(to, line_end);
    }
}

void multipart_close(struct text *to, struct bytes boundary)
{
    text_printf(to, "--%.*s--", BYTES_ARG(boundary));
}
