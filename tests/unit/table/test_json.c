/* JSON objects of scalars, and strings of answers. rest/json.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "table/rest/json.h"

#define ARENA_CAP ((size_t)1 << 24)

/* What was read, in one line: name=kind:text; and "bad" when it was refused. */
static const char *read_all(struct arena *arena, struct bytes text)
{
    static const char kinds[] = { 's', 'n', 't', 'f', '0' };
    struct json_object object;
    struct json_member member;
    struct text out;

    text_init(&out, arena, 64);
    json_object_init(&object, arena, text);
    while (json_object_next(&object, &member)) {
        text_add(&out, member.name);
        text_printf(&out, "=%c:", kinds[member.kind]);
        text_add(&out, member.text);
        text_add_char(&out, ';');
    }
    assert_false(json_object_next(&object, &member));
    if (object.bad)
        text_add_string(&out, "bad");
    return arena_string(arena, text_bytes(&out));
}

/* Rule: members in their order, numbers as written, escapes undone; nothing else around. rfc:
 * 8259 4 */
static void objects_are_read(void **state)
{
    static const struct {
        const char *text, *read;
    } rows[] = {
        { "{}", "" },
        { " \t\r\n{ } \n", "" },
        { "{\"a\":\"b\"}", "a=s:b;" },
        { "{ \"a\" : 1 , \"b\" : true,\"c\":false,\"d\":null }", "a=n:1;b=t:;c=f:;d=0:;" },
        { "{\"a\":-0.50e+10,\"b\":0,\"c\":1E5,\"d\":10.0}",
          "a=n:-0.50e+10;b=n:0;c=n:1E5;d=n:10.0;" },
        { "{\"a\":9223372036854775808,\"a\":1}", "a=n:9223372036854775808;a=n:1;" },
        { "{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\":\"x\\u0041y\\u00e4z\"}",
          "\"\\/\b\f\n\r\t=s:xAy\xC3\xA4z;" },
        { "{\"a\":\"\\uD83D\\ude00\\uFFFF\\u0800\"}",
          "a=s:\xF0\x9F\x98\x80\xEF\xBF\xBF\xE0\xA0\x80;" },
        { "{\"a\":\"\xC3\xA4\"}", "a=s:\xC3\xA4;" },
        { "", "bad" },
        { " ", "bad" },
        { "{", "bad" },
        { "[]", "bad" },
        { "\"a\"", "bad" },
        { "{}x", "bad" },
        { "{}{}", "bad" },
        { "{,}", "bad" },
        { "{\"a\"}", "bad" },
        { "{\"a\":}", "bad" },
        { "{a:1}", "bad" },
        { "{'a':1}", "bad" },
        { "{\"a\":1,}", "a=n:1;bad" },
        { "{\"a\":1 \"b\":2}", "a=n:1;bad" },
        { "{\"a\":{}}", "bad" },
        { "{\"a\":[]}", "bad" },
        { "{\"a\":[[[[[[[[", "bad" },
        { "{\"a\":\"b}", "bad" },
        { "{\"a\":\"\n\"}", "bad" },
        { "{\"a\":\"\\x\"}", "bad" },
        { "{\"a\":\"\\", "bad" },
        { "{\"a\":\"\\u00", "bad" },
        { "{\"a\":\"\\u00g0\"}", "bad" },
        { "{\"a\":\"\\ud800\"}", "bad" },
        { "{\"a\":\"\\ud800\\n\"}", "bad" },
        { "{\"a\":\"\\ud800\\ud800\"}", "bad" },
        { "{\"a\":\"\\udc00\"}", "bad" },
        { "{\"a\":\"\xED\xA0\x80\"}", "bad" },
        { "{\"a\":\"\xFF\"}", "bad" },
        { "{\"a\":01}", "a=n:0;bad" },
        { "{\"a\":+1}", "bad" },
        { "{\"a\":.5}", "bad" },
        { "{\"a\":1.}", "bad" },
        { "{\"a\":1e}", "bad" },
        { "{\"a\":-}", "bad" },
        { "{\"a\":NaN}", "bad" },
        { "{\"a\":True}", "bad" },
        { "{\"a\":truex}", "a=t:;bad" },
        { "{\"a\":nul", "bad" },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(read_all(arena, bytes_from_string(rows[i].text)), rows[i].read);
    assert_string_equal(read_all(arena, bytes_of("{\"a\":1}\0", 8)), "a=n:1;bad");
    assert_string_equal(read_all(arena, bytes_of("{\0}", 3)), "bad");
    arena_free(arena);
}

/* Rule: \u0000 is a character of a string. rfc: 8259 7 */
static void strings_may_hold_nul(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct json_object object;
    struct json_member member;

    (void)state;
    json_object_init(&object, arena, bytes_from_string("{\"a\":\"x\\u0000y\"}"));
    assert_true(json_object_next(&object, &member));
    assert_true(bytes_equal(member.text, bytes_of("x\0y", 3)));
    arena_free(arena);
}

/* Rule: quotes, backslashes and control characters escaped, and all that is not ASCII as code
 * units in small letters; slashes and quotes of other kinds are not. Recorded */
static void strings_are_written(void **state)
{
    static const struct {
        const char *text, *written;
    } rows[] = {
        { "", "\"\"" },
        { "abc /'<>&", "\"abc /'<>&\"" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\b\f\n\r\t\x01\x1F\x7F", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\"" },
        { "\xC3\xB4\xE2\x82\xAC", "\"\\u00f4\\u20ac\"" },
        { "x\xF0\x9F\x98\x80y", "\"x\\ud83d\\ude00y\"" },
        { "\xEF\xBF\xBF\xF4\x8F\xBF\xBF", "\"\\uffff\\udbff\\udfff\"" },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text out;

        text_init(&out, arena, 0);
        json_write_string(&out, bytes_from_string(rows[i].text));
        assert_string_equal(arena_string(arena, text_bytes(&out)), rows[i].written);
    }
    arena_free(arena);
}

/* Rule: what is escaped, and what may not stand in a string as it is, wherever it stands. rfc: 8259
 * 7 */
static void strings_are_long(void **state)
{
    static const char special[] = { '"', '\\', '\0', '\n', '\x1F', '\x7F', ' ', '\'' };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof special; i++)
        for (size_t at = 0; at < 24; at++) {
            bool stands = (uint8_t)special[i] >= 0x20 && special[i] != '"' && special[i] != '\\';
            struct json_object object;
            struct json_member member;
            struct text out;
            char text[40];

            memset(text, 'x', sizeof text);
            text[at] = special[i];
            text_init(&out, arena, 0);
            text_add_string(&out, "{\"a\":");
            json_write_string(&out, bytes_of(text, sizeof text));
            text_add_char(&out, '}');
            assert_int_equal(out.len,
                             sizeof text + (stands                                       ? 8
                                            : special[i] == '\0' || special[i] == '\x1F' ? 13
                                                                                         : 9));
            json_object_init(&object, arena, text_bytes(&out));
            assert_true(json_object_next(&object, &member));
            assert_int_equal(member.text.len, sizeof text);
            assert_memory_equal(member.text.ptr, text, sizeof text);
            assert_false(json_object_next(&object, &member) || object.bad);
            /* As it is; a quote ends the string, and what follows is bad. */
            json_object_init(&object, arena,
                             arena_printf(arena, "{\"a\":\"%.*s%c%.*s\"}", (int)at, text,
                                          special[i], (int)(sizeof text - at - 1), text + at + 1));
            assert_int_equal(json_object_next(&object, &member) &&
                                 !json_object_next(&object, &member) && !object.bad,
                             stands);
        }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_read),
        cmocka_unit_test(strings_may_hold_nul),
        cmocka_unit_test(strings_are_written),
        cmocka_unit_test(strings_are_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
