/* Names of shares, directories and files.
 * rest: Naming-and-Referencing-Shares--Directories--Files--and-Metadata; semantics 10.1 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "file/file.h"

#include <cmocka.h>

static enum error check(const char *path, bool trailing_dots)
{
    struct file_resource resource = { .base.level = LEVEL_PATH,
                                      .share = BYTES("share"),
                                      .path = bytes_from_string(path),
                                      .trailing_dots = trailing_dots };

    return file_check_names(&resource.base);
}

/* Rule: what Windows has no name for is refused, each part of a path alone. */
static void characters(void **state)
{
    static const char *const wrong[] = {
        "a\"b", "a\\b",   "a:b",    "a<b",    "a>b", "a|b", "a*",   "?",      "a\x01",
        "\x7F", "a//b",   "/a",     "PRN",    "aux", "nul", "Con",  "CLOCK$", "com1",
        "LPT9", "d/com1", "com1/d", "a/../b", "./a", "...", "a/..",
    };
    static const char *const right[] = { "a",   "a.b", "com0",  "com10", "com1.txt",     "LPT",
                                         "a b", " a",  "a'b",   "{a}",   "\xE2\x82\xAC", "a.",
                                         ".a",  "a%b", "d/e/f", "~",     "conx" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(check(wrong[i], false), E_InvalidResourceName);
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_int_equal(check(right[i], false), OK);
}

/* Rule: where trailing dots do not count, they do not make a name either. */
static void trailing_dots(void **state)
{
    (void)state;
    assert_int_equal(check("com1.", false), E_InvalidResourceName);
    assert_int_equal(check("com1.", true), OK);
    assert_int_equal(check("...", true), OK);
    assert_int_equal(check("..", true), E_InvalidResourceName);
    assert_int_equal(check(".", true), E_InvalidResourceName);
}

/* Rule: 255 characters a name, 2,048 a path, 250 names. Counted as Windows counts. */
static void lengths(void **state)
{
    char text[4096];

    (void)state;
    memset(text, 'x', sizeof text);
    text[256] = '\0';
    assert_int_equal(check(text, false), E_InvalidResourceName);
    text[255] = '\0';
    assert_int_equal(check(text, false), OK);
    for (size_t i = 0; i < 256; i++)
        memcpy(text + 2 * i, "\xC3\xA9", 2);
    text[2 * 256] = '\0';
    assert_int_equal(check(text, false), E_InvalidResourceName);
    text[2 * 255] = '\0';
    assert_int_equal(check(text, false), OK);
    for (size_t i = 0; i < 251; i++)
        memcpy(text + 2 * i, "d/", 2);
    text[2 * 251 - 1] = '\0';
    assert_int_equal(check(text, false), E_InvalidFileOrDirectoryPathName);
    text[2 * 250 - 1] = '\0';
    assert_int_equal(check(text, false), OK);
    memset(text, 'x', sizeof text);
    for (size_t i = 200; i < 2048; i += 200)
        text[i] = '/';
    text[2049] = '\0';
    assert_int_equal(check(text, false), E_InvalidFileOrDirectoryPathName);
    text[2048] = '\0';
    assert_int_equal(check(text, false), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters),
        cmocka_unit_test(trailing_dots),
        cmocka_unit_test(lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
