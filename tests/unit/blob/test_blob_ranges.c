/* Get Blob with ranges, and the sums of ranges. */
#include "fixture.h"

#include <stdlib.h>

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"

/* Rule: the range that is asked for is cut at the blob's end; x-ms-range counts before Range; what
 * is no range of ours is no range at all.
 * rest: Specifying-the-Range-Header-for-Blob-Service-Operations */
static void ranges_are_given(void **state)
{
    static const struct {
        const char *headers;
        int status;
        const char *body, *content_range;
    } rows[] = {
        { "x-ms-range: bytes=0-0", 206, "0", "bytes 0-0/10" },
        { "Range: bytes=3-5", 206, "345", "bytes 3-5/10" },
        { "Range: bytes=7-", 206, "789", "bytes 7-9/10" },
        { "Range: bytes=8-100", 206, "89", "bytes 8-9/10" },
        { "Range: bytes=0-", 206, "0123456789", "bytes 0-9/10" },
        { "x-ms-range: bytes=1-1\nRange: bytes=5-6", 206, "1", "bytes 1-1/10" },
        { "Range: bytes=5-3", 200, "0123456789", NULL },
        { "Range: items=0-1", 200, "0123456789", NULL },
    };
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "0123456789"), 201);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reply got = ask(f, "GET /box/b", rows[i].headers, NULL);

        assert_ok(got, rows[i].status);
        assert_body(got, rows[i].body);
        if (rows[i].content_range)
            assert_header(f, got, "Content-Range", rows[i].content_range);
        else
            assert_no_header(f, got, "Content-Range");
    }
}

/* Rule: a range past the end, also any range of an empty blob, is 416 and says the size. Recorded:
 * "Content-Range: bytes *" "/0" */
static void range_past_the_end_is_refused(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "0123456789"), 201);
    got = ask(f, "GET /box/b", "Range: bytes=10-", NULL);
    assert_answer(got, 416, "InvalidRange");
    assert_header(f, got, "Content-Range", "bytes */10");
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, ""), 201);
    got = ask(f, "GET /box/b", "Range: bytes=0-", NULL);
    assert_answer(got, 416, "InvalidRange");
    assert_header(f, got, "Content-Range", "bytes */0");
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_ok(got, 200);
    assert_int_equal(got.body.len, 0);
}

/* Rule: with a range the MD5 of the whole blob has another name.
 * rest: Get-Blob "x-ms-blob-content-md5" */
static void whole_md5_beside_a_range(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "hello"), 201);
    got = ask(f, "GET /box/b", "Range: bytes=0-1", NULL);
    assert_header(f, got, "x-ms-blob-content-md5", "XUFAKrxLKna5cZ2REBfFkg==");
    assert_no_header(f, got, "Content-MD5");
}

/* Rule: a sum goes with a range of at most 4 MiB, one sum with one range. The error is the recorded
 * one of the real service. rest: Get-Blob "x-ms-range-get-content-md5",
 * "x-ms-range-get-content-crc64" */
static void sums_of_ranges(void **state)
{
    static const struct {
        const char *headers;
        int status;
    } rows[] = {
        { "x-ms-range: bytes=0-4194303\nx-ms-range-get-content-md5: true", 206 },
        { "x-ms-range: bytes=0-4194303\nx-ms-range-get-content-crc64: True", 206 },
        { "x-ms-range: bytes=0-4194304\nx-ms-range-get-content-md5: false", 206 },
        { "x-ms-range: bytes=0-4194304\nx-ms-range-get-content-md5: true", 400 },
        { "x-ms-range: bytes=0-4194304\nx-ms-range-get-content-crc64: true", 400 },
        { "x-ms-range-get-content-md5: true", 400 },
        { "x-ms-range-get-content-crc64: true", 400 },
        { "x-ms-range: bytes=0-1\nx-ms-range-get-content-md5: yes", 400 },
    };
    struct fixture *f = *state;
    size_t size = (4 << 20) + 2;
    char *content = calloc(1, size);

    assert_ok(ask_bytes(f, "PUT /box/b", PUT_HEADERS, bytes_of(content, size)), 201);
    free(content);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_answer(ask(f, "GET /box/b", rows[i].headers, NULL), rows[i].status,
                      rows[i].status == 400 ? "InvalidHeaderValue" : "");
    assert_answer(ask(f, "GET /box/b",
                      "Range: bytes=0-1\nx-ms-range-get-content-md5: true\n"
                      "x-ms-range-get-content-crc64: true",
                      NULL),
                  400, "BothCrc64AndMd5RangeHeaderPresent"); /* decision: 46 */
    /* Of the whole of a small blob neither. */
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "small"), 201);
    assert_answer(ask(f, "GET /box/b", "x-ms-range-get-content-md5: true", NULL), 400,
                  "InvalidHeaderValue");
    assert_answer(ask(f, "GET /box/b", "x-ms-range-get-content-crc64: true", NULL), 400,
                  "InvalidHeaderValue");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranges_are_given, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(range_past_the_end_is_refused, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(whole_md5_beside_a_range, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(sums_of_ranges, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
