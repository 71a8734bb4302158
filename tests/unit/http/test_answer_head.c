/* Heads of answers as text. rfc: 9112 4, 9110 6.6.1, 8.6 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "http/answer_head.h"

static const struct date_text date = { .text = "Sun, 06 Nov 1994 08:49:37 GMT" };

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static void expect(const struct response *response, enum connection_header connection,
                   const char *text)
{
    char to[512];
    size_t size = answer_head_write(response, &date, connection, to, sizeof to);

    assert_int_equal(size, strlen(text));
    assert_memory_equal(to, text, size);
    assert_int_equal(answer_head_write(response, &date, connection, to, size), size);
    assert_int_equal(answer_head_write(response, &date, connection, to, size - 1), 0);
}

static void writes_heads(void **state)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct response response;

    (void)state;
    response_init(&response, arena);
    response.status = 200;
    response_header_string(&response, "a", "b");
    response_header_string(&response, "empty", "");
    response.body_kind = BODY_BYTES;
    response.body = (struct bytes)BYTES("hello");
    expect(&response, CONNECTION_NONE,
           "HTTP/1.1 200 OK\r\n" DATE "a: b\r\nempty: \r\nContent-Length: 5\r\n\r\n");
    expect(&response, CONNECTION_CLOSE,
           "HTTP/1.1 200 OK\r\n" DATE
           "Connection: close\r\na: b\r\nempty: \r\nContent-Length: 5\r\n\r\n");
    expect(&response, CONNECTION_KEEP_ALIVE,
           "HTTP/1.1 200 OK\r\n" DATE
           "Connection: Keep-Alive\r\na: b\r\nempty: \r\nContent-Length: 5\r\n\r\n");
    response_init(&response, arena);
    response.status = 206;
    response.body_kind = BODY_SOURCE;
    response.body_length = UINT64_MAX;
    expect(&response, CONNECTION_NONE,
           "HTTP/1.1 206 Partial Content\r\n" DATE "Content-Length: 18446744073709551615\r\n\r\n");
    arena_free(arena);
}

/* Neither body nor length. rfc: 9110 15.3.5, 15.4.5 */
static void writes_no_length(void **state)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct response response;

    (void)state;
    response_init(&response, arena);
    response.status = 204;
    expect(&response, CONNECTION_NONE, "HTTP/1.1 204 No Content\r\n" DATE "\r\n");
    response.status = 304;
    expect(&response, CONNECTION_NONE, "HTTP/1.1 304 Not Modified\r\n" DATE "\r\n");
    response.status = 201;
    expect(&response, CONNECTION_NONE, "HTTP/1.1 201 Created\r\n" DATE "Content-Length: 0\r\n\r\n");
    arena_free(arena);
}

/* A header does not become a second answer. */
static void refuses_control_characters(void **state)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct response response;
    char to[512];

    (void)state;
    response_init(&response, arena);
    response.status = 200;
    response_header_string(&response, "a", "b\r\nc: d");
    assert_int_equal(answer_head_write(&response, &date, CONNECTION_NONE, to, sizeof to), 0);
    arena_free(arena);
}

/* Wherever in a value they are, whatever its length, and not behind it. */
static void sees_each_control_character(void **state)
{
    (void)state;
    for (size_t len = 1; len <= 67; len++) {
        char *text = malloc(len); /* of that size: a sanitizer sees what is read behind it */

        for (size_t at = 0; at < len; at++)
            for (unsigned c = 0; c < 256; c++) {
                bool is_control = c < 0x20 || c == 0x7F;

                memset(text, 'a', len);
                text[at] = (char)c;
                assert_int_equal(http_has_control(bytes_of(text, len), ' '), is_control);
                assert_int_equal(http_has_control(bytes_of(text, len), '\t'),
                                 is_control && c != '\t');
                assert_false(http_has_control(bytes_of(text, at), '\t'));
            }
        free(text);
    }
    assert_false(http_has_control(bytes_of(NULL, 0), '\t'));
}

static void add_filled(struct response *response, const char *name, size_t size)
{
    char *value = arena_bytes(response->arena, size);

    memset(value, 'x', size);
    response_header(response, bytes_from_string(name), bytes_of(value, size));
}

/* What was stored can always be answered: without the headers that cannot be sent. decision: 241 */
static void drops_what_cannot_be_sent(void **state)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct arena *arena = arena_new((size_t)1 << 20);
    struct response response;
    char *to = malloc(ANSWER_HEAD_BYTES);
    size_t size;

    (void)state;
    response_init(&response, arena);
    response.status = 200;
    response_header_string(&response, "x", "\t\xe9");
    response_header_string(&response, "Content-Type", "text/\x01x");
    add_filled(&response, "long", 16 * 1024 + 1);
    response_header_string(&response, "etag", "\"1\"");
    response_header_string(&response, "y", "\x7f");
    assert_int_equal(answer_head_write(&response, &date, CONNECTION_NONE, to, ANSWER_HEAD_BYTES),
                     0);
    response_drop_unsendable(&response);
    expect(&response, CONNECTION_NONE,
           "HTTP/1.1 200 OK\r\n" DATE "x: \t\xe9\r\netag: \"1\"\r\nContent-Length: 0\r\n\r\n");
    for (size_t i = 0; i < 5; i++)
        add_filled(&response, names[i], 16 * 1024 - i);
    assert_int_equal(answer_head_write(&response, &date, CONNECTION_NONE, to, ANSWER_HEAD_BYTES),
                     0);
    response_drop_unsendable(&response);
    size = answer_head_write(&response, &date, CONNECTION_CLOSE, to, ANSWER_HEAD_BYTES);
    assert_true(size > 3 * 16 * 1024 && memmem(to, size, "etag", 4));
    assert_int_equal(response.header_count, 5); /* x, etag, and three of the five */
    assert_string_equal(response.headers[2].name.ptr, "c");
    free(to);
    arena_free(arena);
}

static void formats_a_date_once_a_second(void **state)
{
    struct date_text text = { .second = 0 };
    instant t = INSTANT_UNIX_EPOCH + 784111777ull * TICKS_PER_SECOND;

    (void)state;
    date_text_set(&text, t + 5);
    assert_string_equal(text.text, date.text);
    text.text[0] = 'x';
    date_text_set(&text, t + TICKS_PER_SECOND - 1);
    assert_int_equal(text.text[0], 'x');
    date_text_set(&text, t + TICKS_PER_SECOND);
    assert_string_equal(text.text, "Sun, 06 Nov 1994 08:49:38 GMT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_heads),
        cmocka_unit_test(writes_no_length),
        cmocka_unit_test(refuses_control_characters),
        cmocka_unit_test(sees_each_control_character),
        cmocka_unit_test(drops_what_cannot_be_sent),
        cmocka_unit_test(formats_a_date_once_a_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
