/* $filter: what is understood, what is refused, and for which entities it holds. filter.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "table/filter.h"

#define ARENA_CAP ((size_t)1 << 26)

static const struct property properties[] = {
    { BYTES("S"), { .type = EDM_STRING, .as.bytes = BYTES("it's") } },
    { BYTES("Z"), { .type = EDM_STRING, .as.bytes = BYTES("\xF0\x9F\x98\x80") } },
    { BYTES("I"), { .type = EDM_INT32, .as.integer = 12 } },
    { BYTES("L"), { .type = EDM_INT64, .as.integer = 5000000000 } },
    { BYTES("K"), { .type = EDM_INT64, .as.integer = 12 } },
    { BYTES("D"), { .type = EDM_DOUBLE, .as.real = 12.5 } },
    { BYTES("N"), { .type = EDM_DOUBLE, .as.real = __builtin_nan("") } },
    { BYTES("P"), { .type = EDM_DOUBLE, .as.real = __builtin_inf() } },
    { BYTES("B"), { .type = EDM_BOOLEAN, .as.boolean = true } },
    { BYTES("F"), { .type = EDM_BOOLEAN, .as.boolean = false } },
    /* 2012-11-10T03:04:05.2Z */
    { BYTES("W"), { .type = EDM_DATETIME, .as.time = 634881134452000000 } },
    { BYTES("G"),
      { .type = EDM_GUID,
        .as.guid = { { 0xde, 0xbc, 0x44, 0xd5, 0x04, 0xa9, 0x42, 0xea, 0xab, 0x2f, 0x4e, 0x2c, 0xb4,
                       0x9f, 0xf8, 0x33 } } } },
    { BYTES("X"), { .type = EDM_BINARY, .as.bytes = BYTES("\1\2\x32") } },
    { BYTES("\xC3\xA4_1"), { .type = EDM_INT32, .as.integer = 1 } },
};
/* 2017-01-05T03:26:33.347125Z */
static const struct entity entity = { .partition_key = BYTES("p 1"),
                                      .row_key = BYTES("r"),
                                      .timestamp = 636191835933471250ull,
                                      .properties = properties,
                                      .count = sizeof properties / sizeof properties[0] };

static struct filter parsed(struct arena *arena, const char *text, enum filter_of of)
{
    struct filter filter;
    const char *message;
    enum error e = filter_parse(arena, bytes_from_string(text), of, &filter, &message);

    if (e)
        fail_msg("%s: %s (%s)", text, error_code(e), message);
    return filter;
}

static bool holds(struct arena *arena, const char *text)
{
    struct filter filter = parsed(arena, text, FILTER_ENTITIES);
    struct filter_subject subject = { .partition_key = entity.partition_key,
                                      .row_key = entity.row_key,
                                      .record = entity_encode(arena, &entity) };

    return filter_holds(&filter, &subject);
}

struct filter_row {
    const char *text;
    bool holds;
};

static void assert_holds(const struct filter_row *rows, size_t count)
{
    struct arena *arena = arena_new(ARENA_CAP);

    for (size_t i = 0; i < count; i++)
        if (holds(arena, rows[i].text) != rows[i].holds)
            fail_msg("%s: not %d", rows[i].text, rows[i].holds);
    arena_free(arena);
}

/* Rule: literals of every type, recorded ones among them, on either side. rest:
 * Querying-Tables-and-Entities "Constructing Filter Strings" */
static void literals_of_every_type(void **state)
{
    static const struct filter_row rows[] = {
        { "PartitionKey eq 'p 1'", true },
        { "'p 1' eq PartitionKey", true },
        { "  PartitionKey\teq 'p 1'  ", true },
        { "RowKey eq 'R'", false },
        { "S eq 'it''s'", true },
        { "S eq ''''", false },
        { "S ne ''", true },
        { "I eq 12", true },
        { "I eq -12", false },
        { "\xC3\xA4_1 eq 1", true },
        { "L eq 5000000000L", true },
        { "5000000001l gt L", true },
        { "L lt -9223372036854775808L", false },
        { "D eq 12.5", true },
        { "D eq 1.25e1", true },
        { "D eq 125E-1", true },
        { "D gt 12d", true },
        { "P eq INF", true },
        { "P ne -INF", true },
        { "W eq datetime'2012-11-10T03:04:05.200Z'", true },
        { "W lt datetime'9999-12-31'", true },
        { "W gt datetime'0001-01-01T00:00:00Z'", true },
        { "Timestamp ge datetime'2017-01-05T03:26:33.347125Z'", true },
        { "Timestamp gt datetime'2017-01-05T03:26:33.347125Z'", false },
        { "G eq guid'DEBC44D5-04a9-42ea-ab2f-4e2cb49ff833'", true },
        { "G gt guid'00000000-0000-0000-0000-000000000000'", true },
        { "X eq X'010232'", true },
        { "X eq x'010232'", true },
        { "X eq binary'010232'", true },
        { "X gt X'0102'", true },
        { "X lt X'0102'", false },
        { "B eq true", true },
        { "F eq false", true },
        { "F lt true", true },
    };

    (void)state;
    assert_holds(rows, sizeof rows / sizeof rows[0]);
}

/* Rule: no comparison with a property that is not there, or of another type, holds, nor with NaN
 * but by ne; an Int32 literal is widened, no other. decision: 166 */
static void comparisons_are_typed(void **state)
{
    static const struct filter_row rows[] = {
        { "Missing eq 'x'", false },
        { "Missing ne 'x'", false },
        { "Missing lt 1", false },
        { "not (Missing eq 1)", true },
        { "I eq '12'", false },
        { "I ne '12'", false },
        { "S eq 1", false },
        { "I eq 12L", false },
        { "I eq 12.0", false },
        { "K eq 12", true },
        { "K ge 13", false },
        { "D gt 12", true },
        { "D lt 13", true },
        { "D eq 12L", false },
        { "L eq 5e9", false },
        { "W eq '2012-11-10'", false },
        { "B eq 1", false },
        { "N eq NaN", false },
        { "N ne NaN", true },
        { "N lt 1.5", false },
        { "N ge 1.5", false },
        { "i eq 12", false },
        { "partitionKey eq 'p 1'", false },
    };

    (void)state;
    assert_holds(rows, sizeof rows / sizeof rows[0]);
}

/* Rule: texts are in the order of UTF-16 code units. */
static void texts_have_the_order_of_utf16(void **state)
{
    static const struct filter_row rows[] = {
        { "Z lt '\xEE\x80\x80'", true },
        { "Z lt '\xEF\xBF\xBD'", true },
        { "Z gt '\xED\x9F\xBF'", true },
        { "Z gt 'z'", true },
        { "Z lt '\xF0\x9F\x98\x81'", true },
        { "Z gt '\xF0\x9F\x97\x80'", true },
        { "Z lt '\xF0\x9F\x98\x80\x01'", true },
        { "'\xEE\x80\x80' gt Z", true },
        { "S lt 'it''s1'", true },
        { "S gt 'it'", true },
    };

    (void)state;
    assert_holds(rows, sizeof rows / sizeof rows[0]);
}

/* Rule: `not` binds strongest, then comparisons, `and`, `or`; parentheses; a property alone.
 * decision: 165 */
static void operators_have_precedence(void **state)
{
    static const struct filter_row rows[] = {
        { "B", true },
        { "F", false },
        { "I", false },
        { "not F", true },
        { "not Missing", true },
        { "true", true },
        { "false or B", true },
        { "B and not F", true },
        { "not F and F", false },
        { "not (F and F)", true },
        { "not not B", true },
        { "not I eq 13", true },
        { "I eq 1 or I eq 12 and I eq 2", false },
        { "I eq 12 or I eq 1 and I eq 2", true },
        { "(I eq 12 or I eq 1) and I eq 2", false },
        { "((((PartitionKey eq 'p 1') and (RowKey ge 'r')) and (RowKey le 's')) and (B eq true))",
          true },
        { "(I)eq(12)", true },
        { "S eq 'it''s'and B", true },
        { "(I eq 12)and(B)", true },
        { "not(I eq 12)", false },
    };

    (void)state;
    assert_holds(rows, sizeof rows / sizeof rows[0]);
}

static const struct {
    const char *text;
    enum error e;
    const char *message; /* NULL: not looked at */
} refused[] = {
    { "", E_InvalidInput, "Syntax error at position 0 in ''." },
    { "I eq", E_InvalidInput, "Syntax error at position 4 in 'I eq'." },
    { "eq 1", E_InvalidInput, NULL },
    { "I 1", E_InvalidInput, "Syntax error at position 3 in 'I 1'." },
    { "aaa bbb ccc", E_InvalidInput, "Syntax error at position 7 in 'aaa bbb ccc'." },
    { "I EQ 1", E_InvalidInput, "Syntax error at position 4 in 'I EQ 1'." },
    { "I == 1", E_InvalidInput, NULL },
    { "I eq 1 and", E_InvalidInput, NULL },
    { "I eq 1 and and B", E_InvalidInput, NULL },
    { "(I eq 1", E_InvalidInput, NULL },
    { "I eq 1)", E_InvalidInput, "Syntax error at position 7 in 'I eq 1)'." },
    { "I eq 1)\x01", E_InvalidInput, NULL },
    { "()", E_InvalidInput, NULL },
    { "S eq 'it", E_InvalidInput, NULL },
    { "S eq \"it\"", E_InvalidInput, NULL },
    { "S eq 'a' 'b'", E_InvalidInput, NULL },
    { "I eq 12x", E_InvalidInput, NULL },
    { "I eq 12and B", E_InvalidInput, NULL },
    { "I eq 1.5f", E_InvalidInput, NULL },
    { "I eq 1.", E_InvalidInput, NULL },
    { "I eq --1", E_InvalidInput, NULL },
    { "-I eq 1", E_InvalidInput, NULL },
    { "a/b eq 1", E_InvalidInput, NULL },
    { "ts ge 5454161346626", E_InvalidInput,
      "Unrecognized 'Edm.Int32' literal '5454161346626' at '6' in 'ts ge 5454161346626'." },
    { "L eq 9223372036854775808L", E_InvalidInput, NULL },
    { "D eq 1e999", E_InvalidInput, NULL },
    { "W eq datetime'yesterday'", E_InvalidInput,
      "Unrecognized 'Edm.DateTime' literal 'datetime'yesterday'' at '5' in 'W eq "
      "datetime'yesterday''." },
    { "W eq Datetime'2012-11-10'", E_InvalidInput, NULL },
    { "G eq guid'x'", E_InvalidInput, NULL },
    { "X eq X'012'", E_InvalidInput, NULL },
    { "X eq X'0g'", E_InvalidInput, NULL },
    { "PartitionKey eq 1", E_InvalidInput,
      "A binary operator with incompatible types was detected. Found operand types "
      "'Edm.String' "
      "and 'Edm.Int32' for operator kind 'Equal'." },
    { "1L lt RowKey", E_InvalidInput,
      "A binary operator with incompatible types was detected. Found operand types 'Edm.Int64' "
      "and 'Edm.String' for operator kind 'LessThan'." },
    { "Timestamp gt '2017'", E_InvalidInput, NULL },
    { "PartitionKey", E_InvalidInput, NULL },
    { "not RowKey", E_InvalidInput, NULL },
    { "'x' and B", E_InvalidInput,
      "A binary operator with incompatible types was detected. Found operand types "
      "'Edm.String' "
      "and 'Edm.Boolean' for operator kind 'And'." },
    { "S eq null", E_InvalidInput, NULL },
    { "null ne S", E_InvalidInput, NULL },
    { "PartitionKey eq null", E_InvalidInput, NULL },
    { "not (I eq 1 or S ge null)", E_InvalidInput, NULL },
    { "null", E_InvalidInput, NULL },
    { "I eq S", E_NotImplemented, NULL },
    { "1 eq 1", E_NotImplemented, NULL },
    { "(I eq 1) eq true", E_NotImplemented, NULL },
    { "startswith(S,'i')", E_NotImplemented, NULL },
    { "length(S) eq 1", E_NotImplemented, NULL },
    { "I add 1 eq 13", E_NotImplemented, NULL },
    { "S eq '\xED\xA0\x80'", E_InvalidInput, NULL },
};

/* Rule: what is no filter, and what the service does not do. decision: 165 */
static void filters_are_refused(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct filter filter;
        const char *message = NULL;
        enum error e = filter_parse(arena, bytes_from_string(refused[i].text), FILTER_ENTITIES,
                                    &filter, &message);

        if (e != refused[i].e)
            fail_msg("%s: %s", refused[i].text, error_code(e));
        if (refused[i].message)
            assert_string_equal(message, refused[i].message);
    }
    arena_free(arena);
}

/* A text repeated, with another behind it. */
static struct bytes repeated(struct arena *arena, const char *text, int times, const char *end)
{
    struct text out;

    text_init(&out, arena, 0);
    for (int i = 0; i < times; i++)
        text_add_string(&out, text);
    text_add_string(&out, end);
    return text_bytes(&out);
}

/* Rule: 128 comparisons, 128 in one another, 32 KiB. decision: 167 */
static void filters_have_limits(void **state)
{
    static const struct {
        const char *text, *end;
        int times;
    } rows[] = {
        { "I eq 12 and ", "B", FILTER_COMPARISONS_MAX - 1 },
        { "not ", "B", FILTER_DEPTH_MAX },
        { "true or ", "B", FILTER_NODES_MAX / 2 - 1 },
    };
    struct arena *arena = arena_new(ARENA_CAP);
    struct filter filter;
    const char *message;
    struct bytes deep;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int extra = 0; extra < 2; extra++)
            assert_int_equal(
                filter_parse(arena,
                             repeated(arena, rows[i].text, rows[i].times + extra, rows[i].end),
                             FILTER_ENTITIES, &filter, &message),
                extra ? E_InvalidInput : OK);
    deep = repeated(arena, "(", FILTER_DEPTH_MAX, "B");
    for (int extra = 0; extra < 2; extra++) {
        struct bytes closed = repeated(arena, ")", FILTER_DEPTH_MAX + extra, "");

        deep = arena_printf(arena, "%.*s%.*s", BYTES_ARG(deep), BYTES_ARG(closed));
        assert_int_equal(filter_parse(arena, deep, FILTER_ENTITIES, &filter, &message),
                         extra ? E_InvalidInput : OK);
        deep = repeated(arena, "(", FILTER_DEPTH_MAX + 1, "B");
    }
    assert_int_equal(filter_parse(arena, repeated(arena, " ", FILTER_BYTES_MAX - 1, "B"),
                                  FILTER_ENTITIES, &filter, &message),
                     OK);
    assert_int_equal(filter_parse(arena, repeated(arena, " ", FILTER_BYTES_MAX, "B"),
                                  FILTER_ENTITIES, &filter, &message),
                     E_InvalidInput);
    arena_free(arena);
}

/* Rule: Query Tables filters by TableName alone. Recorded: prefixes by ge and lt '{' */
static void tables_are_filtered_by_name(void **state)
{
    static const struct filter_row rows[] = {
        { "TableName ge 'batchtests' and TableName lt 'batchtests{'", true },
        { "TableName eq 'batchteststestdata2'", true },
        { "TableName lt 'batch'", false },
        { "not (TableName eq 'x')", true },
    };
    struct filter_subject subject = { .table_name = BYTES("batchteststestdata2") };
    struct arena *arena = arena_new(ARENA_CAP);
    struct filter filter;
    const char *message;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        filter = parsed(arena, rows[i].text, FILTER_TABLES);
        assert_int_equal(filter_holds(&filter, &subject), rows[i].holds);
    }
    assert_int_equal(
        filter_parse(arena, bytes_from_string("Other eq 'x'"), FILTER_TABLES, &filter, &message),
        E_InvalidInput);
    assert_int_equal(
        filter_parse(arena, bytes_from_string("TableName eq 1"), FILTER_TABLES, &filter, &message),
        E_InvalidInput);
    arena_free(arena);
}

/* Rule: for a record of an unknown form no filter holds, "not" neither. filter.h */
static void damaged_records_are_not_found(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct bytes record = entity_encode(arena, &entity);
    struct filter filter = parsed(arena, "not (Missing eq 1)", FILTER_ENTITIES);

    (void)state;
    for (size_t cut = 0; cut <= record.len; cut++) {
        struct filter_subject subject = { .record = bytes_of(record.ptr, cut) };

        assert_int_equal(filter_holds(&filter, &subject), cut == record.len);
    }
    arena_free(arena);
}

/* Rule: what a filter takes grows with the properties and with the comparisons, not with their
 * product; texts that are compared count by their length. decision: 254 */
static void work_is_no_product(void **state)
{
    static struct property many[ENTITY_PROPERTIES_MAX];
    static const unsigned counts[] = { 1, 16, ENTITY_PROPERTIES_MAX };
    struct arena *arena = arena_new(ARENA_CAP);
    struct entity wide = { .properties = many };
    char name[8], long_text[1600];

    (void)state;
    for (size_t i = 0; i < ENTITY_PROPERTIES_MAX; i++) {
        snprintf(name, sizeof name, "P%03zu", i);
        many[i] = (struct property){ .name = arena_copy(arena, bytes_from_string(name)),
                                     .value = { .type = EDM_INT32, .as.integer = 1 } };
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (unsigned comparisons = 1; comparisons <= FILTER_COMPARISONS_MAX; comparisons *= 2) {
            struct filter_subject subject = { .steps = 0 };
            struct text text;
            struct filter filter;

            /* From the last to the first, so that the order of names is not that of the filter; each
             * name twice; one of them holds at last. */
            text_init(&text, arena, 4096);
            for (unsigned c = comparisons; c > 0; c--)
                text_printf(&text, "P%03u eq %d%s", (c - 1) / 2, c == 1, c > 1 ? " or " : "");
            filter = parsed(arena, arena_string(arena, text_bytes(&text)), FILTER_ENTITIES);
            wide.count = counts[i];
            subject.record = entity_encode(arena, &wide);
            assert_true(filter_holds(&filter, &subject));
            assert_in_range(subject.steps, counts[i], 9 * counts[i] + 4 * comparisons);
        }
    }
    memset(long_text, 'x', sizeof long_text);
    many[0].value =
        (struct edm_value){ .type = EDM_STRING, .as.bytes = bytes_of(long_text, sizeof long_text) };
    wide.count = 1;
    for (unsigned length = 16; length <= sizeof long_text; length *= 10) {
        struct filter_subject subject = { .record = entity_encode(arena, &wide) };
        struct bytes text = arena_printf(arena, "P000 gt '%.*s'", (int)length, long_text);
        struct filter filter = parsed(arena, arena_string(arena, text), FILTER_ENTITIES);

        assert_int_equal(filter_holds(&filter, &subject), length < sizeof long_text);
        assert_in_range(subject.steps, length / 16, length / 16 + 8);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_of_every_type),
        cmocka_unit_test(comparisons_are_typed),
        cmocka_unit_test(texts_have_the_order_of_utf16),
        cmocka_unit_test(operators_have_precedence),
        cmocka_unit_test(filters_are_refused),
        cmocka_unit_test(filters_have_limits),
        cmocka_unit_test(tables_are_filtered_by_name),
        cmocka_unit_test(damaged_records_are_not_found),
        cmocka_unit_test(work_is_no_product),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
