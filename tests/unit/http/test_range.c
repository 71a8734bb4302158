/* Range and x-ms-range: what is a range, what is ignored, what is 416.
 * rest: Specifying-the-Range-Header-for-Blob-Service-Operations; rfc: 9110 14.2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/http.h"

#define UNTOUCHED 777

struct row {
    const char *header;
    uint64_t size;
    enum range_result expected;
    uint64_t offset, length;
};

static void check(const struct row *row)
{
    uint64_t offset = UNTOUCHED, length = UNTOUCHED;
    enum range_result got =
        range_parse(bytes_from_string(row->header), row->size, &offset, &length);

    if (got != row->expected)
        fail_msg("%s of %llu: %d", row->header, (unsigned long long)row->size, got);
    assert_int_equal(offset, got == RANGE_PART ? row->offset : UNTOUCHED);
    assert_int_equal(length, got == RANGE_PART ? row->length : UNTOUCHED);
}

/* Rule: "bytes=a-b" and "bytes=a-", cut at the end; what begins past it is 416.
 * rest: Specifying-the-Range-Header-for-Blob-Service-Operations */
static void ranges_are_cut_at_the_end(void **state)
{
    static const struct row rows[] = {
        { "bytes=0-0", 10, RANGE_PART, 0, 1 },
        { "bytes=0-9", 10, RANGE_PART, 0, 10 },
        { "bytes=0-10", 10, RANGE_PART, 0, 10 },
        { "bytes=3-", 10, RANGE_PART, 3, 7 },
        { "bytes=9-9", 10, RANGE_PART, 9, 1 },
        { "bytes=9-", 10, RANGE_PART, 9, 1 },
        { "bytes=5-18446744073709551615", 10, RANGE_PART, 5, 5 },
        { "bytes=5-99999999999999999999999", 10, RANGE_PART, 5, 5 },
        { "BYTES=1-2", 10, RANGE_PART, 1, 2 },
        { " bytes=1-2 ", 10, RANGE_PART, 1, 2 },
        { "bytes=0-", 1, RANGE_PART, 0, 1 },
        { "bytes=0-5", 1, RANGE_PART, 0, 1 },
        { "bytes=0-", UINT64_MAX, RANGE_PART, 0, UINT64_MAX },
        { "bytes=18446744073709551614-", UINT64_MAX, RANGE_PART, UINT64_MAX - 1, 1 },
        { "bytes=10-", 10, RANGE_UNSATISFIABLE, 0, 0 },
        { "bytes=10-20", 10, RANGE_UNSATISFIABLE, 0, 0 },
        { "bytes=99999999999999999999999-", 10, RANGE_UNSATISFIABLE, 0, 0 },
        { "bytes=99999999999999999999999-", UINT64_MAX, RANGE_UNSATISFIABLE, 0, 0 },
        { "bytes=0-0", 0, RANGE_UNSATISFIABLE, 0, 0 },
        { "bytes=0-", 0, RANGE_UNSATISFIABLE, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i]);
}

/* Rule: what is not of one of the two forms is ignored, so the whole is given.
 * rfc: 9110 14.2 "MAY ignore" */
static void other_forms_are_ignored(void **state)
{
    static const char *const headers[] = {
        NULL,
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=-5",
        "bytes=5",
        "bytes=5-4",
        "bytes=a-b",
        "bytes=1-b",
        "bytes=0x1-2",
        "bytes=+1-2",
        "bytes=1-2,4-5",
        "bytes=1 -2",
        "bytes=1- 2",
        "bytes = 1-2",
        "bytes=1-2-3",
        "items=1-2",
        "1-2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        check(&(const struct row){ headers[i], 10, RANGE_ALL, 0, 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_cut_at_the_end),
        cmocka_unit_test(other_forms_are_ignored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
