/* Which addresses are connected to. rfc: 6890 2.2; decision: 55 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "fetch/fetch.h"

static bool permits(const char *allowed, const char *address)
{
    struct address_list list = { .count = 0 };
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

    if (allowed)
        assert_true(address_list_parse(bytes_from_string(allowed), &list));
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return addresses_permit(&list, (const struct sockaddr *)&v4);
    assert_int_equal(inet_pton(AF_INET6, address, &v6.sin6_addr), 1);
    return addresses_permit(&list, (const struct sockaddr *)&v6);
}

/* The first and the last address of each block that is not public, and their neighbours. */
static void only_public_ones(void **state)
{
    static const char *const refused[] = {
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.8",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "::ffff:0:1",
        "64:ff9b::7f00:1",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "4000::1",
        "1fff::1",
    };
    static const char *const permitted[] = {
        "1.1.1.1",        "9.255.255.255", "11.0.0.0",    "100.63.255.255", "100.128.0.0",
        "126.0.0.1",      "128.0.0.1",     "169.253.0.1", "172.15.255.255", "172.32.0.0",
        "192.167.0.1",    "192.169.0.0",   "198.17.0.1",  "198.20.0.0",     "223.255.255.255",
        "2606:4700::111", "2a00::1",       "2001:200::1", "::ffff:8.8.8.8", "2003::1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_false(permits(NULL, refused[i]));
    for (size_t i = 0; i < sizeof permitted / sizeof permitted[0]; i++)
        assert_true(permits(NULL, permitted[i]));
}

/* What the operator allows beyond, and no more. */
static void allowed_ones(void **state)
{
    (void)state;
    assert_true(permits("127.0.0.1", "127.0.0.1"));
    assert_true(permits("127.0.0.1", "::ffff:127.0.0.1"));
    assert_false(permits("127.0.0.1", "127.0.0.2"));
    assert_true(permits("10.0.0.0/8,fd00::/8", "10.200.0.1"));
    assert_true(permits("10.0.0.0/8, fd00::/8", "fdab::1"));
    assert_false(permits("10.0.0.0/9", "10.128.0.0"));
    assert_true(permits("10.128.0.0/9", "10.128.0.0"));
    assert_false(permits("10.0.0.0/8,fd00::/8", "192.168.0.1"));
    assert_true(permits("0.0.0.0/0", "127.0.0.1"));
    assert_false(permits("0.0.0.0/0", "::1"));
    assert_true(permits("::/0", "127.0.0.1"));
}

static void malformed_lists(void **state)
{
    static const char *const bad[] = { "",         "x",        "1.2.3",     "1.2.3.4/33", "::1/129",
                                       "1.2.3.4,", "1.2.3.4/", "1.2.3.4/x", "localhost" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct address_list list = { .count = 0 };

        assert_false(address_list_parse(bytes_from_string(bad[i]), &list));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_public_ones),
        cmocka_unit_test(allowed_ones),
        cmocka_unit_test(malformed_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
