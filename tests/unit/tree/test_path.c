/* Names and paths: what is one, and which are equal. tree/path.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tree/path.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(1u << 24);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

/* Rule: the table of Windows 8 has 973 code points; count and sum were made from Unicode's data apart
 * from the table, and the count is that of Microsoft's own file. [MS-UCODEREF] 3.1.5.3 */
static void upper_case_is_windows(void **state)
{
    static const uint16_t kept[] = { 0x00B5, 0x00DF, 0x0131, 0x0149, 0x017F, 0x01C5, 0x01C8,
                                     0x01CB, 0x01F0, 0x01F2, 0x0252, 0x0345, 0x0390, 0x03C2,
                                     0x03D0, 0x03F5, 0x0525, 0x10D0, 0x13F8, 0x1E9B, 0x1E9E,
                                     0x1FBE, 0xA661, 0xAB70, 0xD800, 0xDFFF, 0xFB00, 0xFFFF };
    static const uint16_t pairs[][2] = { { 'a', 'A' },       { 'z', 'Z' },       { 0x00FF, 0x0178 },
                                         { 0x00E4, 0x00C4 }, { 0x0180, 0x0243 }, { 0x01C6, 0x01C4 },
                                         { 0x0250, 0x2C6F }, { 0x03C3, 0x03A3 }, { 0x0450, 0x0400 },
                                         { 0x04CF, 0x04C0 }, { 0x0586, 0x0556 }, { 0x1D79, 0xA77D },
                                         { 0x1F80, 0x1F88 }, { 0x1FF3, 0x1FFC }, { 0x2170, 0x2160 },
                                         { 0x24E9, 0x24CF }, { 0x2C65, 0x023A }, { 0x2D25, 0x10C5 },
                                         { 0xA78C, 0xA78B }, { 0xFF5A, 0xFF3A } };
    uint32_t sum = 0, count = 0;

    (void)state;
    for (uint32_t unit = 0; unit <= 0xFFFF; unit++) {
        uint16_t upper = upcase_unit((uint16_t)unit);

        count += upper != unit;
        sum = sum * 31 + upper;
        assert_int_equal(upcase_unit(upper), upper);
    }
    assert_int_equal(count, 973);
    assert_int_equal(sum, 0xB33FD1D6);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        assert_int_equal(upcase_unit(kept[i]), kept[i]);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_int_equal(upcase_unit(pairs[i][0]), pairs[i][1]);
}

static const char *key_of(enum tree_case rule, const char *name)
{
    return arena_string(arena, tree_key(arena, rule, bytes_from_string(name)));
}

/* Rule: without regard to case names are compared by upper case; the bytes of a key may be more or fewer
 * than those of the name. Beyond the BMP letters stay apart. */
static void keys_are_upper_case(void **state)
{
    (void)state;
    assert_string_equal(key_of(TREE_CASE_IGNORED, "Grün.txt"), "GRÜN.TXT");
    assert_string_equal(key_of(TREE_CASE_IGNORED, "ɐⱥ"), "ⱯȺ");
    assert_string_equal(key_of(TREE_CASE_IGNORED, "ß\U00010428"), "ß\U00010428");
    assert_string_equal(key_of(TREE_CASE_EXACT, "Grün.txt"), "Grün.txt");
    assert_int_equal(bytes_utf16_units(bytes_from_string("aü€\U00010428")), 5);
}

static enum tree_path_fault parse(struct bytes text, size_t *ret_count)
{
    struct tree_path path = { .count = 0 };
    enum tree_path_fault fault = tree_path_parse(arena, TREE_CASE_IGNORED, text, &path);

    *ret_count = path.count;
    return fault;
}

/* `count` times the unit, and '/' behind each `every` of them. */
static struct bytes repeated(const char *unit, size_t count, size_t every)
{
    struct text text;

    text_init(&text, arena, 0);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && i % every == 0)
            text_add_char(&text, '/');
        text_add_string(&text, unit);
    }
    return text_bytes(&text);
}

/* semantics 10.1: 255 units a name, 2,048 a path, 250 names. */
static void limits_are_those_of_windows(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(parse(repeated("a", 255, 1000), &count), TREE_PATH_OK);
    assert_int_equal(parse(repeated("a", 256, 1000), &count), TREE_NAME_TOO_LONG);
    assert_int_equal(parse(repeated("€", 255, 1000), &count), TREE_PATH_OK);
    assert_int_equal(parse(repeated("\U00010428", 127, 1000), &count), TREE_PATH_OK);
    assert_int_equal(parse(repeated("\U00010428", 128, 1000), &count), TREE_NAME_TOO_LONG);
    assert_int_equal(parse(repeated("a", 250, 1), &count), TREE_PATH_OK);
    assert_int_equal(count, 250);
    assert_int_equal(parse(repeated("a", 251, 1), &count), TREE_PATH_TOO_DEEP);
    assert_int_equal(parse(repeated("a", 2040, 227), &count), TREE_PATH_OK); /* and 8 slashes */
    assert_int_equal(parse(repeated("a", 2041, 227), &count), TREE_PATH_TOO_LONG);
    assert_int_equal(parse(repeated("€", 2040, 227), &count), TREE_PATH_OK);
    assert_int_equal(parse(repeated("a", 10000, 1), &count), TREE_PATH_TOO_LONG);
}

static void what_is_no_path(void **state)
{
    size_t count;

    (void)state;
    assert_int_equal(parse(bytes_from_string(""), &count), TREE_PATH_OK);
    assert_int_equal(count, 0);
    assert_int_equal(parse(bytes_from_string("a/b c/..."), &count), TREE_PATH_OK);
    assert_int_equal(count, 3);
    assert_int_equal(parse(bytes_from_string("/"), &count), TREE_NAME_EMPTY);
    assert_int_equal(parse(bytes_from_string("/a"), &count), TREE_NAME_EMPTY);
    assert_int_equal(parse(bytes_from_string("a/"), &count), TREE_NAME_EMPTY);
    assert_int_equal(parse(bytes_from_string("a//b"), &count), TREE_NAME_EMPTY);
    assert_int_equal(parse(bytes_from_string("a/./b"), &count), TREE_NAME_DOTS);
    assert_int_equal(parse(bytes_from_string("a/.."), &count), TREE_NAME_DOTS);
    assert_int_equal(parse(bytes_of("a\0b", 3), &count), TREE_NAME_HAS_NUL);
    assert_int_equal(parse(bytes_from_string("a/\xED\xA0\x80"), &count), TREE_PATH_NOT_UTF8);
    assert_int_equal(parse(bytes_from_string("a/\xC3"), &count), TREE_PATH_NOT_UTF8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upper_case_is_windows),
        cmocka_unit_test(keys_are_upper_case),
        cmocka_unit_test(limits_are_those_of_windows),
        cmocka_unit_test(what_is_no_path),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
