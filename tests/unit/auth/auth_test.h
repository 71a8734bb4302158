/* What the tests of auth/ share: requests as lists of headers, and the signed ones of vectors.h. */
#ifndef LAGRA_TESTS_AUTH_TEST_H
#define LAGRA_TESTS_AUTH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "auth/auth_private.h"

#define TEST_HEADERS_MAX 24
#define TEST_ARENA_CAP   (1u << 20)

struct test_header {
    const char *name, *value; /* name NULL: the end */
};

/* A request with its signature. */
struct vector {
    const char *what, *method, *path, *query;
    bool secondary, table;
    struct test_header headers[TEST_HEADERS_MAX];
};

/* The instant that all vectors are signed at. */
#define SIGNED_AT "Fri, 26 Jun 2015 23:39:12 GMT"

static inline instant signed_at(void)
{
    instant at;

    assert_true(instant_parse_http(bytes_from_string(SIGNED_AT), &at));
    return at;
}

/* The vector as http/ would hand it over, without its header number `left_out` (-1: with all). */
static inline struct request request_of(struct arena *arena, const struct vector *vector,
                                        int left_out)
{
    struct http_header *headers = arena_array(arena, TEST_HEADERS_MAX, sizeof *headers);
    struct request request = {
        .method_text = bytes_from_string(vector->method),
        .path = bytes_from_string(vector->path),
        .query = bytes_from_string(vector->query),
        .headers = headers,
    };

    for (int i = 0; i < TEST_HEADERS_MAX && vector->headers[i].name; i++) {
        if (i != left_out)
            headers[request.header_count++] = (struct http_header){
                .name = bytes_from_string(vector->headers[i].name),
                .value = bytes_from_string(vector->headers[i].value),
            };
    }
    return request;
}

static inline struct auth_target target_of(const struct accounts *accounts,
                                           const struct vector *vector)
{
    const struct account *account = accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT));

    assert_non_null(account);
    return (struct auth_target){
        .account = account,
        .name = account_name(account),
        .path = bytes_from_string(vector->path),
        .secondary = vector->secondary,
        .service = vector->table ? 't' : 'b',
    };
}

#endif
