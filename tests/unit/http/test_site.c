/* Which requests a page of another web site may have sent. http/site.h; decision: 551 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "http/site.h"

#define NAMES "lagra.example, Other.Example ,"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new((size_t)1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void hosts(void **state)
{
    static const struct {
        const char *authority;
        bool is_ours, is_address, is_ours_by_tls;
    } rows[] = {
        { "localhost:10010", true, false, true },
        { "a.localhost", true, false, true },
        { "127.0.0.1:10010", true, true, true },
        { "[::1]:10010", true, true, true },
        { "10.1.2.3:10010", false, true, true },
        { "[2001:db8::1]", false, true, true },
        { "lagra.example:1", true, false, true },
        { "LAGRA.EXAMPLE", true, false, true },
        { "other.example", true, false, true },
        { "evil.example:10010", false, false, true },
        { "x.lagra.example", false, false, true },
        { "lagra.example.evil.example", false, false, true },
        { "localhost.evil.example", false, false, true },
        { "127.0.0.1.evil.example", false, false, true },
        { "lagra.example, other.example", false, false, false },
        { "", false, false, false },
        { NULL, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request request = { .authority = bytes_from_string(rows[i].authority) };

        assert_int_equal(site_host_is_ours(arena, &request, bytes_from_string(NAMES)),
                         rows[i].is_ours);
        assert_int_equal(site_host_is_address(arena, &request), rows[i].is_address);
        request.secure = true;
        assert_int_equal(site_host_is_ours(arena, &request, bytes_of(NULL, 0)),
                         rows[i].is_ours_by_tls);
    }
}

static void pages(void **state)
{
    static const struct {
        const char *site, *origin;
        bool is_own, is_other;
    } rows[] = {
        { NULL, NULL, false, false }, /* no browser */
        { "same-origin", NULL, true, false },
        { "same-origin", "http://h:1", true, false },
        { "same-origin", "null", true, false }, /* by a page without referrers */
        { "none", NULL, false, false },         /* entered by the user */
        { "same-site", NULL, false, true },
        { "cross-site", NULL, false, true },
        { "anything", NULL, false, true },
        { NULL, "http://h:1", true, false },
        { NULL, "https://h:1", false, true },
        { NULL, "http://h:2", false, true },
        { NULL, "http://evil.example", false, true },
        { NULL, "null", false, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_header headers[2];
        struct request request = { .authority = bytes_from_string("h:1"), .headers = headers };

        if (rows[i].site)
            headers[request.header_count++] =
                (struct http_header){ .name = bytes_from_string("sec-fetch-site"),
                                      .value = bytes_from_string(rows[i].site) };
        if (rows[i].origin)
            headers[request.header_count++] =
                (struct http_header){ .name = bytes_from_string("origin"),
                                      .value = bytes_from_string(rows[i].origin) };
        assert_int_equal(site_is_own_page(&request), rows[i].is_own);
        assert_int_equal(site_is_other_page(&request), rows[i].is_other);
    }
}

/* What browsers send of their own, whatever it contains, and whatever else programs send. */
static void browsers(void **state)
{
    static const struct {
        const char *name, *value;
        bool is_of_browser;
    } rows[] = {
        { "accept-language", "en", true },
        { "accept-language", "", true },
        { "sec-fetch-site", "none", true },
        { "origin", "null", true },
        { "user-agent", "azsdk-js-azure-storage-blob/12.26.0", false },
        { "accept", "application/xml", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_header header = { .name = bytes_from_string(rows[i].name),
                                      .value = bytes_from_string(rows[i].value) };
        struct request request = { .headers = &header, .header_count = 1 };

        assert_int_equal(site_is_browser(&request), rows[i].is_of_browser);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hosts, setup, teardown),
        cmocka_unit_test_setup_teardown(pages, setup, teardown),
        cmocka_unit_test(browsers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
