/* Base64, percent encoding, GUIDs. encode.h, ids.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/encode.h"
#include "base/ids.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int set_up(void **state)
{
    *state = arena_new(8 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static struct bytes b(const char *string)
{
    return bytes_from_string(string);
}

/* rfc: 4648 10 */
static void base64_vectors(void **state)
{
    static const char *const vectors[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
        { "\xFB\xFF\xBF", "+/+/" },
    };

    for (size_t i = 0; i < COUNT(vectors); i++) {
        struct bytes decoded = base64_decode(*state, b(vectors[i][1]));

        assert_true(bytes_is(base64_encode(*state, b(vectors[i][0])), vectors[i][1]));
        assert_non_null(decoded.ptr);
        assert_true(bytes_is(decoded, vectors[i][0]));
    }
}

/* Whatever is encoded comes back. */
static void base64_both_ways(void **state)
{
    char data[300];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 197 + 31);
    for (size_t length = 0; length <= sizeof data; length++) {
        struct bytes text = base64_encode(*state, bytes_of(data, length));

        assert_true(bytes_equal(base64_decode(*state, text), bytes_of(data, length)));
    }
}

/* Each run of bytes has one text only; all others are refused. rfc: 4648 3.3, 3.5 */
static void base64_refused(void **state)
{
    static const char *const bad[] = {
        "A",    "AA",    "AAA",      "A===",     "====",       "=AAA", "A=AA",
        "AA=A", "AAAA=", "AAAA====", "AA==AAAA", "Zh==",       "Zm9=", "AAA\n",
        "AA A", "AA-_",  "AAA*",     "AAA\xC3",  "Zm9v\nZm9v",
    };

    for (size_t i = 0; i < COUNT(bad); i++)
        if (base64_decode(*state, b(bad[i])).ptr)
            fail_msg("taken: %s", bad[i]);
    assert_null(base64_decode(*state, bytes_of("AA\0A", 4)).ptr);
}

/* rfc: 3986 2.1, 2.3 */
static void percent(void **state)
{
    static const char *const bad[] = { "%", "%4", "a%", "a%g0", "%0g", "%%41", "%-1", "% 1" };
    char all[256];
    struct bytes plain = b("nothing to do+");

    assert_true(bytes_is(percent_decode(*state, b("a%20b%2F%2f%C3%A4+")), "a b//\xC3\xA4+"));
    assert_true(bytes_equal(percent_decode(*state, b("%00%25")), bytes_of("\0%", 2)));
    assert_ptr_equal(percent_decode(*state, plain).ptr, plain.ptr);
    assert_null(percent_decode(*state, bytes_of("a%41", 3)).ptr); /* digits past the end */
    assert_null(percent_decode(*state, bytes_of("a%41", 2)).ptr);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (percent_decode(*state, b(bad[i])).ptr)
            fail_msg("taken: %s", bad[i]);

    assert_true(
        bytes_is(percent_encode(*state, b("aZ09-._~/ %\xC3\xA4"), "/"), "aZ09-._~/%20%25%C3%A4"));
    assert_true(bytes_is(percent_encode(*state, b("/"), ""), "%2F"));
    assert_true(bytes_is(percent_encode(*state, bytes_of("\0", 1), "/"), "%00"));
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)i;
    assert_true(
        bytes_equal(percent_decode(*state, percent_encode(*state, bytes_of(all, sizeof all), "")),
                    bytes_of(all, sizeof all)));
}

/* Proposed lease ids come in any .NET form. rest: Lease-Blob, "x-ms-proposed-lease-id" */
static void guid_forms(void **state)
{
    static const char *const good[] = {
        "0123456789abcdef0123456789ABCDEF",
        "01234567-89ab-cdef-0123-456789abcdef",
        "{01234567-89AB-CDEF-0123-456789ABCDEF}",
        "(01234567-89ab-cdef-0123-456789abcdef)",
    };
    static const char *const bad[] = {
        "",
        "0123456789abcdef0123456789ABCDE",
        "0123456789abcdef0123456789ABCDEFa",
        "0123456789abcdef0123456789ABCDEg",
        "0123456-789ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcde",
        "01234567-89ab-cdef-0123-456789abcde-",
        "{01234567-89ab-cdef-0123-456789abcdef)",
        "[01234567-89ab-cdef-0123-456789abcdef]",
        "{0123456789abcdef0123456789abcdef}",
        " 1234567-89ab-cdef-0123-456789abcdef",
    };
    char text[GUID_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct guid guid;

        assert_true(guid_parse(b(good[i]), &guid));
        guid_format(&guid, text);
        assert_string_equal(text, "01234567-89ab-cdef-0123-456789abcdef");
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct guid guid = { { 7 } };

        if (guid_parse(b(bad[i]), &guid))
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(guid.b[0], 7);
    }
}

/* New ids are random and of version 4. rfc: 9562 5.4 */
static void guids_differ(void **state)
{
    struct guid seen[500];

    (void)state;
    for (size_t i = 0; i < COUNT(seen); i++) {
        seen[i] = guid_new();
        assert_int_equal(seen[i].b[6] >> 4, 4);
        assert_int_equal(seen[i].b[8] >> 6, 2);
        for (size_t k = 0; k < i; k++)
            assert_false(guid_equal(&seen[i], &seen[k]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(base64_vectors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(base64_both_ways, set_up, tear_down),
        cmocka_unit_test_setup_teardown(base64_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(percent, set_up, tear_down),
        cmocka_unit_test(guid_forms),
        cmocka_unit_test(guids_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
