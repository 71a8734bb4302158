/* Records of pages and units: what they say is taken to its last byte and number, and nothing beyond
 * is believed. sparse.h */
#include "fixture.h"

#include "base/codec.h"
#include "content/sparse.h"

#define ID          5u
#define NUMBER      2u
#define EPOCH       3u
/* Bytes of a piece. */
#define PIECE_BYTES 10000u

struct listed_part {
    uint64_t gap, length, age;
    uint64_t index, offset; /* of a unit */
};

/* A record as it would be written, but for what a test changes. */
struct draft {
    char key[SPARSE_KEY_SIZE];
    size_t key_length;
    unsigned version;
    uint64_t count;
    struct listed_part parts[2]; /* the last again for those that follow */
    size_t listed;               /* parts in the table, whatever `count` says */
    size_t bytes;                /* behind it, of a page */
    struct piece piece;
};

static struct draft draft_of(enum sparse_kind kind, size_t count)
{
    struct draft draft = {
        .key_length = SPARSE_KEY_SIZE,
        .version = 1,
        .count = count,
        .listed = count,
        .piece = { .length = PIECE_BYTES },
    };

    sparse_key(ID, kind, NUMBER, EPOCH, draft.key);
    return draft;
}

static struct draft page_of(uint64_t gap, uint64_t length, uint64_t age)
{
    struct draft draft = draft_of(SPARSE_PAGE, 1);

    draft.parts[0] = (struct listed_part){ .gap = gap, .length = length, .age = age };
    draft.bytes = (size_t)(length < 2 * PAGE_BYTES ? length : 2 * PAGE_BYTES);
    return draft;
}

static struct draft unit_of(uint64_t length, uint64_t index, uint64_t offset)
{
    struct draft draft = draft_of(SPARSE_UNIT, 1);

    draft.parts[0] = (struct listed_part){ .length = length, .index = index, .offset = offset };
    return draft;
}

static bool decode(struct fixture *f, const struct draft *draft, struct version *ret_version)
{
    struct record record = { .key = bytes_of(draft->key, draft->key_length),
                             .pieces = &draft->piece,
                             .piece_count = 1 };
    struct text value;

    text_init(&value, f->arena, 0);
    encode_u8(&value, (uint8_t)draft->version);
    encode_u64(&value, draft->count);
    for (size_t i = 0; i < draft->listed; i++) {
        const struct listed_part *part = &draft->parts[i < 2 ? i : 1];

        encode_u64(&value, part->gap);
        encode_u64(&value, part->length);
        encode_u64(&value, part->age);
    }
    for (size_t i = 0; draft->key[0] == SPARSE_UNIT && i < draft->listed; i++) {
        encode_u64(&value, draft->parts[i].index);
        encode_u64(&value, draft->parts[i].offset);
    }
    for (size_t i = 0; i < draft->bytes; i++)
        text_add_char(&value, (char)i);
    record.value = text_bytes(&value);
    return sparse_decode(&record, f->arena, ret_version);
}

static void expect(struct fixture *f, struct draft draft, bool is_right)
{
    struct version version;

    assert_int_equal(decode(f, &draft, &version), is_right);
}

static void taken_to_the_edge(void **state)
{
    const uint64_t begin = NUMBER * PAGE_BYTES;
    struct fixture *f = *state;
    struct draft two = draft_of(SPARSE_PAGE, 2), unit;
    struct version version;

    expect(f, page_of(0, PAGE_BYTES, 0), true);
    expect(f, page_of(PAGE_BYTES - 1, 1, 0), true);
    expect(f, page_of(0, 1, UINT64_MAX - ID), true);
    expect(f, unit_of(PIECE_BYTES, 0, 0), true);
    expect(f, unit_of(1, 0, PIECE_BYTES - 1), true);

    two.parts[0] = (struct listed_part){ .gap = 3, .length = 10, .age = 1 };
    two.parts[1] = (struct listed_part){ .gap = 7, .length = PAGE_BYTES - 20, .age = 2 };
    two.bytes = PAGE_BYTES - 10;
    assert_true(decode(f, &two, &version));
    assert_int_equal(version.parts.count, 2);
    assert_int_equal(version.parts.items[0].start, begin + 3);
    assert_int_equal(version.parts.items[0].end, begin + 13);
    assert_int_equal(version.parts.items[0].stamp, ID + 1);
    assert_int_equal(version.parts.items[1].start, begin + 20);
    assert_int_equal(version.parts.items[1].end, begin + PAGE_BYTES);
    assert_int_equal(version.parts.items[1].stamp, ID + 2);
    assert_int_equal(version.parts.items[1].bytes - version.parts.items[0].bytes, 10);
    assert_true(version.found);
    assert_int_equal(version.epoch, EPOCH);

    unit = unit_of(50, 0, 70);
    assert_true(decode(f, &unit, &version));
    assert_ptr_equal(version.parts.items[0].piece, &unit.piece);
    assert_int_equal(version.parts.items[0].piece_offset, 70);
}

/* As many parts as a page has bytes. */
static void many_parts(void **state)
{
    struct draft draft = draft_of(SPARSE_PAGE, PAGE_BYTES);

    draft.parts[0].length = draft.parts[1].length = 1;
    draft.bytes = PAGE_BYTES;
    expect(*state, draft, true);
    draft.count = draft.listed = draft.bytes = PAGE_BYTES + 1;
    expect(*state, draft, false);
}

static void parts_beyond_the_page(void **state)
{
    struct fixture *f = *state;
    struct draft two = draft_of(SPARSE_PAGE, 2);

    expect(f, page_of(0, 0, 0), false);
    expect(f, page_of(0, PAGE_BYTES + 1, 0), false);
    expect(f, page_of(1, PAGE_BYTES, 0), false);
    expect(f, page_of(PAGE_BYTES, 1, 0), false);
    expect(f, page_of(PAGE_BYTES + 1, 1, 0), false);
    expect(f, page_of(UINT64_MAX, 1, 0), false);
    expect(f, page_of(1, UINT64_MAX, 0), false);
    expect(f, page_of(0, 1, UINT64_MAX - ID + 1), false);
    two.parts[0] = (struct listed_part){ .length = 10 };
    two.parts[1] = (struct listed_part){ .gap = 1, .length = PAGE_BYTES - 10 };
    two.bytes = PAGE_BYTES;
    expect(f, two, false);
}

static void bytes_that_are_not_there(void **state)
{
    struct fixture *f = *state;
    struct draft page = page_of(0, 100, 0), count = page;

    page.bytes = 99;
    expect(f, page, false);
    page.bytes = 0;
    expect(f, page, false);
    page.bytes = 101;
    expect(f, page, false);
    count.count = 2; /* the bytes are taken for the second part */
    expect(f, count, false);
    count.count = UINT64_MAX;
    expect(f, count, false);
    count.count = 0;
    expect(f, count, false);
    expect(f, unit_of(1, 1, 0), false);
    expect(f, unit_of(1, 0, PIECE_BYTES), false);
    expect(f, unit_of(1, 0, PIECE_BYTES + 1), false);
    expect(f, unit_of(PIECE_BYTES, 0, 1), false);
    expect(f, unit_of(PIECE_BYTES + 1, 0, 0), false);
    expect(f, unit_of(1, UINT64_MAX, 0), false);
    expect(f, unit_of(1, 0, UINT64_MAX), false);
}

static void other_keys_and_versions(void **state)
{
    struct fixture *f = *state;
    const uint64_t last = INT64_MAX / UNIT_BYTES - 1;
    struct draft page = page_of(0, 100, 0), unit = unit_of(100, 0, 0);

    page.version = 2;
    expect(f, page, false);
    page = page_of(0, 100, 0);
    page.key_length--;
    expect(f, page, false);
    page.key_length++;
    page.key[0] = 'q';
    expect(f, page, false);
    sparse_key(ID, SPARSE_UNIT, last, EPOCH, unit.key);
    expect(f, unit, true);
    sparse_key(ID, SPARSE_UNIT, last + 1, EPOCH, unit.key);
    expect(f, unit, false);
}

/* Parts of a page that lie together become one if both were written after what is kept: what an older generation, or
 * a reader of changes, tells apart stays apart. */
static void joins_what_need_not_be_kept_apart(void **state)
{
    const uint64_t begin = NUMBER * PAGE_BYTES;
    static const struct {
        uint64_t first, second, joins_above, gap;
        size_t count;
    } cases[] = { { 9, 8, 7, 0, 1 }, { 8, 9, 7, 0, 1 }, { 7, 9, 7, 0, 2 },
                  { 9, 7, 7, 0, 2 }, { 6, 7, 7, 0, 2 }, { 9, 9, 7, 1, 2 } };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct part items[2] = {
            { .start = begin, .end = begin + 10, .stamp = cases[i].first },
            { .start = begin + 10 + cases[i].gap, .end = begin + 30, .stamp = cases[i].second }
        };
        struct parts parts = { .arena = f->arena, .items = items, .count = 2 };
        char bytes[20] = "aaaaaaaaaabbbbbbbbbb", key[SPARSE_KEY_SIZE];
        struct version version;
        struct record record;
        struct read_view *snapshot;

        items[0].bytes = bytes;
        items[1].bytes = bytes + 10;
        items[1].end = items[1].start + 10;
        fixture_begin(f);
        sparse_put(f->changes, ID, SPARSE_PAGE, NUMBER, EPOCH, cases[i].joins_above, &parts);
        fixture_commit(f);
        snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
        assert_int_equal(read_view_get(snapshot, RECORD_INNER,
                                       sparse_key(ID, SPARSE_PAGE, NUMBER, EPOCH, key), f->arena,
                                       &record),
                         STORE_OK);
        read_view_close(snapshot);
        assert_true(sparse_decode(&record, f->arena, &version));
        assert_int_equal(version.parts.count, cases[i].count);
        assert_int_equal(version.parts.items[0].stamp, cases[i].count == 1 ? 9 : cases[i].first);
        assert_memory_equal(version.parts.items[0].bytes, bytes, sizeof bytes);
        assert_int_equal(version.parts.items[cases[i].count - 1].end, items[1].end);
    }
}

/* What the record of a blob or file says of a sparse content fits together, or is damage. content.h */
static void fields_that_do_not_fit(void **state)
{
    const struct content valid = { .id = ID,
                                   .form = CONTENT_SPARSE,
                                   .stamp = ID + 2,
                                   .sealed_at = ID + 1,
                                   .epoch = 2,
                                   .last_retained = 2 };
    struct content wrong[8];

    (void)state;
    assert_true(content_is_valid(&valid));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        wrong[i] = valid;
    wrong[0].id = 0;
    wrong[1].block_count = 1;
    wrong[2].has_runs = true;
    wrong[3].is_appended = true;
    wrong[4].stamp = ID - 1;
    wrong[4].sealed_at = 0;
    wrong[5].sealed_at = ID + 3;
    wrong[6].last_retained = 3;
    wrong[7].epoch = CONTENT_EPOCHS_MAX;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(content_is_valid(&wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(taken_to_the_edge, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(many_parts, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(parts_beyond_the_page, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(bytes_that_are_not_there, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(other_keys_and_versions, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(joins_what_need_not_be_kept_apart, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test(fields_that_do_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
