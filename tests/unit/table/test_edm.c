/* Types, sizes and dates of the Table service. edm.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "table/edm.h"

/* Rule: the eight names, with their case, and no other. rest:
 * Understanding-the-Table-Service-Data-Model "Property Types" */
static void types_have_names(void **state)
{
    static const char *const no_types[] = { "",          "Edm",
                                            "Edm.",      "edm.string",
                                            "String",    "Edm.String ",
                                            "Edm.Int16", "Edm.DateTimeOffset",
                                            "Edm.Single" };
    enum edm_type type;

    (void)state;
    for (unsigned i = 0; i < EDM_TYPES; i++) {
        assert_true(edm_type_parse(bytes_from_string(edm_type_name((enum edm_type)i)), &type));
        assert_int_equal(type, i);
    }
    for (size_t i = 0; i < sizeof no_types / sizeof no_types[0]; i++)
        assert_false(edm_type_parse(bytes_from_string(no_types[i]), &type));
}

/* Rule: limits count UTF-16 code units: two above U+FFFF. rest:
 * Understanding-the-Table-Service-Data-Model "Property Types" */
static void units_are_of_utf16(void **state)
{
    static const struct {
        const char *text;
        size_t units;
    } rows[] = {
        { "", 0 },
        { "abc", 3 },
        { "\xC3\xA4", 1 },
        { "\xE2\x82\xAC", 1 },
        { "\xEF\xBF\xBD", 1 },
        { "\xF0\x9F\x98\x80", 2 },
        { "\xF4\x8F\xBF\xBF", 2 },
        { "a\xF0\x9F\x98\x80\xC3\xA4z", 5 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(bytes_utf16_units(bytes_from_string(rows[i].text)), rows[i].units);
    /* Wherever it stands in a longer text. */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t at = 0; at < 20; at++) {
            char text[64];
            size_t length = strlen(rows[i].text);

            memset(text, 'x', sizeof text);
            memcpy(text + at, rows[i].text, length);
            assert_int_equal(bytes_utf16_units(bytes_of(text, at + length + 20)),
                             at + rows[i].units + 20);
        }
}

/* Rule: what each type counts for in the size of an entity. decision: 160 */
static void values_have_sizes(void **state)
{
    static const struct {
        struct edm_value value;
        size_t size;
    } rows[] = {
        { { .type = EDM_STRING, .as.bytes = BYTES("") }, 4 },
        { { .type = EDM_STRING, .as.bytes = BYTES("\xF0\x9F\x98\x80z") }, 10 },
        { { .type = EDM_BINARY, .as.bytes = BYTES("\xF0\x9F\x98\x80z") }, 9 },
        { { .type = EDM_INT32 }, 4 },
        { { .type = EDM_INT64 }, 8 },
        { { .type = EDM_DOUBLE }, 8 },
        { { .type = EDM_BOOLEAN }, 1 },
        { { .type = EDM_DATETIME }, 8 },
        { { .type = EDM_GUID }, 16 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(edm_value_size(&rows[i].value), rows[i].size);
}

/* Rule: a fraction ends with its last digit that is not 0, and is not there when it is 0. Recorded:
 * "2017-01-05T03:27:17.347125Z", "2014-05-07T08:20:53Z" */
static void dates_have_no_zeros_at_their_end(void **state)
{
    static const char *const rows[] = {
        "2017-01-05T03:27:17.347125Z",  "2014-05-07T08:20:53Z",
        "2014-05-07T08:20:50Z",         "1601-01-01T00:00:00Z",
        "9999-12-31T23:59:59.9999999Z", "2000-02-29T00:00:00.0000001Z",
        "2000-02-29T00:00:00.1Z",
    };
    char buffer[EDM_DATETIME_SIZE];
    instant t;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(instant_parse_iso(bytes_from_string(rows[i]), &t));
        assert_in_range(t, EDM_DATETIME_MIN, EDM_DATETIME_MAX);
        edm_datetime_format(t, buffer);
        assert_string_equal(buffer, rows[i]);
    }
    edm_datetime_format(EDM_DATETIME_MIN, buffer);
    assert_string_equal(buffer, "1601-01-01T00:00:00Z");
    edm_datetime_format(EDM_DATETIME_MAX, buffer);
    assert_string_equal(buffer, "9999-12-31T23:59:59.9999999Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_have_names),
        cmocka_unit_test(units_are_of_utf16),
        cmocka_unit_test(values_have_sizes),
        cmocka_unit_test(dates_have_no_zeros_at_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
