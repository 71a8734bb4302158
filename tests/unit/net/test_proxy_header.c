/* Headers of the PROXY protocol, of both versions: what they say, where they end, and what is none.
 * source: haproxy.org/download/2.6/doc/proxy-protocol.txt */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crc.h"
#include "base/endian.h"
#include "net/proxy_header.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

struct built {
    char bytes[8192];
    size_t size;
};

static void add(struct built *built, const void *from, size_t size)
{
    assert_true(built->size + size <= sizeof built->bytes);
    memcpy(built->bytes + built->size, from, size);
    built->size += size;
}

/* A header of version 2 up to its addresses; end() sets its length. */
static struct built begin(int version_command, int family)
{
    char two[2] = { (char)version_command, (char)family };
    struct built built = { .size = 0 };

    add(&built, SIGNATURE, 12);
    add(&built, two, 2);
    add(&built, "\0\0", 2);
    return built;
}

static void end(struct built *built)
{
    be16_put(built->bytes + 14, (uint16_t)(built->size - 16));
}

static void add_tlv(struct built *built, int type, const void *value, size_t size)
{
    char head[3] = { (char)type };

    be16_put(head + 1, (uint16_t)size);
    add(built, head, sizeof head);
    add(built, value, size);
}

static const uint8_t v4_addresses[12] = { 192, 0, 2, 1, 198, 51, 100, 1, 0x13, 0x88, 0x01, 0xbb };
static const uint8_t v6_addresses[36] = { 0x20, 1,    0xd,      0xb8, [15] = 7, [16] = 0x20, 1,
                                          0xd,  0xb8, [31] = 8, 0x13, 0x89,     0x01,        0xbb };

static enum proxy_found find(const struct built *built, struct proxy_header *header)
{
    return proxy_header_find(bytes_of(built->bytes, built->size), header);
}

static void assert_client(const struct proxy_header *header, const char *client)
{
    char text[ADDRESS_TEXT_MAX];

    assert_true(header->has_client);
    address_write(header->client, header->port, text);
    assert_string_equal(text, client);
}

/* However little of one is there, it may become one, and what follows it is not looked at. */
static void assert_by_pieces(const char *bytes, size_t size)
{
    char longer[8200];
    struct proxy_header header;

    for (size_t there = 0; there < size; there++)
        assert_int_equal(proxy_header_find(bytes_of(bytes, there), &header), PROXY_PART);
    memcpy(longer, bytes, size);
    memcpy(longer + size, "GET", 3);
    assert_int_equal(proxy_header_find(bytes_of(longer, size + 3), &header), PROXY_WHOLE);
    assert_int_equal(header.size, size);
}

static void lines(void **state)
{
    static const char *const cases[][2] = {
        { "PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\r\n", "192.0.2.1:5000" },
        { "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535" },
        { "PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n", "0.0.0.0:0" },
        { "PROXY TCP6 2001:db8::1 ::1 5000 443\r\n", "[2001:db8::1]:5000" },
        { "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
          "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535" },
        { "PROXY UNKNOWN\r\n", NULL },
        { "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
          NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct proxy_header header;

        assert_int_equal(proxy_header_find(bytes_from_string(cases[i][0]), &header), PROXY_WHOLE);
        assert_false(header.is_tls);
        if (cases[i][1])
            assert_client(&header, cases[i][1]);
        else
            assert_false(header.has_client);
        assert_by_pieces(cases[i][0], strlen(cases[i][0]));
    }
}

static void no_lines(void **state)
{
    static const char *const bad[] = {
        "GET / HTTP/1.1\r\n",
        "proxy TCP4 192.0.2.1 198.51.100.1 5000 443\r\n",
        "PROXY  TCP4 192.0.2.1 198.51.100.1 5000 443\r\n",
        "PROXY TCP5 192.0.2.1 198.51.100.1 5000 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 5000\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 5000 443 1\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1  5000 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 05000 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 65536 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 -1 443\r\n",
        "PROXY TCP4 2001:db8::1 198.51.100.1 5000 443\r\n",
        "PROXY TCP4 ::ffff:192.0.2.1 198.51.100.1 5000 443\r\n",
        "PROXY TCP6 192.0.2.1 198.51.100.1 5000 443\r\n",
        "PROXY TCP6 [2001:db8::1] ::1 5000 443\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\n",
        "PROXY TCP4\r 192.0.2.1 198.51.100.1 5000 443\r\n",
        "PROXY \r\n",
        "PROXY\r\n",
        "\r\n",
        /* 107 bytes without an end */
        "PROXY UNKNOWN "
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "0000000",
    };
    struct proxy_header header;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(proxy_header_find(bytes_from_string(bad[i]), &header),
                         strcmp(bad[i], "\r\n") == 0 ? PROXY_PART : PROXY_MALFORMED);
}

static void binary(void **state)
{
    struct built v4 = begin(0x21, 0x11), v6 = begin(0x21, 0x21), local = begin(0x20, 0x00),
                 odd = begin(0x20, 0xff), unix_socket = begin(0x21, 0x31),
                 unspecified = begin(0x21, 0x00);
    static const char path[216];
    struct proxy_header header;

    (void)state;
    add(&v4, v4_addresses, sizeof v4_addresses);
    end(&v4);
    assert_int_equal(find(&v4, &header), PROXY_WHOLE);
    assert_client(&header, "192.0.2.1:5000");
    assert_false(header.is_tls);
    assert_by_pieces(v4.bytes, v4.size);
    add(&v6, v6_addresses, sizeof v6_addresses);
    end(&v6);
    assert_int_equal(find(&v6, &header), PROXY_WHOLE);
    assert_client(&header, "[2001:db8::7]:5001");
    assert_by_pieces(v6.bytes, v6.size);
    /* The proxy's own, and clients without an address. */
    assert_int_equal(find(&local, &header), PROXY_WHOLE);
    assert_false(header.has_client);
    add(&odd, "\1\2\3\4", 4); /* to be ignored */
    end(&odd);
    assert_int_equal(find(&odd, &header), PROXY_WHOLE);
    assert_int_equal(header.size, 20);
    assert_false(header.has_client);
    add(&unix_socket, path, sizeof path);
    end(&unix_socket);
    assert_int_equal(find(&unix_socket, &header), PROXY_WHOLE);
    assert_false(header.has_client);
    assert_int_equal(find(&unspecified, &header), PROXY_WHOLE);
    assert_false(header.has_client);
}

static void no_binary(void **state)
{
    static const int wrong[][2] = { { 0x11, 0x11 }, { 0x31, 0x11 }, { 0x22, 0x11 }, { 0x2f, 0x11 },
                                    { 0x21, 0x12 }, { 0x21, 0x10 }, { 0x21, 0x22 }, { 0x21, 0x41 },
                                    { 0x21, 0x13 }, { 0x21, 0x02 } };
    struct built v4 = begin(0x21, 0x11), large = begin(0x21, 0x11);
    static const char filler[PROXY_HEADER_MAX];
    struct proxy_header header;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct built built = begin(wrong[i][0], wrong[i][1]);

        add(&built, v6_addresses, sizeof v6_addresses);
        end(&built);
        assert_int_equal(find(&built, &header), PROXY_MALFORMED);
    }
    add(&v4, v4_addresses, sizeof v4_addresses - 1); /* too short for its family */
    end(&v4);
    assert_int_equal(find(&v4, &header), PROXY_MALFORMED);
    add(&large, v4_addresses, sizeof v4_addresses);
    add_tlv(&large, 0x04, filler, PROXY_HEADER_MAX - large.size - 3);
    end(&large);
    assert_int_equal(find(&large, &header), PROXY_WHOLE);
    add(&large, filler, 1); /* beyond what is taken: known before it has come */
    end(&large);
    assert_int_equal(proxy_header_find(bytes_of(large.bytes, 16), &header), PROXY_MALFORMED);
}

/* PP2_TYPE_SSL says whether the client came by TLS; a sum, if there is one, is right. */
static void more_of_the_connection(void **state)
{
    static const char used[5] = { 1 }, unused[5] = { 2 }, zeros[4];
    struct proxy_header header;

    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        struct built built = begin(0x21, 0x11);
        size_t at;

        add(&built, v4_addresses, sizeof v4_addresses);
        add_tlv(&built, 0xe0, "own", 3);
        add_tlv(&built, 0x20, used, sizeof used);
        at = built.size + 3;
        add_tlv(&built, 0x03, zeros, sizeof zeros);
        end(&built);
        be32_put(built.bytes + at, crc32c(0, built.bytes, built.size) + (uint32_t)wrong);
        assert_int_equal(find(&built, &header), wrong ? PROXY_MALFORMED : PROXY_WHOLE);
        if (!wrong)
            assert_true(header.is_tls && header.has_client);
    }
    {
        struct built built = begin(0x21, 0x11);

        add(&built, v4_addresses, sizeof v4_addresses);
        add_tlv(&built, 0x20, unused, sizeof unused);
        end(&built);
        assert_int_equal(find(&built, &header), PROXY_WHOLE);
        assert_false(header.is_tls);
        add_tlv(&built, 0x20, used, sizeof used); /* twice */
        end(&built);
        assert_int_equal(find(&built, &header), PROXY_MALFORMED);
    }
}

static void malformed_tlvs(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        { "\x20", 1 },
        { "\x20\0", 2 },
        { "\x20\0\5\1\0\0\0", 7 },
        { "\x20\0\4\1\0\0\0", 7 },
        { "\x03\0\3abc", 6 },
        { "\x04\xff\xff", 3 },
        { "\x03\0\0", 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct built built = begin(0x21, 0x11);
        struct proxy_header header;

        add(&built, v4_addresses, sizeof v4_addresses);
        add(&built, bad[i].bytes, bad[i].size);
        end(&built);
        assert_int_equal(find(&built, &header), PROXY_MALFORMED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),          cmocka_unit_test(no_lines),
        cmocka_unit_test(binary),         cmocka_unit_test(no_binary),
        cmocka_unit_test(malformed_tlvs), cmocka_unit_test(more_of_the_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
