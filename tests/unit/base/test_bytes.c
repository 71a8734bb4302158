/* Runs of bytes. bytes.h */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct bytes b(const char *string)
{
    return bytes_from_string(string);
}

/* Equality and order are of the bytes; case counts unless said. */
static void compares(void **state)
{
    static const char *const sorted[] = { "", "A", "AA", "B", "a", "a!", "aa", "b", "\xC3\xA4" };

    (void)state;
    for (size_t i = 0; i < COUNT(sorted); i++)
        for (size_t k = 0; k < COUNT(sorted); k++) {
            int order = bytes_compare(b(sorted[i]), b(sorted[k]));

            assert_int_equal(order < 0, i < k);
            assert_int_equal(order > 0, i > k);
            assert_int_equal(bytes_equal(b(sorted[i]), b(sorted[k])), i == k);
            assert_int_equal(bytes_equal_secret(b(sorted[i]), b(sorted[k])), i == k);
        }
    assert_true(bytes_is_nocase(b("Content-MD5"), "content-md5"));
    assert_false(bytes_is_nocase(b("[a"), "{A")); /* only letters have a case */
    assert_false(bytes_is_nocase(b("abc"), "ab"));
    assert_true(bytes_equal(bytes_of(NULL, 0), bytes_of("", 0)));
}

static void cuts(void **state)
{
    struct bytes head, tail;

    (void)state;
    assert_true(bytes_has_prefix(b("abc"), b("ab")) && bytes_has_prefix(b("abc"), b("")));
    assert_false(bytes_has_prefix(b("ab"), b("abc")));
    assert_true(bytes_has_suffix(b("abc"), b("bc")) && bytes_has_suffix(b("abc"), b("")));
    assert_false(bytes_has_suffix(b("bc"), b("abc")));
    assert_true(bytes_is(bytes_trim(b(" \t a b\t ")), "a b"));
    assert_int_equal(bytes_trim(b(" \t ")).len, 0);
    assert_true(bytes_is(bytes_from(b("abc"), 2), "c"));
    assert_int_equal(bytes_from(b("abc"), 4).len, 0);
    assert_null(bytes_from(bytes_of(NULL, 0), 4).ptr);

    bytes_cut(b("a=b=c"), '=', &head, &tail);
    assert_true(bytes_is(head, "a") && bytes_is(tail, "b=c"));
    bytes_cut(b("a="), '=', &head, &tail);
    assert_true(bytes_is(head, "a") && tail.ptr && tail.len == 0); /* present, empty */
    bytes_cut(b("a"), '=', &head, &tail);
    assert_true(bytes_is(head, "a") && !tail.ptr); /* absent */
    bytes_cut(bytes_of(NULL, 0), '=', &head, &tail);
    assert_true(head.len == 0 && !tail.ptr);
}

/* Numbers from outside: digits only, up to a limit. */
static void numbers(void **state)
{
    static const char *const bad[] = { "",
                                       " 1",
                                       "1 ",
                                       "+1",
                                       "-1",
                                       "0x1",
                                       "1.0",
                                       "1e3",
                                       "101",
                                       "18446744073709551616",
                                       "99999999999999999999999" };
    uint64_t value = 42;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(bytes_parse_u64(b(bad[i]), 100, &value));
    assert_false(bytes_parse_u64(b("18446744073709551616"), UINT64_MAX, &value));
    assert_true(value == 42);
    assert_true(bytes_parse_u64(b("18446744073709551615"), UINT64_MAX, &value));
    assert_true(value == UINT64_MAX);
    assert_true(bytes_parse_u64(b("000100"), 100, &value) && value == 100);
    assert_false(bytes_parse_u64(bytes_of("1\0", 2), 100, &value));
}

/* The text with `at` letters before it and 20 behind it. */
static struct bytes between(size_t at, struct bytes text)
{
    static char buffer[64];

    memset(buffer, 'x', sizeof buffer);
    memcpy(buffer + at, text.ptr, text.len);
    return bytes_of(buffer, at + text.len + 20);
}

/* Strict UTF-8. rfc: 3629 4 */
static void utf8(void **state)
{
    static const struct bytes good[] = {
        BYTES(""),
        BYTES("plain"),
        BYTES("\0"),
        BYTES("\xC2\x80"),
        BYTES("\xDF\xBF"),
        BYTES("\xE0\xA0\x80"),
        BYTES("\xED\x9F\xBF"),
        BYTES("\xEE\x80\x80"),
        BYTES("\xF0\x90\x80\x80"),
        BYTES("\xF4\x8F\xBF\xBF"),
    };
    static const struct bytes bad[] = {
        BYTES("\x80"),     /* begins with what goes on */
        BYTES("\xC0\x80"), /* overlong */
        BYTES("\xC1\xBF"),
        BYTES("\xE0\x9F\xBF"),
        BYTES("\xF0\x8F\xBF\xBF"),
        BYTES("\xED\xA0\x80"), /* surrogates */
        BYTES("\xED\xBF\xBF"),
        BYTES("\xF4\x90\x80\x80"), /* past U+10FFFF */
        BYTES("\xF5\x80\x80\x80"),
        BYTES("\xFF"),
        BYTES("\xC2"), /* cut */
        BYTES("\xE2\x82"),
        BYTES("\xF0\x9F\x98"),
        BYTES("\xC2"
              "a"),
        BYTES("\xE2\x82"
              "a"),
        BYTES("a\xE2"
              "a\x82"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(bytes_is_utf8(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        if (bytes_is_utf8(bad[i]))
            fail_msg("taken: %zu", i);
    /* Wherever it stands in a longer text. */
    for (size_t at = 0; at < 24; at++) {
        for (size_t i = 0; i < COUNT(good); i++)
            assert_true(bytes_is_utf8(between(at, good[i])));
        for (size_t i = 0; i < COUNT(bad); i++)
            if (bytes_is_utf8(between(at, bad[i])))
                fail_msg("taken: %zu behind %zu", i, at);
    }
}

/* bytes_decimal(): as printf() writes it, around each power of ten and at both ends. */
static void decimals(void **state)
{
    char buffer[DECIMAL_DIGITS], expected[DECIMAL_DIGITS + 1];
    uint64_t power = 1;

    (void)state;
    for (unsigned i = 0; i < DECIMAL_DIGITS; i++, power *= 10) {
        const uint64_t values[] = { power - 1, power, power + 1, power * 3 + 7,
                                    UINT64_MAX - power };

        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            (void)snprintf(expected, sizeof expected, "%" PRIu64, values[k]);
            assert_true(bytes_is(bytes_decimal(values[k], buffer), expected));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares), cmocka_unit_test(cuts), cmocka_unit_test(numbers),
        cmocka_unit_test(decimals), cmocka_unit_test(utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
