/* Heads of requests as text: where they end however they come in, what their lines say, what is
 * refused, and what their headers mean for the server. rfc: 9112 2, 3, 5, 6; decision: 49 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "http/head.h"
#include "http/request.h"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new((size_t)1 << 24);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* Reads a complete head; returns the refusal, of whichever reader. */
static int read_text(struct bytes text, struct request *request, struct request_asks *asks)
{
    struct head_scan scan = { .begin = 0 };
    unsigned minor = 9;
    int refusal;

    *request = (struct request){ .method_text = { NULL, 0 } };
    assert_int_equal(head_find(&scan, text), HEAD_WHOLE);
    assert_int_equal(scan.end, text.len);
    refusal = head_read(arena, bytes_from(text, scan.begin), scan.lines, request, &minor);
    return refusal != 0 ? refusal : request_read(request, minor, asks);
}

/* With a NUL behind it. */
static __attribute__((format(printf, 1, 2))) const char *printed(const char *format, ...)
{
    char *text = arena_bytes(arena, 512);
    va_list args;

    va_start(args, format);
    assert_in_range(vsnprintf(text, 512, format, args), 0, 511);
    va_end(args);
    return text;
}

static int refusal_of(const char *text)
{
    struct request request;
    struct request_asks asks;

    return read_text(bytes_from_string(text), &request, &asks);
}

/* ---- where a head ends ---- */

static void finds_the_end_however_it_comes(void **state)
{
    static const char text[] = "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\na: b\r\n\r\nrest";
    size_t end = sizeof text - 1 - 4;

    (void)state;
    for (size_t first = 0; first < sizeof text - 1; first++) {
        struct head_scan scan = { .begin = 0 };
        enum head_found found = head_find(&scan, bytes_of(text, first));

        assert_int_equal(found, first < end ? HEAD_PART : HEAD_WHOLE);
        if (found == HEAD_PART)
            found = head_find(&scan, bytes_of(text, sizeof text - 1));
        assert_int_equal(found, HEAD_WHOLE);
        assert_int_equal(scan.begin, 4);
        assert_int_equal(scan.end, end);
        assert_int_equal(scan.lines, 3);
    }
}

/* Empty lines before the request line may be dropped before the rest is there. */
static void forgets_empty_lines(void **state)
{
    struct head_scan scan = { .begin = 0 };

    (void)state;
    assert_int_equal(head_find(&scan, (struct bytes)BYTES("\r\n\r\nGET")), HEAD_PART);
    assert_int_equal(scan.begin, 4);
    head_forget(&scan, 4);
    assert_int_equal(head_find(&scan, (struct bytes)BYTES("GET / HTTP/1.1\r\n\r\n")), HEAD_WHOLE);
    assert_int_equal(scan.begin, 0);
    assert_int_equal(scan.end, 18);
}

/* A line ends with CR LF, also before more of it is there. rfc: 9112 2.2 */
static void refuses_bare_line_feeds(void **state)
{
    static const char *const heads[] = { "\n", "GET / HTTP/1.1\n", "a\r\nb\n", "a\r\n\n",
                                         "a\r\nb\r\n\n" };

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct head_scan scan = { .begin = 0 };

        assert_int_equal(head_find(&scan, bytes_from_string(heads[i])), HEAD_MALFORMED);
    }
}

/* ---- request lines ---- */

#define HEADERS "\r\nHost: x\r\n\r\n"

static void reads_targets(void **state)
{
    static const struct {
        const char *text;
        const char *path;
        const char *query;
    } rows[] = {
        { "GET / HTTP/1.1" HEADERS, "/", NULL },
        { "GET /a%2F//b/.. HTTP/1.1" HEADERS, "/a%2F//b/..", NULL },
        { "GET /a? HTTP/1.1" HEADERS, "/a", "" },
        { "GET /a?b=c?d HTTP/1.0" HEADERS, "/a", "b=c?d" },
        { "GET http://h/a?b HTTP/1.1" HEADERS, "/a", "b" },
        { "GET HTTPS://h:1/ HTTP/1.1" HEADERS, "/", NULL },
        { "GET http://h HTTP/1.1" HEADERS, "/", NULL },
        { "GET http://h? HTTP/1.1" HEADERS, "/", "" },
        { "GET http://h?x=/account/c/b HTTP/1.1" HEADERS, "/", "x=/account/c/b" },
        { "GET http://h:1?x=//y@z HTTP/1.1" HEADERS, "/", "x=//y@z" },
        { "GET http://h/?x HTTP/1.1" HEADERS, "/", "x" },
        { "GET http://h//a@b:c HTTP/1.1" HEADERS, "//a@b:c", NULL },
        { "GET http://[::1]:80/a HTTP/1.1" HEADERS, "/a", NULL },
        { "GET //h/a HTTP/1.1" HEADERS, "//h/a", NULL },
        { "GET /\xC3\xA4\xFF HTTP/1.1" HEADERS, "/\xC3\xA4\xFF", NULL },
    };
    struct request request;
    struct request_asks asks;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(read_text(bytes_from_string(rows[i].text), &request, &asks), 0);
        assert_true(bytes_is(request.path, rows[i].path));
        assert_int_equal(!request.query.ptr, !rows[i].query);
        assert_true(!rows[i].query || bytes_is(request.query, rows[i].query));
        assert_int_equal(request.method, METHOD_GET);
    }
}

static void refuses_request_lines(void **state)
{
    static const struct {
        const char *line;
        int status;
    } rows[] = {
        { "GET", 400 },
        { "GET ", 400 },
        { "GET /", 400 },
        { " / HTTP/1.1", 400 },
        { "G@T / HTTP/1.1", 400 },
        { "GET  HTTP/1.1", 400 },
        { "GET  / HTTP/1.1", 400 },
        { "GET /  HTTP/1.1", 400 },
        { "GET / HTTP/1.1 ", 400 },
        { "GET /a b HTTP/1.1", 400 },
        { "GET /a\tb HTTP/1.1", 400 },
        { "GET /a\rb HTTP/1.1", 400 },
        { "GET /a\x7f HTTP/1.1", 400 },
        { "GET a HTTP/1.1", 400 },
        { "GET * HTTP/1.1", 400 },
        { "GET http:/a HTTP/1.1", 400 },
        { "GET http:// HTTP/1.1", 400 },
        { "GET http:///a HTTP/1.1", 400 },
        { "GET http://?a HTTP/1.1", 400 },
        { "GET http://:80/a HTTP/1.1", 400 },
        { "GET http://user@a/b HTTP/1.1", 400 },
        { "GET http://user:secret@a/b HTTP/1.1", 400 },
        { "GET http://a:b/c HTTP/1.1", 400 },
        { "GET http://[::1/a HTTP/1.1", 400 },
        { "GET http://[a]/b HTTP/1.1", 400 },
        { "GET http://a\\b/c HTTP/1.1", 400 },
        { "GET http://a#/account/c/b HTTP/1.1", 400 },
        { "GET http://a?x#/account/c/b HTTP/1.1", 400 },
        { "GET http://a/b#c HTTP/1.1", 400 },
        { "GET /a#b HTTP/1.1", 400 },
        { "GET /a?b#c HTTP/1.1", 400 },
        { "GET #/a HTTP/1.1", 400 },
        { "GET http:a/b HTTP/1.1", 400 },
        { "GET http HTTP/1.1", 400 },
        { "GET ftp://a/b HTTP/1.1", 400 },
        { "GET :///b HTTP/1.1", 400 },
        { "GET / HTTP", 400 },
        { "GET / http/1.1", 400 },
        { "GET / HTTP/1.10", 400 },
        { "GET / HTTP/11", 400 },
        { "GET / HTTP/1,1", 400 },
        { "GET / HTTP/x.1", 400 },
        { "GET / HTTP/0.9", 505 },
        { "GET / HTTP/1.2", 505 },
        { "PRI * HTTP/2.0", 505 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text text;

        text_init(&text, arena, 64);
        text_printf(&text, "%s" HEADERS "%c", rows[i].line, '\0');
        if (refusal_of(text.ptr) != rows[i].status)
            fail_msg("%s: %d", rows[i].line, refusal_of(text.ptr));
    }
}

/* Which host counts: the target's, where it names one. rfc: 9112 3.2.2 */
static void reads_authorities(void **state)
{
    static const struct {
        const char *text;
        const char *authority;
    } rows[] = {
        { "GET / HTTP/1.1\r\nHost: a.blob.localhost:10000\r\n\r\n", "a.blob.localhost:10000" },
        { "GET http://b:1/ HTTP/1.1\r\nHost: a\r\n\r\n", "b:1" },
        { "GET http://b?c HTTP/1.1\r\nHost: a\r\n\r\n", "b" },
        { "GET http://b HTTP/1.1\r\nHost:\r\n\r\n", "b" },
        { "GET http://b/ HTTP/1.0\r\n\r\n", "b" },
        { "GET / HTTP/1.1\r\nHost: \t\r\n\r\n", "" },
        { "GET / HTTP/1.0\r\n\r\n", NULL },
    };
    struct request request;
    struct request_asks asks;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(read_text(bytes_from_string(rows[i].text), &request, &asks), 0);
        assert_int_equal(!request.authority.ptr, !rows[i].authority);
        assert_true(!rows[i].authority || bytes_is(request.authority, rows[i].authority));
    }
}

/* rfc: 9112 3.2; 3986 3.2.2, 3.2.3; decision: 270 */
static const char *const valid_hosts[] = {
    "",
    "x",
    "X-1_y.z~",
    "localhost:10000",
    "x:",
    "x:0010000",
    "127.0.0.1",
    "1.2.3.4.5:6",
    "a%2Fb",
    "a!$&'()*+,;=b",
    "[::]",
    "[::1]:1",
    "[FE80::1:2]",
    "[::ffff:1.2.3.4]",
    "[v1.a:b]:2",
    "[vF.1]",
};
static const char *const invalid_hosts[] = {
    ":",
    ":80",
    "a b",
    "a\tb",
    "a/b",
    "a?b",
    "a#b",
    "a@b",
    "u:p@b",
    "a:b",
    "a:1:2",
    "a:-1",
    "a:1 ",
    "\xC3\xA4",
    "a\"b",
    "<a>",
    "a\\b",
    "a^b",
    "a`b",
    "a{b}",
    "a|b",
    "a%",
    "a%2",
    "a%2g",
    "a%g2",
    "::1",
    "[",
    "[]",
    "[::1",
    "[::1]a",
    "[::1]1",
    "[::1]]",
    "[1.2.3.4]",
    "[::1%25eth0]",
    "[::g]",
    "[:::]",
    "[v.a]",
    "[v1.]",
    "[vg.a]",
    "[v1]",
    "[v1.a b]",
    "a[::1]",
    "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]",
};

static void takes_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof valid_hosts / sizeof valid_hosts[0]; i++) {
        if (refusal_of(printed("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", valid_hosts[i])) != 0)
            fail_msg("%s is refused", valid_hosts[i]);
    }
}

/* In each place where a host stands, and where another names the host that counts. */
static void refuses_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid_hosts / sizeof invalid_hosts[0]; i++) {
        const char *host = invalid_hosts[i];
        bool is_trimmed = host[strlen(host) - 1] == ' ';
        bool ends_early = strpbrk(host, "/?");

        if (!is_trimmed && refusal_of(printed("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)) != 400)
            fail_msg("Host: %s", host);
        if (!is_trimmed &&
            refusal_of(printed("GET http://x/ HTTP/1.1\r\nHost: %s\r\n\r\n", host)) != 400)
            fail_msg("http://x/ with Host: %s", host);
        if (refusal_of(printed("GET / HTTP/1.0\r\nHost: x%s@\r\n\r\n", host)) != 400)
            fail_msg("HTTP/1.0 with Host: x%s@", host);
        if (!ends_early &&
            refusal_of(printed("GET http://%s/ HTTP/1.1\r\nHost: x\r\n\r\n", host)) != 400)
            fail_msg("http://%s/", host);
    }
}

/* A NUL ends nothing. */
static void refuses_nul(void **state)
{
    static const char target[] = "GET /a\0b HTTP/1.1" HEADERS;
    static const char value[] = "GET / HTTP/1.1\r\nHost: x\r\na: b\0c\r\n\r\n";
    static const char name[] = "GET / HTTP/1.1\r\nHost: x\r\na\0b: c\r\n\r\n";
    struct request request;
    struct request_asks asks;

    (void)state;
    assert_int_equal(read_text(bytes_of(target, sizeof target - 1), &request, &asks), 400);
    assert_int_equal(read_text(bytes_of(value, sizeof value - 1), &request, &asks), 400);
    assert_int_equal(read_text(bytes_of(name, sizeof name - 1), &request, &asks), 400);
}

/* ---- headers ---- */

static void reads_header_lines(void **state)
{
    struct request request;
    struct request_asks asks;
    struct bytes text = BYTES("GET / HTTP/1.1\r\nHost:\t x \t\r\nX-Ms-Meta-A:b  c\r\nempty:\r\n"
                              "blank: \t \r\nx-ms-meta-a: 2\r\n\r\n");

    (void)state;
    assert_int_equal(read_text(text, &request, &asks), 0);
    assert_int_equal(request.header_count, 5);
    assert_true(bytes_is(request_header(&request, "host"), "x"));
    assert_true(bytes_is(request.headers[1].name, "x-ms-meta-a"));
    assert_true(bytes_is(request.headers[1].name_as_sent, "X-Ms-Meta-A"));
    assert_true(bytes_is(request_header(&request, "x-ms-meta-a"), "b  c"));
    assert_non_null(request_header(&request, "empty").ptr);
    assert_int_equal(request_header(&request, "empty").len, 0);
    assert_int_equal(request_header(&request, "blank").len, 0);
    assert_null(request_header(&request, "absent").ptr);
}

static int refusal_with(const char *headers)
{
    struct text text;

    text_init(&text, arena, 64);
    text_printf(&text, "PUT / HTTP/1.1\r\nHost: x\r\n%s\r\n%c", headers, '\0');
    return refusal_of(text.ptr);
}

static void refuses_header_lines(void **state)
{
    static const char *const rows[] = {
        "nonsense\r\n", ": a\r\n",     "a b: c\r\n",     "a : b\r\n",    "a\t: b\r\n",
        "a@b: c\r\n",   "\xe4: c\r\n", "a: b\r\n c\r\n", "a: b\x01\r\n", "a: b\r\n\tc: d\r\n",
        "a: b\rc\r\n",  "a: \x7f\r\n", "a: b\r\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (refusal_with(rows[i]) != 400)
            fail_msg("%s: %d", rows[i], refusal_with(rows[i]));
    }
}

/* So many headers, and so many bytes of them, and no more. */
static void limits_headers(void **state)
{
    char *headers = arena_bytes(arena, 20000);
    size_t most = HEAD_HEADERS_SIZE_MAX - strlen("Host: x\r\na: \r\n\r\n");

    (void)state;
    headers[0] = '\0';
    for (size_t i = 0; i < HEAD_HEADERS_MAX - 1; i++)
        memcpy(headers + 6 * i, "a: b\r\n", 7);
    assert_int_equal(refusal_with(headers), 0);
    memcpy(headers + 6 * (HEAD_HEADERS_MAX - 1), "a: b\r\n", 7);
    assert_int_equal(refusal_with(headers), 431);

    memcpy(headers, "a: ", 3);
    memset(headers + 3, 'x', most);
    memcpy(headers + 3 + most, "\r\n", 3);
    assert_int_equal(refusal_with(headers), 0);
    memcpy(headers + 3 + most, "x\r\n", 4);
    assert_int_equal(refusal_with(headers), 431);
}

/* ---- what they mean ---- */

static void reads_framing(void **state)
{
    static const struct {
        const char *headers;
        int status;
    } rows[] = {
        { "Content-Length: 5\r\n", 0 },
        { "Content-Length: 0005\r\n", 0 },
        { "Content-Length: 9223372036854775807\r\n", 0 },
        { "Content-Length: 9223372036854775808\r\n", 400 },
        { "Content-Length: 99999999999999999999\r\n", 413 },
        { "Content-Length:\r\n", 400 },
        { "Content-Length: -1\r\n", 400 },
        { "Content-Length: +5\r\n", 400 },
        { "Content-Length: 5 5\r\n", 400 },
        { "Content-Length: 5, 5\r\n", 400 },
        { "Content-Length: 5\r\nContent-Length: 5\r\n", 400 },
        { "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400 },
        { "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400 },
        { "Transfer-Encoding: \tChunked\r\n", 0 },
        { "Transfer-Encoding: chunked \r\n", 400 },
        { "Transfer-Encoding: gzip\r\n", 501 },
        { "Transfer-Encoding: gzip, chunked\r\n", 501 },
        { "Transfer-Encoding:\r\n", 501 },
        { "Host: y\r\n", 400 },
        { "Host: x\r\n", 400 },
        { "Expect: 100-Continue\r\n", 0 },
        { "Expect: more\r\n", 417 },
        { "Expect: 100-continue\r\nExpect: 100-continue\r\n", 0 },
        { "Expect: 100-continue\r\nExpect: more\r\n", 417 },
        { "Expect: more\r\nExpect: 100-continue\r\n", 417 },
        { "Expect: 100-continue, more\r\n", 417 },
        { "Expect: more,100-continue\r\n", 417 },
        { "Expect: ,100-continue,, 100-continue,\r\n", 0 },
        { "Expect: 100-continue;a=b\r\n", 417 },
        { "Expect: more=\"a, 100-continue\"\r\n", 417 },
        { "Expect:\r\n", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (refusal_with(rows[i].headers) != rows[i].status)
            fail_msg("%s: %d", rows[i].headers, refusal_with(rows[i].headers));
    }
    assert_int_equal(refusal_of("GET / HTTP/1.1\r\n\r\n"), 400);
    assert_int_equal(refusal_of("GET / HTTP/1.0\r\n\r\n"), 0);
    assert_int_equal(refusal_of("PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

static void reads_what_is_asked(void **state)
{
    static const struct {
        const char *text;
        struct request_asks asks;
    } rows[] = {
        { "GET / HTTP/1.1\r\nHost: x\r\n\r\n", { .closes = false } },
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: a,\t Close\r\n\r\n", { .closes = true } },
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: closed\r\n\r\n", { .closes = false } },
        { "GET / HTTP/1.1\r\nHost: x\r\nConnection: a\r\nConnection: close\r\n\r\n",
          { .closes = true } },
        { "GET / HTTP/1.0\r\n\r\n", { .closes = true } },
        { "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", { .keeps_1_0 = true } },
        { "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", { .closes = true } },
        { "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n",
          { .expects = true } },
        { "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
          { .expects = false } },
        { "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect:\r\n\r\n",
          { .expects = false } },
        { "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: ,\r\nExpect: "
          "100-continue\r\n\r\n",
          { .expects = true } },
        { "PUT / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n",
          { .closes = true } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request;
        struct request_asks asks = { .closes = false };

        assert_int_equal(read_text(bytes_from_string(rows[i].text), &request, &asks), 0);
        if (memcmp(&asks, &rows[i].asks, sizeof asks) != 0)
            fail_msg("%s: %d %d %d", rows[i].text, asks.expects, asks.closes, asks.keeps_1_0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_end_however_it_comes),
        cmocka_unit_test(forgets_empty_lines),
        cmocka_unit_test(refuses_bare_line_feeds),
        cmocka_unit_test(reads_targets),
        cmocka_unit_test(refuses_request_lines),
        cmocka_unit_test(reads_authorities),
        cmocka_unit_test(takes_hosts),
        cmocka_unit_test(refuses_hosts),
        cmocka_unit_test(refuses_nul),
        cmocka_unit_test(reads_header_lines),
        cmocka_unit_test(refuses_header_lines),
        cmocka_unit_test(limits_headers),
        cmocka_unit_test(reads_framing),
        cmocka_unit_test(reads_what_is_asked),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
