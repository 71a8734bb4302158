/* JSON: objects and lists read, strings written. base/json.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

#define ARENA_CAP ((size_t)1 << 24)

/* What was read, in one line: name=kind:text; and "bad" when it was refused. */
static const char *read_all(struct arena *arena, struct bytes text, unsigned depth)
{
    static const char kinds[] = "-sntf0ol"; /* by enum json_kind */
    struct json_reader object;
    struct json_member member;
    struct text out;

    text_init(&out, arena, 64);
    json_object_init(&object, arena, text, depth);
    while (json_next(&object, &member)) {
        text_add(&out, member.name);
        text_printf(&out, "=%c:", kinds[member.kind]);
        text_add(&out, member.text);
        text_add_char(&out, ';');
    }
    assert_false(json_next(&object, &member));
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
        assert_string_equal(read_all(arena, bytes_from_string(rows[i].text), 0), rows[i].read);
    assert_string_equal(read_all(arena, bytes_of("{\"a\":1}\0", 8), 0), "a=n:1;bad");
    assert_string_equal(read_all(arena, bytes_of("{\0}", 3), 0), "bad");
    arena_free(arena);
}

/* Rule: \u0000 is a character of a string. rfc: 8259 7 */
static void strings_may_hold_nul(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct json_reader object;
    struct json_member member;

    (void)state;
    json_object_init(&object, arena, bytes_from_string("{\"a\":\"x\\u0000y\"}"), 0);
    assert_true(json_next(&object, &member));
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
            struct json_reader object;
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
            json_object_init(&object, arena, text_bytes(&out), 0);
            assert_true(json_next(&object, &member));
            assert_int_equal(member.text.len, sizeof text);
            assert_memory_equal(member.text.ptr, text, sizeof text);
            assert_false(json_next(&object, &member) || object.bad);
            /* As it is; a quote ends the string, and what follows is bad. */
            json_object_init(&object, arena,
                             arena_printf(arena, "{\"a\":\"%.*s%c%.*s\"}", (int)at, text,
                                          special[i], (int)(sizeof text - at - 1), text + at + 1),
                             0);
            assert_int_equal(
                json_next(&object, &member) && !json_next(&object, &member) && !object.bad, stands);
        }
    arena_free(arena);
}

/* Rule: values in values are returned as they were written, as deep as was asked for and no deeper;
 * what is in them is JSON. rfc: 8259 2 and 9 */
static void values_in_values(void **state)
{
    static const struct {
        const char *text, *read;
    } rows[] = {
        { "{\"a\":{}}", "a=o:{};" },
        { "{\"a\": [ ] ,\"b\":1}", "a=l:[ ];b=n:1;" },
        { "{\"a\":{\"b\":[1,\"]}\",true , null],\"c\":{}},\"d\":[[],[ ] ,{ }]}",
          "a=o:{\"b\":[1,\"]}\",true , null],\"c\":{}};d=l:[[],[ ] ,{ }];" },
        { "{\"a\":{\"b\":{\"c\":1}}}", "a=o:{\"b\":{\"c\":1}};" },
        { "{\"a\":[[[1]]]}", "a=l:[[[1]]];" },
        { "{\"a\":{\"b\":{\"c\":{}}}}", "a=o:{\"b\":{\"c\":{}}};" },
        { "{\"a\":[[[[1]]]]}", "bad" },
        { "{\"a\":[[{\"b\":[]}]]}", "bad" },
        { "{\"a\":[}", "bad" },
        { "{\"a\":[1}", "bad" },
        { "{\"a\":{]}", "bad" },
        { "{\"a\":{\"b\":1]}", "bad" },
        { "{\"a\":[1,]}", "bad" },
        { "{\"a\":[,1]}", "bad" },
        { "{\"a\":[1 2]}", "bad" },
        { "{\"a\":[\"b\":1]}", "bad" },
        { "{\"a\":{\"b\"}}", "bad" },
        { "{\"a\":{\"b\":}}", "bad" },
        { "{\"a\":{b:1}}", "bad" },
        { "{\"a\":{\"b\":1,}}", "bad" },
        { "{\"a\":{\"b\":1 \"c\":2}}", "bad" },
        { "{\"a\":[{}[]]}", "bad" },
        { "{\"a\":[01]}", "bad" },
        { "{\"a\":[\"\\x\"]}", "bad" },
        { "{\"a\":[\"\\ud800\"]}", "bad" },
        { "{\"a\":[\"\n\"]}", "bad" },
        { "{\"a\":[\"\\uD83D\\ude00 \\\" \"]}", "a=l:[\"\\uD83D\\ude00 \\\" \"];" },
        { "{\"a\":[\"", "bad" },
        { "{\"a\":[", "bad" },
        { "{\"a\":[]", "a=l:[];bad" },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(read_all(arena, bytes_from_string(rows[i].text), 3), rows[i].read);
    arena_free(arena);
}

/* Rule: any depth of a hostile text is refused, or read, without a stack that grows with it. */
static void depth_is_bounded(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (unsigned depth = 1; depth <= JSON_DEPTH_MAX; depth++) {
        for (unsigned given = depth; given <= depth + 1; given++) {
            for (size_t of = 0; of < 2; of++) {
                struct json_reader reader;
                struct json_member member;
                struct text text;

                text_init(&text, arena, 0);
                text_add_char(&text, '[');
                for (unsigned i = 0; i < given; i++)
                    text_add_string(&text, of == 0 ? "[" : i + 1 < given ? "{\"a\":" : "{");
                for (unsigned i = 0; i < given; i++)
                    text_add_string(&text, of == 0 ? "]" : "}");
                text_add_char(&text, ']');
                json_list_init(&reader, arena, text_bytes(&text), depth);
                assert_int_equal(json_next(&reader, &member), given == depth);
                assert_false(json_next(&reader, &member));
                assert_int_equal(reader.bad, given > depth);
            }
        }
    }
    {
        size_t size = (size_t)4 << 20;
        char *open = arena_bytes(arena, size);
        struct json_reader reader;
        struct json_member member;

        memset(open, '[', size);
        json_list_init(&reader, arena, bytes_of(open, size), JSON_DEPTH_MAX);
        assert_false(json_next(&reader, &member));
        assert_true(reader.bad);
    }
    arena_free(arena);
}

/* Rule: a list's members have no names; all of the text is the list. */
static void lists_are_read(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct json_reader reader;
    struct json_member member;
    double sum = 0, number;

    (void)state;
    json_list_init(&reader, arena, bytes_from_string(" [ 1 ,2.5, 3e1 ] "), 0);
    while (json_next(&reader, &member)) {
        assert_null(member.name.ptr);
        assert_true(json_number(&member, &number));
        sum += number;
    }
    assert_false(reader.bad);
    assert_true(sum > 33.4 && sum < 33.6);
    for (size_t i = 0; i < 6; i++) {
        static const char *const wrong[] = { "", "{}", "[1]x", "[1,]", "[1", "[\"a\":1]" };

        json_list_init(&reader, arena, bytes_from_string(wrong[i]), 0);
        while (json_next(&reader, &member))
            ;
        assert_true(reader.bad);
    }
    arena_free(arena);
}

/* Rule: members are picked by their unescaped names; one that is asked for and there twice is
 * refused, whatever is between, others may repeat. rfc: 7519 4, rfc: 8259 4 */
static void members_are_picked(void **state)
{
    static const char *const names[] = { "a", "b" };
    static const struct {
        const char *text;
        bool good;
        enum json_kind a, b;
    } rows[] = {
        { "{}", true, JSON_ABSENT, JSON_ABSENT },
        { "{\"b\":{},\"x\":1,\"x\":2,\"\\u0061\":\"t\"}", true, JSON_STRING, JSON_OBJECT },
        { "{\"a\":1,\"b\":[]}", true, JSON_NUMBER, JSON_LIST },
        { "{\"a\":1,\"a\":1}", false, 0, 0 },
        { "{\"a\":1,\"b\":1,\"\\u0061\":null}", false, 0, 0 },
        { "{\"a\":1,\"b\":", false, 0, 0 },
        { "[\"a\"]", false, 0, 0 },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json_member got[2];

        assert_int_equal(json_object_pick(arena, bytes_from_string(rows[i].text), 1, names, 2, got),
                         rows[i].good);
        if (rows[i].good) {
            assert_int_equal(got[0].kind, rows[i].a);
            assert_int_equal(got[1].kind, rows[i].b);
        }
    }
    arena_free(arena);
}

/* Rule: only numbers are numbers, of at most 32 characters, and none is infinite; only texts that
 * are not empty are texts. */
static void numbers_are_bounded(void **state)
{
    static const struct {
        enum json_kind kind;
        const char *text;
        bool good;
        double value;
    } rows[] = {
        { JSON_NUMBER, "0", true, 0 },
        { JSON_NUMBER, "-1.5e3", true, -1500 },
        { JSON_NUMBER, "1700000000", true, 1700000000 },
        { JSON_NUMBER, "12345678901234567890123456789012", true,
          12345678901234567890123456789012. },
        { JSON_NUMBER, "123456789012345678901234567890123", false, 0 },
        { JSON_NUMBER, "1e308", true, 1e308 },
        { JSON_NUMBER, "1e309", false, 0 },
        { JSON_NUMBER, "-1e999999999", false, 0 },
        { JSON_NUMBER, "1e-999999999", true, 0 },
        { JSON_STRING, "1", false, 0 },
        { JSON_TRUE, "", false, 0 },
        { JSON_ABSENT, "", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json_member member = { .kind = rows[i].kind,
                                      .text = bytes_from_string(rows[i].text) };
        double value = 0;

        assert_int_equal(json_number(&member, &value), rows[i].good);
        assert_memory_equal(&value, &rows[i].value, sizeof value);
        assert_int_equal(json_text(&member).ptr != NULL, rows[i].kind == JSON_STRING);
    }
    assert_null(json_text(&(struct json_member){ .kind = JSON_STRING, .text = BYTES("") }).ptr);
}

/* Rule: an arena with that cap suffices, also where every character is an escape, and each of few
 * strings is long: one that is exceeded would end the process here. base/json.h (1) */
static void memory_is_in_proportion(void **state)
{
    static const size_t lengths[] = { 1, 2, 7, 100, 5000, 700000 };
    size_t size = (size_t)1 << 20;

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (size_t plain = 0; plain < 2; plain++) {
            struct arena *texts = arena_new(ARENA_CAP), *arena;
            struct json_reader reader;
            struct json_member member;
            struct text text;

            text_init(&text, texts, size);
            text_add_char(&text, '[');
            while (text.len < size / 2) {
                text_add_string(&text, text.len > 1 ? ",\"" : "\"");
                for (size_t c = 0; c + 1 < lengths[i] && text.len < size - 16; c++)
                    text_add_string(&text, plain ? "x" : "\\n");
                text_add_string(&text, "\\n\"");
            }
            text_add_char(&text, ']');
            arena = arena_new(json_memory_max(text_bytes(&text)));
            json_list_init(&reader, arena, text_bytes(&text), 0);
            while (json_next(&reader, &member))
                assert_int_equal(member.kind, JSON_STRING);
            assert_false(reader.bad);
            arena_free(arena);
            arena_free(texts);
        }
}

/* Rule: members and values have commas between them, at any depth. */
static void objects_are_written(void **state)
{
    struct arena *arena = arena_new(1u << 16);
    struct text text;
    struct json_writer out = { .to = &text };

    (void)state;
    text_init(&text, arena, 16);
    json_write_begin(&out, '{');
    json_write_name(&out, "empty");
    json_write_begin(&out, '[');
    json_write_end(&out, ']');
    json_write_member(&out, "text", bytes_from_string("a\"b"));
    json_write_name(&out, "list");
    json_write_begin(&out, '[');
    for (uint64_t i = 0; i < 2; i++) {
        json_write_begin(&out, '{');
        json_write_number(&out, "n", i == 0 ? 0 : UINT64_MAX);
        json_write_bool(&out, "is", i == 0);
        json_write_end(&out, '}');
    }
    json_write_end(&out, ']');
    json_write_bool(&out, "last", false);
    json_write_end(&out, '}');
    assert_true(bytes_is(text_bytes(&text),
                         "{\"empty\":[],\"text\":\"a\\\"b\",\"list\":[{\"n\":0,\"is\":true},"
                         "{\"n\":18446744073709551615,\"is\":false}],\"last\":false}"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_written),     cmocka_unit_test(objects_are_read),
        cmocka_unit_test(strings_may_hold_nul),    cmocka_unit_test(values_in_values),
        cmocka_unit_test(depth_is_bounded),        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(members_are_picked),      cmocka_unit_test(numbers_are_bounded),
        cmocka_unit_test(memory_is_in_proportion), cmocka_unit_test(strings_are_written),
        cmocka_unit_test(strings_are_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
