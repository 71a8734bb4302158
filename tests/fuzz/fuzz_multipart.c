/* multipart/mixed: the first line of the input is the Content-Type, the rest the body. What is read
 * is within the limits, lies in the body, and is read again from its own text. */
#include <stdlib.h>

#include "fuzz.h"
#include "http/multipart.h"

#define PARTS_MAX 1000

static void check_request(struct arena *arena, enum multipart_rules rules, struct bytes content)
{
    struct request request;
    struct bytes body;

    if (!multipart_request(arena, content, rules, &request, &body))
        return;
    if (request.path.len == 0 || request.path.ptr[0] != '/' || request.method_text.len == 0 ||
        request.header_count > MULTIPART_HEADER_COUNT_MAX || body.len > content.len)
        abort();
    for (size_t i = 0; i < request.header_count; i++) {
        struct bytes value = request.headers[i].value;

        if (request.headers[i].name.len == 0 || memchr(value.ptr, '\n', value.len))
            abort();
    }
}

/* A content cannot hold the boundary that ends it: else a part of one reader were two of
 * another. */
static void check_content(struct arena *arena, const struct multipart *reader, struct bytes content)
{
    struct bytes end =
        arena_printf(arena, "%s%.*s--", reader->rules == MULTIPART_STRICT ? "\r\n" : "\n",
                     BYTES_ARG(reader->boundary));

    if (content.len > 0 && memmem(content.ptr, content.len, end.ptr, end.len))
        abort();
}

static void check_part(struct arena *arena, const struct multipart *reader,
                       const struct multipart_part *part)
{
    struct multipart inner;
    struct multipart_part nested;
    struct bytes boundary;

    if (part->id.len > MULTIPART_ID_MAX)
        abort();
    check_content(arena, reader, part->content);
    check_request(arena, reader->rules, part->content);
    if (!part->content_type.ptr || multipart_type(part->content_type, &boundary))
        return;
    multipart_begin(&inner, arena, reader->rules, boundary, part->content);
    for (int i = 0; i < PARTS_MAX && multipart_next(&inner, arena, &nested) == MULTIPART_PART; i++)
        check_request(arena, reader->rules, nested.content);
}

/* As a batch of blobs, or one of entities. */
static void check_body(struct arena *arena, enum multipart_rules rules, struct bytes boundary,
                       struct bytes body)
{
    struct multipart reader;
    struct multipart_part part;

    multipart_begin(&reader, arena, rules, boundary, body);
    for (int i = 0; i < PARTS_MAX && multipart_next(&reader, arena, &part) == MULTIPART_PART; i++)
        check_part(arena, &reader, &part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new((size_t)1 << 30);
    struct bytes type, body, boundary;

    bytes_cut(bytes_of(data, size), '\n', &type, &body);
    if (body.ptr && multipart_type(type, &boundary) == MULTIPART_TYPE_OK) {
        if (boundary.len == 0 || boundary.len > MULTIPART_BOUNDARY_MAX)
            abort();
        check_body(arena, MULTIPART_STRICT, boundary, body);
        check_body(arena, MULTIPART_LENIENT, boundary, body);
    }
    check_request(arena, MULTIPART_STRICT, bytes_of(data, size));
    check_request(arena, MULTIPART_LENIENT, bytes_of(data, size));
    arena_free(arena);
    return 0;
}
