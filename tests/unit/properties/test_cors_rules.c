/* CORS rules: which one decides, what it allows. rest:
 * Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services; decision: 106 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/cors_rules.h"

static struct cors_rule rule(const char *origins, const char *methods, const char *headers)
{
    return (struct cors_rule){ .origins = bytes_from_string(origins),
                               .methods = bytes_from_string(methods),
                               .allowed_headers = bytes_from_string(headers),
                               .exposed_headers = bytes_from_string(""),
                               .max_age_s = 7 };
}

/* Rule: an origin is one of a rule's as it is sent, by "*", or as a subdomain. */
static void origins(void **state)
{
    static const struct {
        const char *list, *origin; /* NULL: the request has none */
        bool fits;
    } cases[] = {
        { "*", "http://a", true },
        { "*", NULL, true },
        { "*", "null", true },
        { "http://a", NULL, false },
        { "http://a", "http://a", true },
        { "http://a", "HTTP://a", false },
        { "http://a", "http://a/", false },
        { "http://b, http://a", "http://a", true },
        { "http://b,*", "http://a", true },
        { "http://a", "", false },
        { "https://*.a.b", "https://x.a.b", true },
        { "https://*.a.b", "https://x.y.a.b", true },
        { "https://*.a.b", "https://.a.b", false },
        { "https://*.a.b", "https://a.b", false },
        { "https://*.a.b", "http://x.a.b", false },
        { "https://*.a.b", "https://x.a.bc", false },
        { "https://*.a.b", NULL, false },
        { "*.b*", "a.bc", false },
        { "", "a", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cors_rules rules = { .items = { rule(cases[i].list, "GET", "") }, .count = 1 };
        struct bytes origin =
            cases[i].origin ? bytes_from_string(cases[i].origin) : (struct bytes){ NULL, 0 };

        assert_int_equal(cors_rule_of(&rules, origin, bytes_from_string("GET")) != NULL,
                         cases[i].fits);
    }
}

/* Rule: the first rule with the origin and the method, and no other. */
static void the_first_decides(void **state)
{
    struct cors_rules rules = { .items = { rule("http://a", "PUT,HEAD", "x"),
                                           rule("*", "PUT,GET", "y"),
                                           rule("http://a", "GET", "z") },
                                .count = 3 };
    struct bytes a = BYTES("http://a"), b = BYTES("http://b");

    (void)state;
    assert_ptr_equal(cors_rule_of(&rules, a, bytes_from_string("PUT")), &rules.items[0]);
    assert_ptr_equal(cors_rule_of(&rules, a, bytes_from_string("GET")), &rules.items[1]);
    assert_ptr_equal(cors_rule_of(&rules, b, bytes_from_string("PUT")), &rules.items[1]);
    assert_null(cors_rule_of(&rules, b, bytes_from_string("HEAD")));
    assert_null(cors_rule_of(&rules, a, bytes_from_string("get")));
    assert_null(cors_rule_of(&rules, a, bytes_from_string("")));
    assert_false(cors_rule_is_for_all(&rules.items[0]));
    assert_true(cors_rule_is_for_all(&rules.items[1]));
}

/* Rule: every header that is asked for must be a name or begin as a prefix of the list. */
static void headers(void **state)
{
    static const struct {
        const char *list, *asked; /* NULL: none */
        bool allowed;
    } cases[] = {
        { "", NULL, true },
        { "", "", true },
        { "", "a", false },
        { "a", "A", true },
        { "a,b-*", "b-1, a ,B-2", true },
        { "a,b-*", "b-", true },
        { "a,b-*", "b", false },
        { "a,b-*", "a,c", false },
        { "*", "a,b,c", true },
        { "a", "a,,", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cors_rule one = rule("*", "GET", cases[i].list);
        struct bytes asked =
            cases[i].asked ? bytes_from_string(cases[i].asked) : (struct bytes){ NULL, 0 };

        assert_int_equal(cors_rule_allows(&one, asked), cases[i].allowed);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(origins),
        cmocka_unit_test(the_first_decides),
        cmocka_unit_test(headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
