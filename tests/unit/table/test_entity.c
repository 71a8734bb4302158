/* Entities: sizes, limits, merging, the forms that are stored. entity.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "table/entity.h"

#define ARENA_CAP ((size_t)1 << 26)

static struct property string_property(const char *name, struct bytes value)
{
    return (struct property){ .name = bytes_from_string(name),
                              .value = { .type = EDM_STRING, .as.bytes = value } };
}

static const struct property of_all_types[] = {
    { BYTES("S"), { .type = EDM_STRING, .as.bytes = BYTES("s\xC3\xA4") } },
    { BYTES("E"), { .type = EDM_STRING, .as.bytes = BYTES("") } },
    { BYTES("I"), { .type = EDM_INT32, .as.integer = -42 } },
    { BYTES("L"), { .type = EDM_INT64, .as.integer = INT64_MIN } },
    { BYTES("M"), { .type = EDM_INT64, .as.integer = INT64_MAX } },
    { BYTES("D"), { .type = EDM_DOUBLE, .as.real = -0.5 } },
    { BYTES("T"), { .type = EDM_BOOLEAN, .as.boolean = true } },
    { BYTES("When"), { .type = EDM_DATETIME, .as.time = EDM_DATETIME_MAX } },
    { BYTES("G"),
      { .type = EDM_GUID,
        .as.guid = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255 } } } },
    { BYTES("B"), { .type = EDM_BINARY, .as.bytes = BYTES("\0\1\377") } },
};
#define TYPES_COUNT (sizeof of_all_types / sizeof of_all_types[0])

/* printf() would end at a NUL. */
static struct bytes joined(struct arena *arena, struct bytes a, struct bytes b)
{
    struct text to;

    text_init(&to, arena, a.len + b.len);
    text_add(&to, a);
    text_add(&to, b);
    return text_bytes(&to);
}

static void assert_same(const struct property *a, const struct property *b)
{
    assert_true(bytes_equal(a->name, b->name));
    assert_int_equal(a->value.type, b->value.type);
    if (a->value.type == EDM_STRING || a->value.type == EDM_BINARY)
        assert_true(bytes_equal(a->value.as.bytes, b->value.as.bytes));
    else if (a->value.type == EDM_BOOLEAN)
        assert_int_equal(a->value.as.boolean, b->value.as.boolean);
    else if (a->value.type == EDM_GUID)
        assert_true(guid_equal(&a->value.as.guid, &b->value.as.guid));
    else
        assert_memory_equal(&a->value.as, &b->value.as, sizeof a->value.as.integer);
}

/* Rule: 4, twice the keys, and for each property 8, twice its name, its value. decision: 160 */
static void an_entity_has_a_size(void **state)
{
    const struct property properties[] = {
        string_property("Address", (struct bytes)BYTES("Mountain View\xC3\xA4")),
        { BYTES("Age"), { .type = EDM_INT32, .as.integer = 23 } },
    };
    struct entity entity = { .partition_key = BYTES("p"),
                             .row_key = BYTES("\xF0\x9F\x98\x80"),
                             .properties = properties,
                             .count = 2 };

    (void)state;
    assert_int_equal(entity_size(&entity),
                     4 + 2 * (1 + 2) + (8 + 2 * 7 + 2 * 14 + 4) + (8 + 2 * 3 + 4));
}

/* Rule: at most 252 properties beside the three of the system, and 1 MiB. rest:
 * Understanding-the-Table-Service-Data-Model "Property Limitations" */
static void an_entity_has_limits(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct property *many = arena_array(arena, 253, sizeof *many);
    char *text = arena_bytes(arena, 1 << 20);
    struct entity entity = { .properties = many, .count = 252 };

    (void)state;
    memset(text, 'x', 1 << 20);
    for (int i = 0; i < 253; i++) {
        many[i].name = arena_printf(arena, "p%d", i);
        many[i].value.type = EDM_BOOLEAN;
    }
    assert_int_equal(entity_check(&entity), OK);
    entity.count = 253;
    assert_int_equal(entity_check(&entity), E_TooManyProperties);

    /* 4 + (8 + 2 + 4) + 2 n bytes. */
    many[0] = string_property("p", bytes_of(text, ((1 << 20) - 18) / 2));
    entity.count = 1;
    assert_int_equal(entity_size(&entity), 1 << 20);
    assert_int_equal(entity_check(&entity), OK);
    many[0].value.as.bytes.len++;
    assert_int_equal(entity_check(&entity), E_EntityTooLarge);
    arena_free(arena);
}

/* Rule: what both have is taken from the newer, whatever its type; names have case; nothing is
 * lost. rest: Merge-Entity "Remarks" */
static void a_merge_keeps_what_is_not_named(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    const struct property old[] = {
        string_property("A", (struct bytes)BYTES("old")),
        string_property("a", (struct bytes)BYTES("small")),
        { BYTES("N"), { .type = EDM_INT32, .as.integer = 1 } },
    };
    const struct property new[] = {
        { BYTES("N"), { .type = EDM_DOUBLE, .as.real = 1.5 } },
        string_property("Z", (struct bytes)BYTES("added")),
        string_property("A", (struct bytes)BYTES("new")),
    };
    const struct property expected[] = { new[2], new[0], new[1], old[1] };
    struct entity base = { .partition_key = BYTES("p"),
                           .row_key = BYTES("r"),
                           .timestamp = 1,
                           .properties = old,
                           .count = 3 };
    struct entity over = { .partition_key = BYTES("p"),
                           .row_key = BYTES("r"),
                           .timestamp = 2,
                           .properties = new,
                           .count = 3 };
    struct entity merged = entity_merge(arena, &base, &over);

    (void)state;
    assert_int_equal(merged.timestamp, 2);
    assert_true(bytes_is(merged.partition_key, "p"));
    assert_int_equal(merged.count, 4);
    for (size_t i = 0; i < merged.count; i++)
        assert_same(&merged.properties[i], &expected[i]);
    over.count = 0;
    merged = entity_merge(arena, &base, &over);
    assert_int_equal(merged.count, 3);
    base.count = 0;
    merged = entity_merge(arena, &base, &over);
    assert_int_equal(merged.count, 0);
    arena_free(arena);
}

/* Rule: a value comes back as it was; each value that is cut, or goes on, is refused. entity.h */
static void a_record_comes_back(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct entity entity = { .timestamp = 636192000000000001ull,
                             .properties = of_all_types,
                             .count = TYPES_COUNT };
    struct bytes value = entity_encode(arena, &entity);
    struct entity back;

    (void)state;
    assert_true(entity_decode(arena, value, &back));
    assert_int_equal(back.timestamp, entity.timestamp);
    assert_int_equal(back.count, TYPES_COUNT);
    for (size_t i = 0; i < TYPES_COUNT; i++) {
        assert_same(&back.properties[i], &of_all_types[i]);
        assert_ptr_equal(entity_find(&back, of_all_types[i].name), &back.properties[i]);
    }
    assert_null(entity_find(&back, (struct bytes)BYTES("s")));
    for (size_t cut = 0; cut < value.len; cut++)
        assert_false(entity_decode(arena, bytes_of(value.ptr, cut), &back));
    assert_false(entity_decode(arena, joined(arena, value, bytes_of("x", 1)), &back));
    arena_free(arena);
}

/* Rule: reading property by property finds the same, and stops where the value is cut. entity.h */
static void a_record_is_read_in_steps(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct entity entity = { .timestamp = 5, .properties = of_all_types, .count = TYPES_COUNT };
    struct bytes value = entity_encode(arena, &entity);
    struct entity_reader reader;
    struct property p;
    size_t count = 0;

    (void)state;
    assert_true(entity_reader_init(&reader, value));
    assert_int_equal(reader.timestamp, 5);
    for (; entity_reader_next(&reader, &p); count++)
        assert_same(&p, &of_all_types[count]);
    assert_int_equal(count, TYPES_COUNT);
    assert_true(decoder_ok(&reader.in));
    for (size_t cut = 0; cut < value.len; cut++) {
        if (!entity_reader_init(&reader, bytes_of(value.ptr, cut)))
            continue;
        while (entity_reader_next(&reader, &p))
            ;
        assert_false(decoder_ok(&reader.in));
    }
    arena_free(arena);
}

/* Records of earlier programs stay readable: bytes pinned, never changed. */
static const uint8_t
    version_1
        [] = {
            1,    0x85, 0x02, 10,                     /* timestamp 261, 10 properties */
            0,    2,    'S',  4,    's',  0xC3, 0xA4, /* String */
            0,    2,    'E',  1,                      /* empty */
            1,    2,    'I',  83,                     /* Int32 -42 */
            2,    2,    'L',  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, /* Int64 */
            2,    2,    'M',  0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
            3,    2,    'D',  0,    0,    0,    0,    0,    0,    0xE0, 0xBF, /* Double -0.5 */
            4,    2,    'T',  1,                                              /* Boolean */
            5,    5,    'W',  'h',  'e',  'n',  0xFF, 0xFF, 0xDC, 0xA1, 0xDF, 0x8E, 0x8A,
            0xE5, 0x2B, /* DateTime */
            6,    2,    'G',  0,    1,    2,    3,    4,    5,    6,    7,    8,    9,
            10,   11,   12,   13,   14,   255,       /* Guid */
            7,    2,    'B',  4,    0,    1,    255, /* Binary */
        };

static void records_of_version_1_stay(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct entity entity = { .timestamp = 261, .properties = of_all_types, .count = TYPES_COUNT };
    struct bytes value = entity_encode(arena, &entity);
    struct entity back;

    (void)state;
    assert_true(entity_decode(arena, bytes_of(version_1, sizeof version_1), &back));
    assert_int_equal(back.timestamp, 261);
    assert_int_equal(back.count, TYPES_COUNT);
    for (size_t i = 0; i < TYPES_COUNT; i++)
        assert_same(&back.properties[i], &of_all_types[i]);
    assert_int_equal(value.len, sizeof version_1);
    assert_memory_equal(value.ptr, version_1, sizeof version_1);
    arena_free(arena);
}

/* ---- keys ---- */

static struct bytes utf8_of(struct arena *arena, unsigned c)
{
    if (c < 0x80)
        return arena_printf(arena, "%c", (int)c);
    if (c < 0x800)
        return arena_printf(arena, "%c%c", (int)(0xC0 | c >> 6), (int)(0x80 | (c & 0x3F)));
    if (c < 0x10000)
        return arena_printf(arena, "%c%c%c", (int)(0xE0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3F)),
                            (int)(0x80 | (c & 0x3F)));
    return arena_printf(arena, "%c%c%c%c", (int)(0xF0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3F)),
                        (int)(0x80 | (c >> 6 & 0x3F)), (int)(0x80 | (c & 0x3F)));
}

static size_t utf16_of(unsigned c, uint16_t to[2])
{
    if (c < 0x10000) {
        to[0] = (uint16_t)c;
        return 1;
    }
    to[0] = (uint16_t)(0xD7C0 + (c >> 10));
    to[1] = (uint16_t)(0xDC00 | (c & 0x3FF));
    return 2;
}

/* Compares as .NET does: String.CompareOrdinal. */
static int compare_units(const unsigned a[2], const unsigned b[2])
{
    uint16_t x[5] = { 0 }, y[5] = { 0 };
    size_t n = utf16_of(a[0], x), m = utf16_of(b[0], y);

    utf16_of(a[1], x + n);
    utf16_of(b[1], y + m);
    for (size_t i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Rule: encoded keys are in the order of UTF-16 code units, and come back. Every pair of texts
 * of two characters at the borders of the ranges. entity.h "keys" */
static void keys_keep_the_order_of_utf16(void **state)
{
    static const unsigned borders[] = { 0x20,    0x41,    0x7E,    0xA0,    0x7FF,    0x800,
                                        0xD7FF,  0xE000,  0xEFFF,  0xF000,  0xFFFD,   0xFFFF,
                                        0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF };
    enum { COUNT = sizeof borders / sizeof borders[0], PAIRS = COUNT * COUNT };
    struct arena *arena = arena_new(ARENA_CAP);
    struct bytes encoded[PAIRS];

    (void)state;
    for (int i = 0; i < PAIRS; i++) {
        struct bytes first = utf8_of(arena, borders[i / COUNT]);
        struct bytes second = utf8_of(arena, borders[i % COUNT]);
        struct bytes text = joined(arena, first, second);

        assert_true(bytes_is_utf8(text));
        encoded[i] = entity_key_encode(arena, text);
        assert_true(bytes_equal(entity_key_decode(arena, encoded[i]), text));
    }
    for (int i = 0; i < PAIRS; i++)
        for (int j = 0; j < PAIRS; j++) {
            const unsigned a[] = { borders[i / COUNT], borders[i % COUNT] };
            const unsigned b[] = { borders[j / COUNT], borders[j % COUNT] };
            int order = bytes_compare(encoded[i], encoded[j]);

            assert_int_equal((order > 0) - (order < 0), compare_units(a, b));
        }
    arena_free(arena);
}

/* Rule: no control characters and none of / \ # ? in a key; every code point below U+0800. rest:
 * Understanding-the-Table-Service-Data-Model "Characters Disallowed in Key Fields" */
static void keys_have_no_control_characters(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (unsigned c = 0; c < 0x800; c++) {
        bool allowed =
            c >= 0x20 && (c < 0x7F || c > 0x9F) && c != '/' && c != '\\' && c != '#' && c != '?';
        struct bytes text = utf8_of(arena, c);

        assert_int_equal(entity_key_check(text), allowed ? OK : E_OutOfRangeInput);
        assert_int_equal(entity_key_check(joined(arena, bytes_of("a", 1), text)),
                         allowed ? OK : E_OutOfRangeInput);
    }
    assert_int_equal(entity_key_check(bytes_of("", 0)), OK);
    assert_int_equal(entity_key_check((struct bytes)BYTES("\xE2\x80\x81\xF0\x9F\x98\x80")), OK);
    arena_free(arena);
}

/* Rule: a key has at most 512 code units, which are 1 KiB. decision: 161 */
static void keys_have_a_length(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct text key;

    (void)state;
    text_init(&key, arena, 0);
    for (int i = 0; i < 256; i++)
        text_add(&key, utf8_of(arena, 0x1F600));
    assert_int_equal(entity_key_check(text_bytes(&key)), OK);
    text_add_char(&key, 'a');
    assert_int_equal(entity_key_check(text_bytes(&key)), E_KeyValueTooLarge);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entity_has_a_size),
        cmocka_unit_test(an_entity_has_limits),
        cmocka_unit_test(a_merge_keeps_what_is_not_named),
        cmocka_unit_test(a_record_comes_back),
        cmocka_unit_test(a_record_is_read_in_steps),
        cmocka_unit_test(records_of_version_1_stay),
        cmocka_unit_test(keys_keep_the_order_of_utf16),
        cmocka_unit_test(keys_have_no_control_characters),
        cmocka_unit_test(keys_have_a_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
