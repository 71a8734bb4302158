/* URLs taken apart. rfc: 3986 3 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/url.h"

static struct url parsed(const char *text)
{
    struct url url;

    assert_true(url_parse(bytes_from_string(text), &url));
    return url;
}

static void assert_text(struct bytes got, const char *want)
{
    assert_int_equal(got.len, strlen(want));
    assert_memory_equal(got.ptr, want, got.len);
}

static void test_parts(void **state)
{
    struct url url = parsed("http://host.example:10000/a/c/b%20c?sv=1&sig=%2F");

    (void)state;
    assert_false(url.secure);
    assert_text(url.host, "host.example");
    assert_text(url.authority, "host.example:10000");
    assert_int_equal(url.port, 10000);
    assert_text(url.path, "/a/c/b%20c");
    assert_text(url.query, "sv=1&sig=%2F");

    url = parsed("HTTPS://[::1]");
    assert_true(url.secure && url.is_ipv6);
    assert_text(url.host, "::1");
    assert_int_equal(url.port, 443);
    assert_text(url.path, "/");
    assert_null(url.query.ptr);

    url = parsed("http://h?q");
    assert_text(url.path, "/");
    assert_text(url.query, "q");
    assert_int_equal(url.port, 80);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "x",
        "http:",
        "http:/h/",
        "http://",
        "http:///p",
        "ftp://h/",
        "http://h:/",
        "http://h:0/",
        "http://h:a/",
        "http://h:65536/",
        "http://u@h/",
        "http://h/a b",
        "http://h/#f",
        "http://[::1/",
        "http://[::1]x/",
        "http://[g]/",
        "http://h\x7f/",
        "http://h%2f/",
        "http://\xc3\xa9/",
        "//h/p",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct url url;

        assert_false(url_parse(bytes_from_string(bad[i]), &url));
    }
}

/* Rule: blanks and backslashes of a path are read as .NET's Uri reads them; scheme, authority and
 * everything else are unchanged, and what is no URL stays none. decision: 862 */
static void test_normal(void **state)
{
    static const char *const rows[][2] = {
        { "http://h/a b/c?d=e f", "http://h/a%20b/c?d=e%20f" },
        { "http://h/a\\b?c=\\d", "http://h/a/b?c=\\d" },
        { "http://h/a%5Cb%20[]{}|", "http://h/a%5Cb%20[]{}|" },
        { "http://h h/p", "http://h h/p" },
        { "http://h\\p", "http://h\\p" },
        { "http://h?a b", "http://h?a%20b" },
        { "http: //h/a b", "http: //h/a b" },
        { "a b\\c", "a b\\c" },
        { "", "" },
    };
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_text(url_normal(arena, bytes_from_string(rows[i][0])), rows[i][1]);
    arena_free(arena);
}

/* The source of a copy is shown without its signature. semantics 5, Copy */
static void test_without(void **state)
{
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    assert_text(url_without(arena, bytes_from_string("http://h/p?a=1&sig=x&b=2"), "sig"),
                "http://h/p?a=1&b=2");
    assert_text(url_without(arena, bytes_from_string("http://h/p?SIG=x"), "sig"), "http://h/p");
    assert_text(url_without(arena, bytes_from_string("http://h/p?sig=x&sig=y&c"), "sig"),
                "http://h/p?c");
    assert_text(url_without(arena, bytes_from_string("http://h/sig=1"), "sig"), "http://h/sig=1");
    arena_free(arena);
}

/* Parameters as they were sent: "=" after the first is a value's, none after the last "&". */
static void test_parameters(void **state)
{
    static const struct {
        const char *query;
        const char *names[4], *values[4]; /* NULL: it has none */
    } rows[] = {
        { "", { NULL }, { NULL } },
        { "a", { "a" }, { NULL } },
        { "a=", { "a" }, { "" } },
        { "a=b=c&d%3D=%26", { "a", "d%3D" }, { "b=c", "%26" } },
        { "&a=1&&b&", { "", "a", "", "b" }, { NULL, "1", NULL, NULL } },
        { "=v&&", { "", "" }, { "v", NULL } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes query = bytes_from_string(rows[i].query), name, value;
        size_t count = 0;

        for (; url_take_parameter(&query, &name, &value); count++) {
            assert_true(count < 4 && rows[i].names[count]);
            assert_text(name, rows[i].names[count]);
            if (rows[i].values[count])
                assert_text(value, rows[i].values[count]);
            else
                assert_null(value.ptr);
        }
        assert_true(count == 4 || !rows[i].names[count]);
    }
}

static void test_local(void **state)
{
    (void)state;
    assert_true(url_host_is_local(bytes_from_string("127.0.0.2")));
    assert_true(url_host_is_local(bytes_from_string("a.localhost")));
    assert_false(url_host_is_local(bytes_from_string("localhost.example")));
    assert_false(url_host_is_local(bytes_from_string("10.0.0.1")));
    assert_false(url_host_is_local(bytes_from_string("127.0.0.1.example")));
    assert_false(url_host_is_local(bytes_from_string("127.example")));
}

/* Rule: what .NET's class Uri makes of a path, as the service was seen to. decision: 39 */
static void test_normalized(void **state)
{
    static const struct {
        const char *path, *normalized;
    } rows[] = {
        { "", "" },
        { "c", "c" },
        { "c/b", "c/b" },
        { "c/.b", "c/.b" },
        { "c/..b", "c/..b" },
        { "c/a.b.c", "c/a.b.c" },
        { "c/a//b/", "c/a//b/" },
        { "c/a\\b", "c/a/b" },
        { "c/b.", "c/b" },
        { "c/b...", "c/b" },
        { "c/a.b.", "c/a.b" },
        { "c/.b.", "c/.b" },
        { "c/b. .", "c/b. " },
        { "c/f1./b", "c/f1/b" },
        { "c/f1../b./", "c/f1/b/" },
        { "c/f1.\\b.", "c/f1/b" },
        { "c/f1.//b", "c/f1//b" },
        { "c/./b", "c/b" },
        { "c/.\\b", "c/b" },
        { "c/a/./b", "c/a/b" },
        { "c/a/.../b", "c/a/b" },
        { "c/a/../b", "c/b" },
        { "c/a./../b", "c/b" },
        { "c/a/../../d/b", "d/b" },
        { "c/../../../b", "b" },
        { "c/a//../b", "c/a/b" },
        { "c/a/.../../b", "c/b" },
        { "c/.", "c/" },
        { "c/...", "c/" },
        { "c/a/..", "c/" },
        { "c/..", "" },
        { "..", "" },
        { ".", "" },
        { "c.", "c" },
        { "../c", "c" },
    };
    struct arena *arena = arena_new(4096);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes normalized = url_normalize_path(arena, bytes_from_string(rows[i].path));

        assert_text(normalized, rows[i].normalized);
        assert_true(bytes_equal(url_normalize_path(arena, normalized), normalized));
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_normal),     cmocka_unit_test(test_without),
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_local),
        cmocka_unit_test(test_normalized),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
