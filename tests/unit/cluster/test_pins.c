/* Accounts that are pinned to cells: cluster/pins.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "cluster/pins.h"

static struct pins pins;

static bool parses(const char *text)
{
    return pins_parse(bytes_from_string(text), &pins);
}

static void set_and_found(void **state)
{
    (void)state;
    memset(&pins, 0, sizeof pins);
    assert_true(pins_set(&pins, bytes_from_string("one"), 2));
    assert_true(pins_set(&pins, bytes_from_string("two"), 3));
    assert_true(pins_set(&pins, bytes_from_string("one"), 4));
    assert_int_equal(pins_find(&pins, bytes_from_string("one")), 4);
    assert_int_equal(pins_find(&pins, bytes_from_string("two")), 3);
    assert_int_equal(pins_find(&pins, bytes_from_string("on")), 0);
    assert_true(pins_set(&pins, bytes_from_string("one"), 0));
    assert_true(pins_set(&pins, bytes_from_string("none"), 0));
    assert_int_equal(pins_find(&pins, bytes_from_string("one")), 0);
    assert_int_equal(pins_find(&pins, bytes_from_string("two")), 3);
    assert_false(pins_set(&pins, bytes_from_string("Two"), 1));
    assert_false(pins_set(&pins, bytes_from_string(""), 1));
    assert_false(pins_set(&pins, bytes_from_string("a b"), 1));
    assert_false(pins_set(&pins, bytes_from_string("abcdefghijklmnopqrstuvwxy"), 1));
    assert_false(pins_set(&pins, bytes_from_string("two"), 10000));
}

static void read_from_text(void **state)
{
    static const char *const wrong[] = { "one",         "one 2",    "one 0\n",
                                         "one 10000\n", "one  2\n", "one 2 \n",
                                         " 2\n",        "One 2\n",  "one 2\none 3\n",
                                         "\n",          "one -1\n", "one 2\r\n" };

    (void)state;
    assert_true(parses(""));
    assert_int_equal(pins.count, 0);
    assert_true(parses("one 2\nsecond9 9999\n"));
    assert_int_equal(pins_find(&pins, bytes_from_string("second9")), 9999);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(parses(wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_and_found),
        cmocka_unit_test(read_from_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
