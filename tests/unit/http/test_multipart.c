/* multipart/mixed: boundaries, parts, the requests in them, and answers. http/multipart.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "http/multipart.h"

#define PART "Content-Type: application/http\r\nContent-ID: 7\r\n\r\n"

static int set_up(void **state)
{
    *state = arena_new((size_t)64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static void assert_bytes(struct bytes got, const char *wanted)
{
    assert_true(bytes_is(got, wanted));
}

/* ---- the boundary ---- */

/* rfc: 2046 5.1.1; Azure/Azurite issue 2413: '=' without quotes */
static void test_type(void **state)
{
    static const struct {
        const char *text;
        enum multipart_type type;
        const char *boundary;
    } cases[] = {
        { "multipart/mixed; boundary=batch_a", MULTIPART_TYPE_OK, "batch_a" },
        { "Multipart/MIXED ;BOUNDARY = x", MULTIPART_TYPE_OK, "x" },
        { "multipart/mixed;charset=utf-8;boundary=\"x y\"", MULTIPART_TYPE_OTHER, NULL },
        { "multipart/mixed; boundary=\"x:y\"", MULTIPART_TYPE_OK, "x:y" },
        { "multipart/mixed; boundary================1==", MULTIPART_TYPE_OK, "===============1==" },
        { "multipart/mixed; boundary=a; boundary=a", MULTIPART_TYPE_AMBIGUOUS, NULL },
        { "multipart/mixed; boundary=", MULTIPART_TYPE_OTHER, NULL },
        { "multipart/mixed; boundary", MULTIPART_TYPE_OTHER, NULL },
        { "multipart/mixed; boundary=\"", MULTIPART_TYPE_OTHER, NULL },
        { "multipart/mixed", MULTIPART_TYPE_OTHER, NULL },
        { "multipart/mixedx; boundary=a", MULTIPART_TYPE_OTHER, NULL },
        { "application/http; boundary=a", MULTIPART_TYPE_OTHER, NULL },
        { "", MULTIPART_TYPE_OTHER, NULL },
    };
    char longest[128] = "multipart/mixed; boundary=";
    size_t at = strlen(longest);
    struct bytes boundary;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(multipart_type(bytes_from_string(cases[i].text), &boundary),
                         cases[i].type);
        if (cases[i].boundary)
            assert_bytes(boundary, cases[i].boundary);
    }
    memset(longest + at, 'b', MULTIPART_BOUNDARY_MAX + 1);
    assert_int_equal(multipart_type(bytes_of(longest, at + MULTIPART_BOUNDARY_MAX), &boundary),
                     MULTIPART_TYPE_OK);
    assert_int_equal(multipart_type(bytes_of(longest, at + MULTIPART_BOUNDARY_MAX + 1), &boundary),
                     MULTIPART_TYPE_OTHER);
}

/* ---- parts ---- */

/* Reads a body with the boundary "b" to its end: the contents in brackets, ids before them; '!'
 * where it is malformed. */
static const char *read_by(enum multipart_rules rules, struct arena *arena, const char *body)
{
    struct multipart reader;
    struct multipart_part part;
    enum multipart_step step;
    struct text out;

    text_init(&out, arena, 64);
    multipart_begin(&reader, arena, rules, bytes_from_string("b"), bytes_from_string(body));
    while ((step = multipart_next(&reader, arena, &part)) == MULTIPART_PART)
        text_printf(&out, "%.*s[%.*s]", BYTES_ARG(part.id), BYTES_ARG(part.content));
    if (step == MULTIPART_MALFORMED)
        text_add_char(&out, '!');
    return arena_string(arena, text_bytes(&out));
}

static const char *read_all(struct arena *arena, const char *body)
{
    return read_by(MULTIPART_STRICT, arena, body);
}

/* rfc: 2046 5.1.1; pgbackrest pull 2786: nothing before the first boundary */
static void test_parts(void **state)
{
    struct arena *arena = *state;
    static const struct {
        const char *body, *read;
    } cases[] = {
        { "--b--", "" },
        { "--b--\r\n", "" },
        { "--b-- \t\r\n\r\n", "" },
        { "--b\r\n" PART "x\r\n--b--", "7[x]" },
        { "--b \t\r\n" PART "x\r\n--b--\r\n", "7[x]" },
        { "--b\r\n" PART "x\r\n--b\r\nA: 1\r\n\r\ny\r\n\r\n--b--\r\n", "7[x][y\r\n]" },
        { "--b\r\n" PART "\r\n--b--", "7[]" },
        { "--b\r\n\r\nx\r\n--b--", "[x]" },                    /* no headers */
        { "--b\r\n" PART "\r\n--bc\r\n--b--", "7[\r\n--bc]" }, /* a longer word */
        { "--b\r\n" PART "x--b--\r\n--b--", "7[x--b--]" },     /* not at the begin of a line */
        { "", "!" },
        { "\r\n--b--", "!" },
        { "preamble\r\n--b--", "!" },
        { "--b--x", "!" },
        { "--b--\r\n--b--", "!" },
        { "--bx\r\n" PART "x\r\n--b--", "!" },
        { "--b\r\n" PART "x", "!" },
        { "--b\r\n" PART "x\r\n--b", "!" },
        { "--b\r\n" PART "x\r\n--b-", "!" },
        { "--b\n" PART "x\r\n--b--", "!" },
        { "--b\r\n" PART "x\n--b--", "!" },
        { "--b\r\nContent-ID: 1\r\n--b--", "!" }, /* the empty line is missing */
        { "--b\r\n--b--", "!" },
        { "--b\r\nno colon\r\n\r\nx\r\n--b--", "!" },
        { "--b\r\nA: 1\r\n folded\r\n\r\nx\r\n--b--", "!" },
        { "--b\r\nA : 1\r\n\r\nx\r\n--b--", "!" },
        { "--b\r\nA: 1\x01\r\n\r\nx\r\n--b--", "!" },
        { "--b\r\nContent-ID: 1\r\nContent-ID: 2\r\n\r\nx\r\n--b--", "!" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(read_all(arena, cases[i].body), cases[i].read);
}

/* Lines end as each likes; what is in a content stays as it is. decision: 260 */
static void test_line_ends(void **state)
{
    struct arena *arena = *state;
    static const struct {
        const char *body, *read;
    } cases[] = {
        { "--b--\n", "" },
        { "--b\nContent-ID: 7\n\nx\n--b--", "7[x]" },
        { "--b \t\nContent-ID: 7\n\nx\n--b\nA: 1\n\ny\n\n--b--\n", "7[x][y\n]" },
        { "--b\r\n" PART "x\r\n--b--\r\n", "7[x]" },
        { "--b\r\nContent-ID: 7\n\r\nx\n--b\nA: 1\r\n\ny\r\n--b--", "7[x][y]" },
        { "--b\n" PART "{\n \r\n}\r\n\n--b--", "7[{\n \r\n}\r\n]" },
        { "--b\n" PART "x\r\r\n--b--", "7[x\r]" },
        { "--b\n\n\n--b--", "[]" },
        { "--b\n\nx--b--\n-b\n --b\n--bc\n--b-\n--b--", "[x--b--\n-b\n --b\n--bc\n--b-]" },
        { "--b\n\nx\r--b--\n--b--", "[x\r--b--]" }, /* a CR alone ends no line */
        { "\n--b--", "!" },
        { "--b\r" PART "x\n--b--", "!" },
        { "--b\nA: 1\rB: 2\n\nx\n--b--", "!" },
        { "--b\nContent-ID: 1\n--b--", "!" },
        { "--b\n--b--", "!" },
        { "--b\n\nx", "!" },
        { "--b\n\nx\n--b", "!" },
        { "--b\n\nx\n--b\n", "[x]!" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(read_by(MULTIPART_LENIENT, arena, cases[i].body), cases[i].read);
    assert_bytes(multipart_skip_lines(MULTIPART_LENIENT, bytes_from_string("\n\r\n\n\rx")), "\rx");
    assert_bytes(multipart_skip_lines(MULTIPART_STRICT, bytes_from_string("\r\n\nx")), "\nx");
    assert_bytes(multipart_skip_lines(MULTIPART_LENIENT, bytes_from_string("\n")), "");
}

/* A part may be multipart itself: a changeset. rest: Performing-Entity-Group-Transactions */
static void test_nested(void **state)
{
    struct arena *arena = *state;
    struct multipart outer, inner;
    struct multipart_part part;
    struct bytes boundary;

    multipart_begin(&outer, arena, MULTIPART_STRICT, bytes_from_string("o"),
                    bytes_from_string("--o\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n"
                                      "--i\r\n" PART "x\r\n--i--\r\n\r\n--o--"));
    assert_int_equal(multipart_next(&outer, arena, &part), MULTIPART_PART);
    assert_int_equal(multipart_type(part.content_type, &boundary), MULTIPART_TYPE_OK);
    multipart_begin(&inner, arena, MULTIPART_STRICT, boundary, part.content);
    assert_int_equal(multipart_next(&inner, arena, &part), MULTIPART_PART);
    assert_bytes(part.content, "x");
    assert_int_equal(multipart_next(&inner, arena, &part), MULTIPART_END);
    assert_int_equal(multipart_next(&outer, arena, &part), MULTIPART_END);
}

static void test_part_limits(void **state)
{
    struct arena *arena = *state;
    struct bytes id, headers;
    struct text text;

    for (int over = 0; over <= 1; over++) {
        text_init(&text, arena, 0);
        for (size_t i = 0; i < (size_t)MULTIPART_ID_MAX + (size_t)over; i++)
            text_add_char(&text, 'i');
        id = text_bytes(&text);
        text_init(&text, arena, 0);
        for (unsigned i = 0; i < MULTIPART_HEADER_COUNT_MAX + (unsigned)over; i++)
            text_printf(&text, "h%u: 1\r\n", i);
        headers = text_bytes(&text);
        assert_int_equal(
            read_all(
                arena,
                arena_string(arena, arena_printf(arena, "--b\r\nContent-ID: %.*s\r\n\r\n\r\n--b--",
                                                 BYTES_ARG(id))))[0],
            over ? '!' : 'i');
        assert_int_equal(
            read_all(arena, arena_string(arena, arena_printf(arena, "--b\r\n%.*s\r\n\r\n--b--",
                                                             BYTES_ARG(headers))))[0],
            over ? '!' : '[');
    }
}

/* ---- requests ---- */

static bool read_request(struct arena *arena, const char *content, struct request *request,
                         struct bytes *body)
{
    return multipart_request(arena, bytes_from_string(content), MULTIPART_STRICT, request, body);
}

static void test_request(void **state)
{
    struct arena *arena = *state;
    struct request request;
    struct bytes body;

    assert_true(read_request(
        arena, "DELETE /c/b%20?a=1&b HTTP/1.1\r\nX-Ms-Date:  now \r\nContent-Length: 3\r\n\r\nabc",
        &request, &body));
    assert_int_equal(request.method, METHOD_DELETE);
    assert_bytes(request.method_text, "DELETE");
    assert_bytes(request.path, "/c/b%20");
    assert_bytes(request.query, "a=1&b");
    assert_int_equal(request.header_count, 2);
    assert_bytes(request_header(&request, "x-ms-date"), "now");
    assert_bytes(request.headers[0].name_as_sent, "X-Ms-Date");
    assert_int_equal(request.content_length, 3);
    assert_bytes(body, "abc");
    /* The boundary's line end is also that of the last header: JavaScript, .NET. */
    assert_true(read_request(arena, "PUT c/b HTTP/1.1\r\nA: 1", &request, &body));
    assert_bytes(request.path, "/c/b");
    assert_null(request.query.ptr);
    assert_int_equal(request.content_length, 0);
    assert_int_equal(body.len, 0);
    assert_true(read_request(arena, "FIND /c? HTTP/1.0", &request, &body));
    assert_int_equal(request.method, METHOD_OTHER);
    assert_int_equal(request.query.len, 0);
    assert_non_null(request.query.ptr);
    /* A colon may be in a name. */
    assert_true(read_request(arena, "DELETE c/a://b HTTP/1.1", &request, &body));
}

/* As npm's azure-storage and Debian's azure-cosmosdb-table write them. decision: 260 */
static void test_request_lenient(void **state)
{
    struct request request;
    struct bytes body;

    assert_true(multipart_request(
        *state,
        bytes_from_string("POST http://h:1/a/T?x=1 HTTP/1.1\naccept: json\r\nb: 2\n\n{\n\r\n}\n"),
        MULTIPART_LENIENT, &request, &body));
    assert_bytes(request.path, "/a/T");
    assert_bytes(request.query, "x=1");
    assert_int_equal(request.header_count, 2);
    assert_bytes(request_header(&request, "accept"), "json");
    assert_bytes(request_header(&request, "b"), "2");
    assert_bytes(body, "{\n\r\n}\n");
    assert_false(multipart_request(*state, bytes_from_string("POST /T HTTP/1.1\rA: 1"),
                                   MULTIPART_LENIENT, &request, &body));
    assert_false(multipart_request(*state, bytes_from_string("POST /T HTTP/1.1\nA: 1\rB: 2"),
                                   MULTIPART_LENIENT, &request, &body));
}

static void test_request_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "\r\n",
        "DELETE",
        "DELETE /c/b",
        "DELETE  HTTP/1.1",
        " /c/b HTTP/1.1",
        "DELETE /c/b HTTP/2",
        "DELETE /c/b HTTP/1.1 ",
        "DELETE /c/b c HTTP/1.1",
        "DELETE /c/b#c HTTP/1.1",
        "DELETE /c/b?d#c HTTP/1.1",
        "DELETE /c/\tb HTTP/1.1",
        "DELETE /c/b HTTP/1.1\n",
        "DELETE http://host/c/b HTTP/1.1",
        "DELETE /c/b HTTP/1.1\r\nno colon",
        "DELETE /c/b HTTP/1.1\r\n: 1",
        "DELETE /c/b HTTP/1.1\r\nA: 1\nB: 2",
        "DELETE /c/b HTTP/1.1\r\nContent-Length: -1",
        "DELETE /c/b HTTP/1.1\r\nTransfer-Encoding: chunked",
    };
    struct request request;
    struct bytes body;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(read_request(*state, texts[i], &request, &body));
    assert_false(multipart_request(*state, bytes_of("GET /\0 HTTP/1.1", 15), MULTIPART_STRICT,
                                   &request, &body));
}

static void test_request_limits(void **state)
{
    struct arena *arena = *state;
    struct request request;
    struct bytes body;

    for (unsigned over = 0; over <= 1; over++) {
        struct text target, lines;

        text_init(&target, arena, 0);
        for (unsigned i = 0; i < MULTIPART_TARGET_MAX + over; i++)
            text_add_char(&target, '/');
        assert_int_equal(multipart_request(arena,
                                           arena_printf(arena, "GET %.*s HTTP/1.1",
                                                        BYTES_ARG(text_bytes(&target))),
                                           MULTIPART_STRICT, &request, &body),
                         !over);
        text_init(&lines, arena, 0);
        text_add_string(&lines, "GET / HTTP/1.1");
        for (unsigned i = 0; i < MULTIPART_HEADER_COUNT_MAX + over; i++)
            text_printf(&lines, "\r\nh%u: 1", i);
        assert_int_equal(
            multipart_request(arena, text_bytes(&lines), MULTIPART_STRICT, &request, &body), !over);
        text_init(&lines, arena, 0);
        text_add_string(&lines, "GET / HTTP/1.1\r\na:");
        for (unsigned i = 2; i < MULTIPART_HEADERS_MAX + over; i++)
            text_add_char(&lines, 'x');
        assert_int_equal(
            multipart_request(arena, text_bytes(&lines), MULTIPART_STRICT, &request, &body), !over);
    }
}

/* ---- answers ---- */

/* recorded: BlobBatchClientTest.submitdeletebatch, .exceptions */
static void test_answers(void **state)
{
    struct arena *arena = *state;
    struct bytes boundary = BYTES("batchresponse_1");
    struct response response;
    struct text out;

    text_init(&out, arena, 0);
    response_init(&response, arena);
    response.status = 202;
    response_header_string(&response, "x-ms-version", "2020-10-02");
    multipart_add(&out, boundary, bytes_from_string("0"), &response, http_reason(202));
    response_init(&response, arena);
    response.status = 404;
    response_header_string(&response, "Content-Type", "application/xml");
    response.body_kind = BODY_BYTES;
    response.body = bytes_from_string("<Error/>");
    multipart_add(&out, boundary, bytes_of(NULL, 0), &response, bytes_from_string("No such blob."));
    multipart_close(&out, boundary);
    assert_bytes(
        text_bytes(&out),
        "--batchresponse_1\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\n"
        "HTTP/1.1 202 Accepted\r\nx-ms-version: 2020-10-02\r\n\r\n"
        "--batchresponse_1\r\nContent-Type: application/http\r\n\r\n"
        "HTTP/1.1 404 No such blob.\r\nContent-Length: 8\r\nContent-Type: application/xml\r\n"
        "\r\n<Error/>\r\n--batchresponse_1--");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type),           cmocka_unit_test(test_parts),
        cmocka_unit_test(test_line_ends),      cmocka_unit_test(test_request_lenient),
        cmocka_unit_test(test_nested),         cmocka_unit_test(test_part_limits),
        cmocka_unit_test(test_request),        cmocka_unit_test(test_request_refused),
        cmocka_unit_test(test_request_limits), cmocka_unit_test(test_answers),
    };
    struct CMUnitTest with_arena[sizeof tests / sizeof tests[0]];

    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        with_arena[i] = tests[i];
        with_arena[i].setup_func = set_up;
        with_arena[i].teardown_func = tear_down;
    }
    return cmocka_run_group_tests(with_arena, NULL, NULL);
}
