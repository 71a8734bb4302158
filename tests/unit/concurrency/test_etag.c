/* An ETag is the modification time in Azure's form, and rises. semantics 0.3; rfc: 9110 8.8.3 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "concurrency/etag.h"

/* Rule: an ETag is the tick in upper-case hex, as recorded ("0x8D6D418B56CFF5B" is
 * 2019-05-09T00:53:10.76). semantics 0.3 */
static void format_is_azures(void **state)
{
    static const struct {
        instant v;
        const char *text;
    } rows[] = {
        { 0x8D6D418B56CFF5B, "\"0x8D6D418B56CFF5B\"" }, { 1, "\"0x1\"" },     { 0, "\"0x0\"" },
        { UINT64_MAX, "\"0xFFFFFFFFFFFFFFFF\"" },       { 0x10, "\"0x10\"" },
    };
    char buffer[ETAG_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        etag_format((struct etag){ rows[i].v }, buffer);
        assert_string_equal(buffer, rows[i].text);
    }
}

/* Rule: the recorded tag is its recorded Last-Modified, Thu, 09 May 2019 00:53:10 GMT.
 * semantics 0.3 */
static void tag_is_the_modification_time(void **state)
{
    struct etag etag;
    instant modified;

    (void)state;
    assert_true(etag_parse(bytes_from_string("\"0x8D6D418B56CFF5B\""), &etag));
    assert_true(instant_parse_http(bytes_from_string("Thu, 09 May 2019 00:53:10 GMT"), &modified));
    assert_int_equal(instant_seconds(etag.v), instant_seconds(modified));
}

/* Rule: the tag of a change is newer than the one before, whatever the clock says. semantics 0.3 */
static void each_change_has_a_newer_tag(void **state)
{
    (void)state;
    assert_int_equal(etag_after((struct etag){ 0 }, 100).v, 100);
    assert_int_equal(etag_after((struct etag){ 99 }, 100).v, 100);
    assert_int_equal(etag_after((struct etag){ 100 }, 100).v, 101);
    assert_int_equal(etag_after((struct etag){ 500 }, 100).v, 501);
}

/* Rule: quoted and bare tags are both read; a tag that is not spelled as ours matches nothing; what
 * is no tag is refused. semantics 4.1; rfc: 9110 8.8.3 */
static void tags_are_read(void **state)
{
    static const struct {
        const char *text;
        bool is_tag;
        instant v;
    } rows[] = {
        { "\"0x8D6D418B56CFF5B\"", true, 0x8D6D418B56CFF5B },
        { "0x8D6D418B56CFF5B", true, 0x8D6D418B56CFF5B },
        { "W/\"0x8D6D418B56CFF5B\"", true, 0 },
        { "\"0x8d6d418b56cff5b\"", true, 0 },
        { "\"0x08D6D418B56CFF5B\"", true, 0 },
        { "\"0xFFFFFFFFFFFFFFFF\"", true, UINT64_MAX },
        { "\"0x1FFFFFFFFFFFFFFFF\"", true, 0 },
        { "\"0X8D\"", true, 0 },
        { "\"0x\"", true, 0 },
        { "\"0x0\"", true, 0 },
        { "\"\"", true, 0 },
        { "\"something, else\"", false, 0 },
        { "\"something,else\"", true, 0 },
        { "\"*\"", true, 0 },
        { "something", true, 0 },
        { "W/something", true, 0 },
        { "", false, 0 },
        { "W/", false, 0 },
        { "\"", false, 0 },
        { "\"0x8D", false, 0 },
        { "0x8D\"", false, 0 },
        { "\"a\"b\"", false, 0 },
        { "*", false, 0 },
        { "a,b", false, 0 },
        { "a b", false, 0 },
        { "a\x7f", false, 0 },
        { "\"a\tb\"", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct etag etag = { 77 };
        bool is_tag = etag_parse(bytes_from_string(rows[i].text), &etag);

        if (is_tag != rows[i].is_tag || etag.v != (is_tag ? rows[i].v : 77))
            fail_msg("%s: %d %llx", rows[i].text, is_tag, (unsigned long long)etag.v);
    }
}

/* Rule: what is formatted is read back as the same tag. */
static void format_and_parse_agree(void **state)
{
    char buffer[ETAG_TEXT_SIZE];
    struct etag etag;

    (void)state;
    for (instant v = 1; v < UINT64_MAX / 3; v = v * 3 + 1) {
        etag_format((struct etag){ v }, buffer);
        assert_true(etag_parse(bytes_from_string(buffer), &etag));
        assert_true(etag.v == v);
    }
}

/* Rule: a tag of a table's entity is a date whose colons are percent-encoded, or not; no other
 * character of it is. rest: Update-Entity2 */
static void timestamps_are_read(void **state)
{
    static const struct {
        const char *text;
        bool is_tag;
    } rows[] = {
        { "W/\"datetime'2009-04-30T01%3A02%3A03Z'\"", true },
        { "W/\"datetime'2009-04-30T01%3a02%3a03Z'\"", true },
        { "W/\"datetime'2009-04-30T01:02:03Z'\"", true },
        { "W/\"datetime'2009-04-30T01%4A02%3A03Z'\"", false },
        { "W/\"datetime'2009-04-30T01%3B02%3A03Z'\"", false },
        { "W/\"datetime'2009-04-30T01:02:03Z%'\"", false },
        { "W/\"datetime'2009-04-30T01:02:03Z%3'\"", false },
    };
    struct etag etag, first;

    (void)state;
    assert_true(etag_parse_timestamp(bytes_from_string(rows[0].text), &first));
    assert_int_not_equal(first.v, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_read = etag_parse_timestamp(bytes_from_string(rows[i].text), &etag);

        if ((is_read && etag.v == first.v) != rows[i].is_tag)
            fail_msg("%s", rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_is_azures),
        cmocka_unit_test(tag_is_the_modification_time),
        cmocka_unit_test(each_change_has_a_newer_tag),
        cmocka_unit_test(tags_are_read),
        cmocka_unit_test(timestamps_are_read),
        cmocka_unit_test(format_and_parse_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
