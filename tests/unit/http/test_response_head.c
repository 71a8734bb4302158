/* Heads of responses of other servers of ours: http/response_head.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/response_head.h"

static enum response_found read_text(struct arena *arena, const char *text,
                                     struct response_head *head, struct response *response)
{
    response_init(response, arena);
    return response_head_read(bytes_from_string(text), 0, response, head);
}

static void whole(void **state)
{
    static const char text[] =
        "HTTP/1.1 206 Partial Content\r\nDate: Sat, 28 Nov 2026 22:40:03 GMT\r\n"
        "ETag: \"0x1\"\r\nx-ms-meta-a: \tb \r\nConnection: close\r\n"
        "Content-Length: 12\r\n\r\nHTTP/1.1 body";
    struct arena *arena = arena_new(1 << 20);
    struct response_head head;
    struct response response;

    (void)state;
    assert_int_equal(read_text(arena, text, &head, &response), RESPONSE_WHOLE);
    assert_int_equal(head.size, strlen(text) - strlen("HTTP/1.1 body"));
    assert_int_equal(head.status, 206);
    assert_int_equal(response.status, 206);
    assert_int_equal(head.length, 12);
    assert_true(head.closes);
    assert_int_equal(response.header_count, 2);
    assert_true(bytes_is(response.headers[0].name, "ETag"));
    assert_true(bytes_is(response.headers[1].value, "b"));
    for (size_t length = 0; length < head.size; length++) {
        struct response part;
        struct response_head unused;

        response_init(&part, arena);
        assert_int_equal(
            response_head_read(bytes_of(text, length), length > 0 ? length - 1 : 0, &part, &unused),
            RESPONSE_PART);
    }
    /* It is found wherever the search was interrupted. */
    for (size_t searched = 0; searched < head.size; searched++) {
        response_init(&response, arena);
        assert_int_equal(response_head_read(bytes_from_string(text), searched, &response, &head),
                         RESPONSE_WHOLE);
    }
    assert_int_equal(read_text(arena, "HTTP/1.1 100 Continue\r\n\r\n", &head, &response),
                     RESPONSE_WHOLE);
    assert_int_equal(head.status, 100);
    arena_free(arena);
}

static void malformed(void **state)
{
    static const char *const texts[] = {
        "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 99 Odd\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 600 Odd\r\n\r\n",
        "HTTP/1.1 200\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n a: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nA: b\r\n\r\n",
    };
    struct arena *arena = arena_new(1 << 20);
    struct response_head head;
    struct response response;
    char *longest = malloc(RESPONSE_HEAD_MAX + 1);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(read_text(arena, texts[i], &head, &response), RESPONSE_MALFORMED);
    memset(longest, 'a', RESPONSE_HEAD_MAX);
    longest[RESPONSE_HEAD_MAX] = '\0';
    assert_int_equal(read_text(arena, longest, &head, &response), RESPONSE_MALFORMED);
    longest[RESPONSE_HEAD_MAX - 1] = '\0';
    assert_int_equal(read_text(arena, longest, &head, &response), RESPONSE_PART);
    free(longest);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(whole), cmocka_unit_test(malformed) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
