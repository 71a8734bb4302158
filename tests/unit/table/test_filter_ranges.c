/* Where a filter looks: ranges of keys. filter.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "table/filter.h"

#define ARENA_CAP ((size_t)1 << 26)

static struct key_ranges ranges_of(struct arena *arena, struct bytes text)
{
    struct filter filter;
    const char *message;
    enum error e = filter_parse(arena, text, FILTER_ENTITIES, &filter, &message);

    if (e)
        fail_msg("%.*s: %s", BYTES_ARG(text), message);
    return filter_ranges(arena, &filter);
}

/* "[from,to)", 00 as '.', no end as nothing. */
static void show_interval(struct text *out, struct key_interval interval)
{
    text_add_char(out, '[');
    for (size_t i = 0; i < interval.from.len; i++)
        text_add_char(out, interval.from.ptr[i] ? interval.from.ptr[i] : '.');
    text_add_char(out, ',');
    for (size_t i = 0; i < interval.to.len; i++)
        text_add_char(out, interval.to.ptr[i] ? interval.to.ptr[i] : '.');
    text_add_string(out, interval.to.ptr ? ")" : "");
}

static const char *shown(struct arena *arena, struct key_ranges ranges)
{
    struct text out;

    text_init(&out, arena, 64);
    for (size_t i = 0; i < ranges.count; i++) {
        text_add_string(&out, i > 0 ? " " : "");
        show_interval(&out, ranges.ranges[i].partitions);
        if (ranges.ranges[i].one_partition)
            show_interval(&out, ranges.ranges[i].rows);
    }
    return arena_string(arena, text_bytes(&out));
}

/* Rule: points, ranges and prefixes under and, or and not; what is not of keys limits nothing. */
static void conditions_become_ranges(void **state)
{
    static const struct {
        const char *text, *ranges;
    } rows[] = {
        { "A eq 1", "[," },
        { "true", "[," },
        { "false", "" },
        { "PartitionKey eq 'p'", "[p,p.)[," },
        { "'p' eq PartitionKey", "[p,p.)[," },
        { "PartitionKey eq 'p' and RowKey eq 'r'", "[p,p.)[r,r.)" },
        { "RowKey eq 'r' and A eq 1 and PartitionKey eq 'p'", "[p,p.)[r,r.)" },
        { "PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'", "[p,p.)[a,b)" },
        { "PartitionKey eq 'p' and RowKey gt 'a' and RowKey le 'b'", "[p,p.)[a.,b.)" },
        { "PartitionKey eq 'p' and RowKey ne 'a'", "[p,p.)[,a) [p,p.)[a.," },
        { "PartitionKey eq 'p' and (RowKey eq 'b' or RowKey eq 'a')", "[p,p.)[a,a.) [p,p.)[b,b.)" },
        { "PartitionKey eq 'p' and (RowKey ge 'a' or RowKey lt 'b')", "[p,p.)[," },
        { "PartitionKey eq 'p' and (RowKey lt 'b' or RowKey ge 'b')", "[p,p.)[," },
        { "PartitionKey eq 'q' or PartitionKey eq 'p'", "[p,p.)[, [q,q.)[," },
        { "(PartitionKey eq 'p' and RowKey eq '1') or (PartitionKey eq 'q' and RowKey eq '2')",
          "[p,p.)[1,1.) [q,q.)[2,2.)" },
        { "PartitionKey eq 'p' or PartitionKey eq 'p'", "[p,p.)[," },
        { "PartitionKey eq 'p' or RowKey eq 'r'", "[," },
        { "PartitionKey eq 'p' or A eq 1", "[," },
        { "PartitionKey eq 'p' and PartitionKey eq 'q'", "" },
        { "PartitionKey eq 'p' and false", "" },
        { "PartitionKey ge 'p' and PartitionKey lt 'q'", "[p,q)" },
        { "PartitionKey ge 'q' and PartitionKey lt 'p'", "" },
        { "PartitionKey ge 'p' and PartitionKey lt 'q' and RowKey eq 'r'", "[p,q)" },
        { "PartitionKey ge 'p' and PartitionKey le 'p' and RowKey eq 'r'", "[p,p.)[r,r.)" },
        { "PartitionKey lt 'c' or PartitionKey ge 'b'", "[," },
        { "PartitionKey lt 'b' or PartitionKey ge 'c'", "[,b) [c," },
        { "PartitionKey lt 'c' or PartitionKey eq 'b' and RowKey eq 'r'", "[,c)" },
        { "PartitionKey ne 'p'", "[,p) [p.," },
        { "not (PartitionKey eq 'p')", "[,p) [p.," },
        { "not (PartitionKey ne 'p')", "[p,p.)[," },
        { "not (PartitionKey ge 'p' and RowKey ge 'r')", "[," },
        { "not (PartitionKey lt 'p' or PartitionKey gt 'p' or RowKey lt 'r')", "[p,p.)[r," },
        { "not (A eq 1) and PartitionKey eq 'p'", "[p,p.)[," },
        { "not (A eq 1 or PartitionKey ne 'p')", "[p,p.)[," },
        { "PartitionKey lt ''", "" },
        { "PartitionKey ge ''", "[," },
        { "PartitionKey eq ''", "[,.)[," },
        { "Timestamp gt datetime'2020-01-01' and PartitionKey gt 'x'", "[x.," },
    };
    struct arena *arena = arena_new(ARENA_CAP);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *is = shown(arena, ranges_of(arena, bytes_from_string(rows[i].text)));

        if (strcmp(is, rows[i].ranges) != 0)
            fail_msg("%s: %s", rows[i].text, is);
    }
    arena_free(arena);
}

/* Rule: keys are encoded, so that ranges have the order of UTF-16. entity.h "keys" */
static void ranges_are_of_encoded_keys(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct key_ranges ranges = ranges_of(
        arena,
        bytes_from_string("PartitionKey eq '\xEE\x80\x80' or PartitionKey eq '\xF0\x9F\x98\x80'"));

    (void)state;
    assert_int_equal(ranges.count, 2);
    assert_true(bytes_is(ranges.ranges[0].partitions.from, "\xF0\x9F\x98\x80"));
    assert_true(bytes_is(ranges.ranges[1].partitions.from, "\xF8\x80\x80"));
    arena_free(arena);
}

/* Rule: there are never more than 64; too many become fewer that hold the same. */
static void ranges_are_bounded(void **state)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct key_ranges ranges;
    struct text text;

    (void)state;
    for (int points = FILTER_RANGES_MAX; points <= FILTER_RANGES_MAX + 1; points++) {
        text_init(&text, arena, 0);
        for (int i = 0; i < points; i++)
            text_printf(&text, "%sPartitionKey eq 'p%03d'", i > 0 ? " or " : "", i);
        ranges = ranges_of(arena, text_bytes(&text));
        if (points == FILTER_RANGES_MAX)
            assert_int_equal(ranges.count, FILTER_RANGES_MAX);
        else
            assert_string_equal(shown(arena, ranges), "[p000,p064.)");
    }
    /* Points of partitions are kept before points of rows. */
    text_init(&text, arena, 0);
    text_add_string(&text, "(PartitionKey eq 'a'");
    for (int i = 0; i < 9; i++)
        text_printf(&text, " or PartitionKey eq 'p%d'", i);
    text_add_string(&text, ") and (RowKey eq 'a'");
    for (int i = 0; i < 9; i++)
        text_printf(&text, " or RowKey eq 'r%d'", i);
    text_add_string(&text, ")");
    ranges = ranges_of(arena, text_bytes(&text));
    assert_int_equal(ranges.count, 10);
    assert_true(ranges.ranges[0].one_partition);
    arena_free(arena);
}

/* ---- random filters over random entities ---- */

static const char *const keys[] = { "", "a", "b", "bb", "c", "\xEE\x80\x80", "\xF0\x9F\x98\x80" };
#define KEYS_COUNT (int)(sizeof keys / sizeof keys[0])

static uint32_t next_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static void add_random_filter(struct text *out, uint64_t *seed, int depth)
{
    static const char *const operators[] = { "eq", "ne", "gt", "ge", "lt", "le" };
    static const char *const fields[] = { "PartitionKey", "PartitionKey", "RowKey", "A" };
    const char *field = fields[next_random(seed, 4)];
    const char *key = keys[next_random(seed, (uint32_t)KEYS_COUNT)];
    uint32_t kind = depth == 0 ? 4 : next_random(seed, 6);

    if (kind < 3) {
        text_add_char(out, '(');
        add_random_filter(out, seed, depth - 1);
        text_add_string(out, kind == 0 ? ") or (" : ") and (");
        add_random_filter(out, seed, depth - 1);
        text_add_char(out, ')');
    } else if (kind == 3) {
        text_add_string(out, "not (");
        add_random_filter(out, seed, depth - 1);
        text_add_char(out, ')');
    } else if (next_random(seed, 2)) {
        text_printf(out, "%s %s '%s'", field, operators[next_random(seed, 6)], key);
    } else {
        text_printf(out, "'%s' %s %s", key, operators[next_random(seed, 6)], field);
    }
}

static bool is_within(struct bytes key, struct key_interval interval)
{
    return bytes_compare(key, interval.from) >= 0 &&
           (!interval.to.ptr || bytes_compare(key, interval.to) < 0);
}

static int ranges_with(struct arena *arena, struct key_ranges ranges, const struct entity *entity)
{
    struct bytes partition = entity_key_encode(arena, entity->partition_key);
    struct bytes row = entity_key_encode(arena, entity->row_key);
    int count = 0;

    for (size_t i = 0; i < ranges.count; i++)
        count += is_within(partition, ranges.ranges[i].partitions) &&
                 is_within(row, ranges.ranges[i].rows);
    return count;
}

/* They are in order, and none begins before the one before it ends. */
static void assert_in_order(struct key_ranges ranges)
{
    assert_true(ranges.count <= FILTER_RANGES_MAX);
    for (size_t i = 1; i < ranges.count; i++) {
        const struct key_range *a = &ranges.ranges[i - 1], *b = &ranges.ranges[i];

        if (a->one_partition && b->one_partition &&
            bytes_equal(a->partitions.from, b->partitions.from)) {
            assert_non_null(a->rows.to.ptr);
            assert_true(bytes_compare(a->rows.to, b->rows.from) < 0);
        } else {
            assert_non_null(a->partitions.to.ptr);
            assert_true(bytes_compare(a->partitions.to, b->partitions.from) <= 0);
        }
    }
}

/* Rule: every entity for which a filter holds is in exactly one of its ranges. */
static void ranges_hold_what_the_filter_finds(void **state)
{
    uint64_t seed = 20;
    int found = 0, left_out = 0;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct arena *arena = arena_new(ARENA_CAP);
        struct filter filter;
        struct key_ranges ranges;
        const char *message;
        struct text text;

        text_init(&text, arena, 256);
        add_random_filter(&text, &seed, (int)next_random(&seed, 6));
        assert_int_equal(filter_parse(arena, text_bytes(&text), FILTER_ENTITIES, &filter, &message),
                         OK);
        ranges = filter_ranges(arena, &filter);
        assert_in_order(ranges);
        for (int i = 0; i < KEYS_COUNT * KEYS_COUNT; i++) {
            struct property a = {
                BYTES("A"), { .type = EDM_STRING, .as.bytes = bytes_from_string(keys[i % 3]) }
            };
            struct entity entity = { .partition_key = bytes_from_string(keys[i / KEYS_COUNT]),
                                     .row_key = bytes_from_string(keys[i % KEYS_COUNT]),
                                     .properties = &a,
                                     .count = i % 2 == 0 };
            struct filter_subject subject = { .partition_key = entity.partition_key,
                                              .row_key = entity.row_key,
                                              .record = entity_encode(arena, &entity) };
            int within = ranges_with(arena, ranges, &entity);

            assert_true(within <= 1);
            if (filter_holds(&filter, &subject)) {
                found++;
                if (within == 0)
                    fail_msg("%s does not hold %d", arena_string(arena, text_bytes(&text)), i);
            }
            left_out += within == 0;
        }
        arena_free(arena);
    }
    assert_true(found > 1000 && left_out > 1000); /* the test tests something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_become_ranges),
        cmocka_unit_test(ranges_are_of_encoded_keys),
        cmocka_unit_test(ranges_are_bounded),
        cmocka_unit_test(ranges_hold_what_the_filter_finds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
