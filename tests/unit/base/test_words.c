/* Unit tests of base/words.h against a look at each byte alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/words.h"

#include <cmocka.h> /* last: it has a macro `fail` */

static word_bytes holds(word_bytes text)
{
    return word_below(text, 0x20) | word_equal(text, '"') | word_not_ascii(text);
}

static word_bytes is_not_visible(word_bytes text)
{
    return word_not_visible_ascii(text);
}

/* Rule: a run ends before the first byte that the test holds for, wherever that is and whatever follows
 * the text. */
static void runs_end_at_the_first(void **state)
{
    static const char ends[] = { '\0', '\x1F', '"', '\x80', '\xFF' };

    (void)state;
    for (size_t len = 0; len <= 67; len++) {
        char *text =
            malloc(len + 1); /* of that size, so that a sanitizer sees what is read behind it */

        memset(text, 'a', len);
        assert_int_equal(word_run(bytes_of(text, len), holds), len);
        for (size_t at = 0; at < len; at++)
            for (size_t i = 0; i < sizeof ends; i++) {
                text[at] = ends[i];
                assert_int_equal(word_run(bytes_of(text, len), holds), at);
                if (at + 1 < len)
                    text[len - 1] = ends[i];
                assert_int_equal(word_run(bytes_of(text, len), holds), at);
                memset(text, 'a', len);
            }
        free(text);
    }
}

/* Rule: each byte is told apart. */
static void every_byte_is_told(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char text[WORD_BYTES];
        bool held = c < 0x20 || c == '"' || c >= 0x80;

        memset(text, 'a', sizeof text);
        text[7] = (char)c;
        assert_int_equal(word_first(holds(word_load(text))), held ? 7 : WORD_BYTES);
        assert_int_equal(word_any(holds(word_load(text))), held);
        assert_int_equal(word_first(word_not_visible_ascii(word_load(text))),
                         c < 0x20 || c >= 0x80 ? 7 : WORD_BYTES);
        assert_int_equal(word_run(bytes_of(text, 9), is_not_visible),
                         c < 0x20 || c >= 0x80 ? 7 : 9);
    }
}

/* Rule: a part is what it is, and zeros. */
static void parts_end_in_zeros(void **state)
{
    static const char text[] = "0123456789abcdef";

    (void)state;
    for (size_t len = 0; len < WORD_BYTES; len++) {
        word_bytes part = word_load_part(bytes_of(text, len));

        for (size_t i = 0; i < WORD_BYTES; i++)
            assert_int_equal(part[i], i < len ? text[i] : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_end_at_the_first),
        cmocka_unit_test(every_byte_is_told),
        cmocka_unit_test(parts_end_in_zeros),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
