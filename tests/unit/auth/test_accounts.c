/* Lists of accounts, as AZURITE_ACCOUNTS holds them. */
#include "auth_test.h"

/* Rule: "name:key1[:key2];..." with one or two keys, a semicolon at the end or not. */
static void lists_are_read(void **state)
{
    struct accounts *accounts = accounts_new();
    const char *problem = NULL;

    (void)state;
    assert_true(
        accounts_add_list(accounts, "one:a2V5;two:a2V5:b3RoZXI=; three-3_x:a2V5;", &problem));
    assert_non_null(accounts_find(accounts, bytes_from_string("one")));
    assert_non_null(accounts_find(accounts, bytes_from_string("two")));
    assert_non_null(accounts_find(accounts, bytes_from_string("three-3_x")));
    assert_null(accounts_find(accounts, bytes_from_string("One")));
    assert_null(accounts_find(accounts, bytes_from_string("on")));
    assert_null(accounts_find(accounts, bytes_from_string("")));
    assert_null(accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT)));
    assert_true(bytes_is(account_name(accounts_find(accounts, bytes_from_string("two"))), "two"));

    accounts_add_development(accounts);
    assert_non_null(accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT)));
    accounts_free(accounts);
}

/* Rule: of a malformed list nothing is added, and the problem tells no key. auth invariant 2 */
static void malformed_lists_add_nothing(void **state)
{
    static const char *const lists[] = {
        "",
        ";",
        "one",
        ":a2V5",
        "one:",
        "one:a2V5:",
        "one:c2VjcmV0:c2VjcmV0:c2VjcmV0",
        "one:c2VjcmV0!",
        "one:c2VjcmV",
        "one:c2VjcmV0;one:c2VjcmV0",
        "first:c2VjcmV0;a/b:c2VjcmV0",
        "first:c2VjcmV0;one-secondary:c2VjcmV0",
        "a123456789012345678901234567890123456789012345678901234567890123x:c2VjcmV0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct accounts *accounts = accounts_new();
        const char *problem = NULL;

        if (accounts_add_list(accounts, lists[i], &problem))
            fail_msg("%s was read", lists[i]);
        assert_non_null(problem);
        assert_null(strstr(problem, "c2Vj"));
        assert_null(accounts_find(accounts, bytes_from_string("one")));
        assert_null(accounts_find(accounts, bytes_from_string("first")));
        accounts_free(accounts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(malformed_lists_add_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
