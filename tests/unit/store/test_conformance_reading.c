/* Scans and iterators: byte order of (partition key, record key) whatever bytes are in the keys,
 * from any place, nothing of a neighbour. store.h */
#include "conformance.h"

#include <assert.h>

static const struct bytes nothing = { NULL, 0 };

#define LONG_KEY_BYTES 1500
static char long_a[LONG_KEY_BYTES], long_b[LONG_KEY_BYTES], huge[5000];

/* In byte order. Those that begin with others, that hold 00 or FF, and long ones that differ at
 * their end only. */
static const struct bytes odd_keys[] = {
    BYTES(""),
    BYTES("\0"),
    BYTES("\0\0"),
    BYTES("\0\x01"),
    BYTES("\0\x01\0\x01"),
    BYTES("\0\xff"),
    BYTES("\x01"),
    BYTES("a"),
    BYTES("a\0"),
    BYTES("a\0\0"),
    BYTES("a\0\x01"),
    BYTES("a\0b"),
    BYTES("a\0\xff"),
    BYTES("a\0\xff\x01"),
    BYTES("a\x01"),
    BYTES("a/"),
    BYTES("a/b"),
    BYTES("aa"),
    BYTES("ab"),
    BYTES("a\xff"),
    BYTES("a\xff\xff"),
    BYTES("b"),
    { long_a, sizeof long_a },
    { long_b, sizeof long_b },
    { huge, sizeof huge },
    BYTES("\x7f"),
    BYTES("\x80"),
    BYTES("\xc3\xa9"),
    BYTES("\xff"),
    BYTES("\xff\0"),
    BYTES("\xff\xff"),
    BYTES("\xff\xff\xff"),
};
#define ODD_KEYS (sizeof odd_keys / sizeof odd_keys[0])

static void make_long_keys(void)
{
    memset(long_a, 'k', sizeof long_a);
    memset(long_b, 'k', sizeof long_b);
    memset(huge, 'm', sizeof huge);
    long_b[sizeof long_b - 1] = 'l';
    for (size_t i = 1; i < ODD_KEYS; i++)
        assert(bytes_compare(odd_keys[i - 1], odd_keys[i]) < 0);
}

/* The value of an odd key is its place in the table. */
static struct bytes place_value(struct arena *arena, size_t place)
{
    return arena_printf(arena, "%zu", place);
}

/* Puts all odd keys, in an order that is none. */
static void put_odd_keys(struct fixture *f, struct partition partition, enum record_family family)
{
    struct changes *changes = changes_new(f->arena);

    for (size_t i = 0; i < ODD_KEYS; i++) {
        size_t place = i * 7 % ODD_KEYS; /* 7 has no factor in common with the number of keys */

        changes_put(changes, family, odd_keys[place], place_value(f->arena, place), NULL, 0);
    }
    assert_int_equal(commit_new(f->store, partition, changes, NULL), STORE_OK);
}

/* A scan from a place, under a prefix, gives exactly the keys of the table that it should. */
static void check_scan(struct fixture *f, struct read_view *snapshot, struct bytes prefix,
                       struct bytes from)
{
    struct scan *scan = scan_open(snapshot, RECORD_LISTED, prefix, from);
    struct record record;

    for (size_t i = 0; i < ODD_KEYS; i++) {
        if (!bytes_has_prefix(odd_keys[i], prefix) || bytes_compare(odd_keys[i], from) < 0)
            continue;
        assert_int_equal(scan_next(scan, i % 2 ? f->arena : NULL, &record), STORE_OK);
        assert_true(bytes_equal(record.key, odd_keys[i]));
        assert_true(bytes_equal(record.value, place_value(f->arena, i)));
    }
    assert_int_equal(scan_next(scan, NULL, &record), STORE_NOT_FOUND);
    assert_int_equal(scan_next(scan, NULL, &record), STORE_NOT_FOUND); /* and stays there */
    scan_close(scan);
}

/* Rule: a scan gives the records of its family and prefix, from its place on, in byte order. */
static void scans_are_in_byte_order(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;

    put_odd_keys(f, f->partition, RECORD_LISTED);
    put_text(f->store, f->partition, "an inner one", "listed");
    delete_key(f->store, f->partition, "an inner one");
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    for (size_t p = 0; p < ODD_KEYS; p++)
        for (size_t from = 0; from < ODD_KEYS; from++)
            check_scan(f, snapshot, odd_keys[p], odd_keys[from]);
    read_view_close(snapshot);
}

/* Rule: each key is its own, however odd: it is got, changed and deleted alone. */
static void odd_keys_are_apart(void **state)
{
    struct fixture *f = *state;

    put_odd_keys(f, f->partition, RECORD_LISTED);
    put_odd_keys(f, f->partition, RECORD_INNER);
    for (size_t gone = 0; gone < ODD_KEYS; gone++) {
        struct changes *changes = changes_new(f->arena);
        struct read_view *snapshot;
        struct record record;

        changes_delete(changes, RECORD_LISTED, odd_keys[gone]);
        assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
        snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
        for (size_t i = 0; i < ODD_KEYS; i++) {
            assert_int_equal(read_view_get(snapshot, RECORD_LISTED, odd_keys[i], f->arena, &record),
                             i <= gone ? STORE_NOT_FOUND : STORE_OK);
            assert_int_equal(read_view_get(snapshot, RECORD_INNER, odd_keys[i], f->arena, &record),
                             STORE_OK);
            assert_true(bytes_equal(record.value, place_value(f->arena, i)));
        }
        read_view_close(snapshot);
    }
}

/* Rule: what a scan gives into an arena outlives it. */
static void scanned_records_stay_in_the_arena(void **state)
{
    struct fixture *f = *state;
    struct record records[ODD_KEYS];
    struct read_view *snapshot;
    struct scan *scan;

    put_odd_keys(f, f->partition, RECORD_LISTED);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    for (size_t i = 0; i < ODD_KEYS; i++)
        assert_int_equal(scan_next(scan, f->arena, &records[i]), STORE_OK);
    scan_close(scan);
    read_view_close(snapshot);
    for (size_t i = 0; i < ODD_KEYS; i++) {
        assert_true(bytes_equal(records[i].key, odd_keys[i]));
        assert_true(bytes_equal(records[i].value, place_value(f->arena, i)));
    }
}

/* ---- iterators ---- */

static struct partition odd_partition(const struct fixture *f, size_t place)
{
    return (struct partition){ f->partition.space, odd_keys[place] };
}

/* Each odd key as a partition, with the records "", 00, FF and an inner one. */
static const struct bytes few_keys[] = { BYTES(""), BYTES("\0"), BYTES("\xff") };
#define FEW_KEYS (sizeof few_keys / sizeof few_keys[0])

static void put_odd_partitions(struct fixture *f)
{
    for (size_t i = 0; i < ODD_KEYS; i++) {
        size_t place = i * 7 % ODD_KEYS;
        struct changes *changes = changes_new(f->arena);

        for (size_t k = 0; k < FEW_KEYS; k++)
            changes_put(changes, RECORD_LISTED, few_keys[k], place_value(f->arena, place), NULL, 0);
        changes_put(changes, RECORD_INNER, bytes_from_string("inner"), nothing, NULL, 0);
        assert_int_equal(commit_new(f->store, odd_partition(f, place), changes, NULL), STORE_OK);
    }
}

/* The iterator's next records are those of the table from (partition, record) on, to its end or to
 * `most` of them. */
static void check_iterator(struct fixture *f, struct space_iterator *iterator,
                           struct bytes from_partition, struct bytes from_record, size_t most)
{
    struct space_record found;

    for (size_t i = 0; i < ODD_KEYS; i++)
        for (size_t k = 0; k < FEW_KEYS; k++) {
            int order = bytes_compare(odd_keys[i], from_partition);

            if (order < 0 || (order == 0 && bytes_compare(few_keys[k], from_record) < 0))
                continue;
            if (most-- == 0)
                return;
            assert_int_equal(space_iterator_next(iterator, &found), STORE_OK);
            assert_true(bytes_equal(found.partition_key, odd_keys[i]));
            assert_true(bytes_equal(found.record_key, few_keys[k]));
            assert_true(bytes_equal(found.value, place_value(f->arena, i)));
        }
    assert_int_equal(space_iterator_next(iterator, &found), STORE_NOT_FOUND);
    assert_int_equal(space_iterator_next(iterator, &found), STORE_NOT_FOUND);
}

/* Rule: an iterator returns the LISTED records of a space in order of (partition key, record
 * key). */
static void spaces_are_iterated_in_byte_order(void **state)
{
    struct fixture *f = *state;
    struct space_iterator *iterator;

    put_odd_partitions(f);
    for (size_t p = 0; p < ODD_KEYS; p++)
        for (size_t k = 0; k < FEW_KEYS; k++) {
            iterator = space_iterator_open(f->store, f->partition.space, odd_keys[p], few_keys[k],
                                           STORE_MAY_BLOCK);
            check_iterator(f, iterator, odd_keys[p], few_keys[k], SIZE_MAX);
            space_iterator_close(iterator);
        }
    iterator = space_iterator_open(f->store, f->partition.space, bytes_from_string("between"),
                                   bytes_from_string("any"), STORE_MAY_BLOCK);
    check_iterator(f, iterator, bytes_from_string("between"), bytes_from_string("any"), SIZE_MAX);
    space_iterator_close(iterator);
}

/* Rule: an iterator goes on from where it was sent, forward or back, also from its end. */
static void iterators_can_seek(void **state)
{
    struct fixture *f = *state;
    struct random random = { 7 };
    struct space_iterator *iterator;

    put_odd_partitions(f);
    iterator = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    for (int i = 0; i < 300; i++) {
        struct bytes partition = odd_keys[random_below(&random, ODD_KEYS)];
        struct bytes record = few_keys[random_below(&random, FEW_KEYS)];

        space_iterator_seek(iterator, partition, record);
        check_iterator(f, iterator, partition, record,
                       i % 10 ? (size_t)random_below(&random, 5) : SIZE_MAX);
    }
    space_iterator_close(iterator);
}

/* Rule: an iterator shows one state, from open to close. design: promise 4 */
static void iterator_shows_one_state(void **state)
{
    struct fixture *f = *state;
    struct partition other = partition_of(f->partition.space, "other");
    struct space_iterator *before, *after;
    uint64_t sequence;

    put_text(f->store, f->partition, "a", "1");
    sequence = put_text(f->store, other, "b", "1");
    before = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    assert_true(space_iterator_sequence(before) >= sequence);
    put_text(f->store, f->partition, "a", "2");
    delete_key(f->store, other, "b");
    sequence = put_text(f->store, partition_of(f->partition.space, "third"), "c", "2");

    after = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    assert_true(space_iterator_sequence(after) >= sequence);
    assert_string_equal(space_text(before, f->arena), "other/b=1 partition/a=1");
    assert_string_equal(space_text(after, f->arena), "partition/a=2 third/c=2");
    space_iterator_seek(before, nothing, nothing);
    assert_string_equal(space_text(before, f->arena), "other/b=1 partition/a=1");
    space_iterator_close(before);
    space_iterator_close(after);
}

/* Rule: spaces whose ids are neighbours, also at the ends of the range of ids, are apart. */
static void neighbour_spaces_are_apart(void **state)
{
    struct fixture *f = *state;
    struct guid spaces[4] = { { { 0 } }, { { 0 } }, { { 0 } }, { { 0 } } };
    struct space_iterator *iterator;

    spaces[1].b[15] = 1;
    memset(spaces[2].b, 0xff, sizeof spaces[2].b);
    spaces[2].b[15] = 0xfe;
    memset(spaces[3].b, 0xff, sizeof spaces[3].b);
    for (size_t i = 0; i < 4; i++) {
        const char *value = arena_printf(f->arena, "%zu%c", i, 0).ptr;

        put_text(f->store, partition_of(spaces[i], ""), "", value);
        put_text(f->store, (struct partition){ spaces[i], BYTES("\xff\xff") }, "\xff", value);
    }
    for (size_t i = 0; i < 4; i++) {
        const char *expected = arena_printf(f->arena, "/=%zu \xff\xff/\xff=%zu%c", i, i, 0).ptr;

        iterator = space_iterator_open(f->store, spaces[i], nothing, nothing, STORE_MAY_BLOCK);
        assert_string_equal(space_text(iterator, f->arena), expected);
        space_iterator_close(iterator);
        assert_string_equal(get_now(f->store, partition_of(spaces[i], ""), f->arena, "\xff"),
                            "(none)");
    }
    iterator = space_iterator_open(f->store, guid_new(), nothing, nothing, STORE_MAY_BLOCK);
    assert_string_equal(space_text(iterator, f->arena), "");
    space_iterator_close(iterator);
}

/* Rule: the pieces of a record are read as they were put, by get and by scan, beside its value. */
static void pieces_are_read_with_their_record(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record got, scanned;
    struct scan *scan;

    put_stream(f->store, f->partition, "s", 2 * PIECE_MAX_BYTES + 70000, 1);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &got),
                     STORE_OK);
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    assert_int_equal(scan_next(scan, NULL, &scanned), STORE_OK);
    assert_true(bytes_is(got.value, "stream"));
    assert_true(bytes_is(scanned.value, "stream"));
    assert_true(got.piece_count >= 3);
    assert_int_equal(got.piece_count, scanned.piece_count);
    for (size_t i = 0; i < got.piece_count; i++) {
        const struct piece *a = &got.pieces[i], *b = &scanned.pieces[i];

        assert_true(a->extent == b->extent && a->offset == b->offset && a->length == b->length);
        assert_memory_equal(a->sector_crc, b->sector_crc,
                            piece_sectors(a) * sizeof a->sector_crc[0]);
    }
    scan_close(scan);
    read_view_close(snapshot);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(scans_are_in_byte_order, EVERY_STORE),
        TEST(odd_keys_are_apart, EVERY_STORE),
        TEST(scanned_records_stay_in_the_arena, EVERY_STORE),
        TEST(spaces_are_iterated_in_byte_order, EVERY_STORE),
        TEST(iterators_can_seek, EVERY_STORE),
        TEST(iterator_shows_one_state, EVERY_STORE),
        TEST(neighbour_spaces_are_apart, EVERY_STORE),
        TEST(pieces_are_read_with_their_record, EVERY_STORE),
    };

    make_long_keys();
    return conformance_run("reading", tests, sizeof tests / sizeof tests[0]);
}
