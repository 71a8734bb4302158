/* Authorization headers, shared access signatures and what is signed: none of any form is accepted
 * here, since the input does not know the key. The input: a target, then header lines. */
#include <stdlib.h>

#include "auth/auth.h"
#include "fuzz.h"

#define HEADERS_MAX 16

static size_t read_headers(struct arena *arena, struct bytes lines, struct http_header *headers)
{
    size_t count = 0;

    while (lines.len > 0 && count < HEADERS_MAX) {
        struct bytes line, name, value;

        bytes_cut(lines, '\n', &line, &lines);
        bytes_cut(line, ':', &name, &value);
        if (name.len == 0 || !value.ptr)
            continue;
        char *lower = arena_string(arena, name);

        for (char *c = lower; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        headers[count++] =
            (struct http_header){ bytes_from_string(lower), bytes_trim(value), name };
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 24);
    struct accounts *accounts = accounts_new();
    struct http_header headers[HEADERS_MAX];
    struct request request = { .method = METHOD_PUT,
                               .method_text = BYTES("PUT"),
                               .peer = BYTES("1.2.3.4:5"),
                               .headers = headers };
    struct bytes line, lines, detail = { NULL, 0 };
    struct auth_target target;
    struct identity identity;

    accounts_add_development(accounts);
    bytes_cut(bytes_of(data, size), '\n', &line, &lines);
    bytes_cut(line, '?', &request.path, &request.query);
    request.header_count = read_headers(arena, lines, headers);
    target = (struct auth_target){
        .account = accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT)),
        .name = BYTES(DEVELOPMENT_ACCOUNT),
        .path = request.path,
        .service = "bbtqf"[size % 5],
        .container = BYTES("box"),
        .object = BYTES("b"),
        .service_name = "blob",
    };
    if (authenticate(&request, &target, clock_now(), arena, &identity, &detail) == OK &&
        identity.kind != IDENTITY_ANONYMOUS)
        abort();
    accounts_free(accounts);
    arena_free(arena);
    return 0;
}
