/* Builds a response for the application. */
#include "http/http_private.h"

#include <assert.h>

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
