/* What is shown of text from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/visible.h"

static void assert_shown(const char *from, const char *shown)
{
    struct arena *arena = arena_new(4096);
    struct bytes text = visible_text(arena, bytes_from_string(from));

    assert_true(bytes_is(text, shown));
    arena_free(arena);
}

static void shows_controls(void **state)
{
    (void)state;
    assert_shown("", "");
    assert_shown("plain, \xC3\xA4 and \xE2\x82\xAC", "plain, \xC3\xA4 and \xE2\x82\xAC");
    assert_shown("\x1B[2J\n\x7F", "\\x1b[2J\\x0a\\x7f");
    assert_shown("a\xC2\x9B"
                 "1m",
                 "a\\xc2\\x9b1m");                /* CSI of one character */
    assert_shown("\xC2\xA0\xC2", "\xC2\xA0\xC2"); /* none, and half of one */
}

/* For each byte alone: what is shown has no control character. */
static void shows_every_byte(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char from = (char)c, to[4];
        size_t size = visible_copy(to, sizeof to, bytes_of(&from, 1));

        assert_int_equal(size, c < 0x20 || c == 0x7F ? 4 : 1);
        for (size_t i = 0; i < size; i++)
            assert_true((unsigned char)to[i] >= 0x20 && to[i] != 0x7F);
    }
}

/* Nothing is cut in its middle, or written behind the end. */
static void stops_before_the_end(void **state)
{
    struct bytes from = bytes_from_string("ab\x1B"
                                          "c\xC2\x9B");
    static const size_t wanted[] = { 0, 1, 2, 2, 2, 2, 6, 7, 7, 7, 7, 7, 7, 7, 7, 15 };

    (void)state;
    for (size_t size = 0; size < sizeof wanted / sizeof wanted[0]; size++) {
        char to[16] = { 0 };

        assert_int_equal(visible_copy(to, size, from), wanted[size]);
        for (size_t i = wanted[size]; i < sizeof to; i++)
            assert_int_equal(to[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_controls),
        cmocka_unit_test(shows_every_byte),
        cmocka_unit_test(stops_before_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
