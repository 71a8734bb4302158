/* multipart/mixed: the first line of the input is the Content-Type, the rest the body. What is read
 * is within the limits, lies in the body, and is read again from its own text. */
#include <stdlib.h>

#include "fuzz.h"
#include "http/multipart.h"

#define PARTS_MAX 1000

static void check_request_by(struct arena *arena, struct bytes content,
                             enum multipart_target target)
{
    struct request request;
    struct bytes body;

    if (!multipart_request(arena, content, target, &request, &body))
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

/* As a part of a batch of blobs, and of one of entities. */
static void check_request(struct arena *arena, struct bytes content)
{
    check_request_by(arena, content, MULTIPART_PATHS);
    check_request_by(arena, content, MULTIPART_URLS);
}

/* A content cannot hold the boundary that ends it: else a part of one reader were two of
 * another. */
static void check_part(struct arena *arena, const struct multipart *reader,
                       const struct multipart_part *part)
{
    struct bytes end = reader->delimiter;
    struct multipart inner;
    struct multipart_part nested;
    struct bytes boundary;

    if (part->id.len > MULTIPART_ID_MAX)
        abort();
    if (part->content.len > 0) {
        const char *at = memmem(part->content.ptr, part->content.len, end.ptr, end.len);

        if (at &&
            bytes_has_prefix(bytes_from(part->content, (size_t)(at - part->content.ptr) + end.len),
                             (struct bytes)BYTES("--")))
            abort();
    }
    check_request(arena, part->content);
    if (!part->content_type.ptr || multipart_type(part->content_type, &boundary))
        return;
    multipart_begin(&inner, arena, boundary, part->content);
    for (int i = 0; i < PARTS_MAX && multipart_next(&inner, arena, &nested) == MULTIPART_PART; i++)
        check_request(arena, nested.content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new((size_t)1 << 30);
    struct bytes type, body, boundary;
    struct multipart reader;
    struct multipart_part part;

    bytes_cut(bytes_of(data, size), '\n', &type, &body);
    if (body.ptr && multipart_type(type, &boundary) == MULTIPART_TYPE_OK) {
        if (boundary.len == 0 || boundary.len > MULTIPART_BOUNDARY_MAX)
            abort();
        multipart_begin(&reader, arena, boundary, body);
        for (int i = 0; i < PARTS_MAX && multipart_next(&reader, arena, &part) == MULTIPART_PART;
             i++)
            check_part(arena, &reader, &part);
    }
    check_request(arena, bytes_of(data, size));
    arena_free(arena);
    return 0;
}
