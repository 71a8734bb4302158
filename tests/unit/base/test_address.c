/* Addresses of either version as 16 bytes, and lists of blocks of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "base/address.h"

static void parse(const char *text, uint8_t address[ADDRESS_SIZE])
{
    assert_true(address_parse(bytes_from_string(text), address));
}

/* What is read is written the same, whichever form it had. */
static void in_text(void **state)
{
    static const char *const cases[][2] = {
        { "192.0.2.1", "192.0.2.1:80" },
        { "::ffff:192.0.2.1", "192.0.2.1:80" },
        { "::1", "[::1]:80" },
        { "2001:DB8:0::1", "[2001:db8::1]:80" },
        { "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
          "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:80" },
    };
    static const char *const bad[] = {
        "",          "1.2.3",
        "1.2.3.4.5", "256.1.1.1",
        "1.2.3.4 ",  "::g",
        "[::1]",     "fe80::1%lo",
        "localhost", "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555555"
    };
    uint8_t address[ADDRESS_SIZE], untouched[ADDRESS_SIZE] = { 7 };
    char text[ADDRESS_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parse(cases[i][0], address);
        address_write(address, 80, text);
        assert_string_equal(text, cases[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(address_parse(bytes_from_string(bad[i]), untouched));
    assert_false(address_parse(bytes_of("1.2.3.4\0", 8), untouched));
    assert_int_equal(untouched[0], 7);
}

static void of_sockets(void **state)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(5000) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(5001) };
    struct sockaddr unix_socket = { .sa_family = AF_UNIX };
    uint8_t address[ADDRESS_SIZE];
    char text[ADDRESS_TEXT_MAX];
    uint16_t port;

    (void)state;
    inet_pton(AF_INET, "192.0.2.7", &v4.sin_addr);
    inet_pton(AF_INET6, "2001:db8::7", &v6.sin6_addr);
    assert_true(address_from((const struct sockaddr *)&v4, address, &port));
    assert_true(address_is_v4(address));
    address_write(address, port, text);
    assert_string_equal(text, "192.0.2.7:5000");
    assert_true(address_from((const struct sockaddr *)&v6, address, &port));
    assert_false(address_is_v4(address));
    address_write(address, port, text);
    assert_string_equal(text, "[2001:db8::7]:5001");
    assert_false(address_from(&unix_socket, address, &port));
}

static bool has(const char *list_text, const char *address_text)
{
    struct address_list list = { .count = 0 };
    uint8_t address[ADDRESS_SIZE];

    assert_true(address_list_parse(bytes_from_string(list_text), &list));
    parse(address_text, address);
    return address_list_has(&list, address);
}

static void in_blocks(void **state)
{
    struct address_list none = { .count = 0 };
    uint8_t address[ADDRESS_SIZE];

    (void)state;
    assert_true(has("10.0.0.0/8, fd00::/8", "10.255.255.255"));
    assert_true(has("10.0.0.0/8, fd00::/8", "fdff::1"));
    assert_false(has("10.0.0.0/8, fd00::/8", "11.0.0.0"));
    assert_true(has("10.0.0.0/9", "10.127.255.255"));
    assert_false(has("10.0.0.0/9", "10.128.0.0"));
    assert_true(has("192.0.2.1", "::ffff:192.0.2.1"));
    assert_false(has("0.0.0.0/0", "::1"));
    assert_true(has("::/0", "192.0.2.1"));
    parse("192.0.2.1", address);
    assert_false(address_list_has(&none, address));
}

/* Each address has one spelling. */
static void read_as_written(void **state)
{
    static const char *const right[] = { "192.0.2.1:10020", "[2001:db8::1]:0", "0.0.0.0:65535" };
    static const char *const wrong[] = {
        "",      "192.0.2.1",     ":1",          "192.0.2.1:01", "[::1]",
        "::1:5", "[192.0.2.1]:1", "[::1]:65536", "[::01]:1",     "192.0.2.1:1 ",
        "a:1",   "[::1:1"
    };
    uint8_t address[ADDRESS_SIZE];
    char text[ADDRESS_TEXT_MAX];
    uint16_t port;

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        assert_true(address_read(bytes_from_string(right[i]), address, &port));
        address_write(address, port, text);
        assert_string_equal(text, right[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(address_read(bytes_from_string(wrong[i]), address, &port));
}

/* As many as there is room for, and no more. */
static void bounded(void **state)
{
    struct address_list list = { .count = 0 };

    (void)state;
    for (size_t i = 0; i < ADDRESS_BLOCKS_MAX; i++)
        assert_true(address_list_parse(bytes_from_string("::1"), &list));
    assert_false(address_list_parse(bytes_from_string("::1"), &list));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_text), cmocka_unit_test(of_sockets),      cmocka_unit_test(in_blocks),
        cmocka_unit_test(bounded), cmocka_unit_test(read_as_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
