/* Keys and rows of a shard: order, no 00, and what is damaged is noticed. store/rados/row_key.h,
 * shard_rows.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "store/rados/limb.h"
#include "store/rados/routes.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_rows.h"

static int set_up(void **state)
{
    *state = arena_new(16u << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

/* Around the two bytes that are escaped, and the greatest. */
static const struct bytes keys[] = {
    BYTES(""),
    BYTES("\0"),
    BYTES("\0\0"),
    BYTES("\0\x01"),
    BYTES("\0a"),
    BYTES("\x01"),
    BYTES("\x01\0"),
    BYTES("\x01\x01"),
    BYTES("\x01\x02"),
    BYTES("\x01"
          "a"),
    BYTES("\x02"),
    BYTES("a"),
    BYTES("a\0"),
    BYTES("a\x01"),
    BYTES("ab"),
    BYTES("\xff"),
    BYTES("\xff\xff"),
};
#define KEYS (sizeof keys / sizeof keys[0])

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

/* Rows lie in the order of (partition, record), and are read as they were written. */
static void records(void **state)
{
    for (size_t i = 0; i < KEYS * KEYS; i++) {
        struct bytes p = keys[i / KEYS], r = keys[i % KEYS];

        for (enum record_family family = RECORD_LISTED; family <= RECORD_INNER; family++) {
            struct bytes row = row_key_record(*state, family, p, r);
            struct row_name name;

            assert_null(memchr(row.ptr, '\0', row.len));
            assert_true(row_key_read(row, *state, &name));
            assert_int_equal(name.kind, family == RECORD_LISTED ? ROW_LISTED : ROW_INNER);
            assert_true(bytes_equal(name.partition_key, p));
            assert_true(bytes_equal(name.record_key, r));
            for (size_t j = 0; j < KEYS * KEYS; j += 5) {
                struct bytes q = keys[j / KEYS], s = keys[j % KEYS];
                int order = bytes_compare(p, q);

                if (order == 0)
                    order = bytes_compare(r, s);
                assert_int_equal(sign(bytes_compare(row, row_key_record(*state, family, q, s))),
                                 sign(order));
            }
        }
    }
}

/* Where a limb ends lies behind its last record, and before any greater one, in each family. */
static void ends_of_limbs(void **state)
{
    for (size_t i = 0; i < KEYS * KEYS; i++) {
        struct bytes p = keys[i / KEYS], last = keys[i % KEYS];

        for (enum record_family family = RECORD_LISTED; family <= RECORD_INNER; family++) {
            struct bytes end = row_key_limb(*state, family, p, last);
            struct row_name name;

            assert_null(memchr(end.ptr, '\0', end.len));
            assert_true(row_key_read(end, *state, &name));
            assert_int_equal(name.kind, ROW_LIMB);
            assert_int_equal(name.family, family);
            assert_true(bytes_equal(name.partition_key, p));
            assert_true(bytes_equal(name.record_key, last));
            for (size_t j = 0; j < KEYS * KEYS; j++) {
                struct bytes q = keys[j / KEYS], r = keys[j % KEYS];
                int order = bytes_compare(p, q);

                if (order == 0)
                    order = bytes_compare(last, r) < 0 ? -1 : 1;
                assert_int_equal(sign(bytes_compare(end, row_key_record(*state, family, q, r))),
                                 sign(order));
            }
        }
    }
}

/* Each bit of them is looked at. */
static void rows_of_limbs(void **state)
{
    for (size_t i = 0; i < KEYS; i++) {
        const struct limb_row limb = { { { 1, 2, 3 } }, 7 + i, keys[i] };
        const struct partition home = { { { 9, 8 } }, keys[i] };
        struct bytes rows[2] = { limb_row_write(*state, &limb), limb_home_write(*state, &home) };
        struct limb_row read;
        struct partition found;

        assert_true(limb_row_read(rows[0], &read));
        assert_true(guid_equal(&read.space, &limb.space));
        assert_int_equal(read.version, limb.version);
        assert_true(bytes_equal(read.lo, limb.lo));
        assert_true(limb_home_read(rows[1], &found));
        assert_true(guid_equal(&found.space, &home.space));
        assert_true(bytes_equal(found.key, home.key));
        for (unsigned kind = 0; kind < 2; kind++)
            for (size_t bit = 0; bit < 8 * rows[kind].len; bit++) {
                struct bytes row = arena_copy(*state, rows[kind]);

                ((char *)(uintptr_t)row.ptr)[bit / 8] ^= (char)(1u << bit % 8);
                assert_false(limb_row_read(row, &read) || limb_home_read(row, &found));
                row.len = bit / 8;
                assert_false(limb_row_read(row, &read) || limb_home_read(row, &found));
            }
    }
}

/* What has a right checksum, and makes no sense. */
static void hostile_rows_of_limbs(void **state)
{
    const struct limb_row absent = { { { 1 } }, 0, keys[3] },
                          many_lanes = { { { [15] = 2 } }, 1, keys[3] };
    const struct limb_row whole = { { { 1 } }, 1, BYTES("abc") };
    struct bytes value, row = limb_row_write(*state, &whole);
    struct limb_row read;
    struct partition home;

    assert_false(limb_row_read(limb_row_write(*state, &absent), &read));
    assert_false(limb_row_read(limb_row_write(*state, &many_lanes), &read));
    assert_true(row_value_read(row, &value));
    for (size_t length = 0; length <= value.len + 1; length++) {
        struct text cut;

        text_init(&cut, *state, 64);
        text_add(&cut, bytes_of(value.ptr, length < value.len ? length : value.len));
        if (length > value.len)
            text_add_char(&cut, 'x');
        assert_int_equal(limb_row_read(row_value_write(*state, text_bytes(&cut)), &read),
                         length == value.len);
        if (length < 17)
            assert_false(limb_home_read(row_value_write(*state, text_bytes(&cut)), &home));
    }
}

static void other_rows(void **state)
{
    struct row_name name;

    assert_true(row_key_read(row_key_bounds(), *state, &name));
    assert_int_equal(name.kind, ROW_BOUNDS);
    assert_true(row_key_read(row_key_fence(*state, 0xfedc0123), *state, &name));
    assert_int_equal(name.kind, ROW_FENCE);
    assert_int_equal(name.incarnation, 0xfedc0123);
    for (size_t i = 0; i < KEYS; i++) {
        assert_true(row_key_read(row_key_header(*state, keys[i]), *state, &name));
        assert_int_equal(name.kind, ROW_HEADER);
        assert_true(bytes_equal(name.partition_key, keys[i]));
        assert_true(bytes_compare(row_key_bounds(), row_key_header(*state, keys[i])) < 0);
    }
}

static void malformed_keys(void **state)
{
    static const struct bytes malformed[] = {
        BYTES(""),
        BYTES("B"),
        BYTES("AA"),
        BYTES("F"),
        BYTES("F1234567"),
        BYTES("F123456789"),
        BYTES("Fxxxxxxxx"),
        BYTES("L"),
        BYTES("Lp"),
        BYTES("Lp\x01"),
        BYTES("Lp\x01\x04"),
        BYTES("L\0\x01\x01r"),
        BYTES("Lp\x01\x01\x01"),
        BYTES("Lp\x01\x01r\x01\x01r"),
        BYTES("Pp\x01\x01ir\x01\x01\x01\x01"),
        BYTES("HH"),
        BYTES("Pp\x01\x01"),
        BYTES("Pp\x01\x01x"),
        BYTES("Pp\x01\x01hh"),
    };
    struct row_name name;

    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        assert_false(row_key_read(malformed[i], *state, &name));
}

/* A partition is in one lane, and all lanes are used. */
static void lanes(void **state)
{
    struct guid space = { .b = { 0x5a } };
    char name[SHARD_NAME_SIZE];
    unsigned used[16] = { 0 };

    (void)state;
    for (unsigned log2 = 0; log2 < 8; log2++) {
        space.b[15] = (uint8_t)(0xf8 | log2);
        assert_int_equal(space_lanes(&space), log2 < 4 ? 1u << log2 : 16);
    }
    for (unsigned i = 0; i < 1000; i++)
        used[partition_lane(&space, bytes_of(&i, sizeof i))]++;
    for (unsigned i = 0; i < 16; i++)
        assert_in_range(used[i], 30, 100);
    shard_name(&space, 11, 0xabcd, name);
    assert_string_equal(name, "s.5a0000000000000000000000000000ff.0b.000000000000abcd");
}

static void bounds(void **state)
{
    struct shard_bounds given = { .state = SHARD_LIVE,
                                  .is_moving = true,
                                  .epoch = 3,
                                  .stamp = 4,
                                  .next = 5,
                                  .incarnation_floor = 6,
                                  .move_to = 7,
                                  .lo = BYTES("b"),
                                  .hi = BYTES("d\0"),
                                  .move_from = BYTES("c") },
                        read;
    struct bytes row = shard_bounds_write(*state, &given);
    char *bytes = (char *)(uintptr_t)row.ptr;

    assert_int_equal(shard_bounds_read(row, &read), STORE_OK);
    assert_int_equal(read.state, SHARD_LIVE);
    assert_int_equal(read.epoch, 3);
    assert_int_equal(read.stamp, 4);
    assert_int_equal(read.next, 5);
    assert_int_equal(read.incarnation_floor, 6);
    assert_int_equal(read.move_to, 7);
    assert_true(read.is_moving && !read.is_empty);
    assert_true(bytes_equal(read.move_from, given.move_from));
    assert_false(shard_bounds_is_moving(&read, (struct bytes)BYTES("b")));
    assert_true(shard_bounds_is_moving(&read, (struct bytes)BYTES("c")));
    assert_true(bytes_equal(read.lo, given.lo) && bytes_equal(read.hi, given.hi));
    assert_false(shard_bounds_have(&read, (struct bytes)BYTES("a")));
    assert_true(shard_bounds_have(&read, (struct bytes)BYTES("b")));
    assert_true(shard_bounds_have(&read, (struct bytes)BYTES("d")));
    assert_false(shard_bounds_have(&read, (struct bytes)BYTES("d\0")));
    given.hi = (struct bytes){ NULL, 0 };
    assert_true(shard_bounds_have(&given, (struct bytes)BYTES("\xff")));

    for (size_t i = 0; i < row.len; i++) {
        bytes[i] ^= 4;
        assert_int_equal(shard_bounds_read(row, &read), STORE_CORRUPT);
        bytes[i] ^= 4;
        assert_int_equal(shard_bounds_read(bytes_of(row.ptr, i), &read), STORE_CORRUPT);
    }
}

/* The shard that partitions are moved to has none of them, or all. */
static void filled(void **state)
{
    const struct shard_bounds from = { .hi = BYTES("t"), .move_from = BYTES("m") };
    struct shard_bounds to = { .lo = BYTES("t"), .is_empty = true };

    (void)state;
    assert_false(shard_bounds_are_filled(&from, &to));
    assert_false(shard_bounds_have(&to, (struct bytes)BYTES("z")));
    to.is_empty = false;
    assert_false(shard_bounds_are_filled(&from, &to));
    to.lo = from.move_from;
    assert_true(shard_bounds_are_filled(&from, &to));
    assert_true(shard_bounds_have(&to, (struct bytes)BYTES("z")));
}

/* A greater epoch asks for a gap, but not where anything else has changed. decision: 845 */
static void touched(void **state)
{
    const struct shard_bounds before = { .state = SHARD_LIVE, .epoch = 5, .stamp = 1, .next = 2 };
    struct shard_bounds others[11];

    (void)state;
    for (unsigned i = 0; i < 11; i++) {
        others[i] = before;
        others[i].epoch++;
    }
    assert_true(shard_bounds_were_touched(&before, &others[0]));
    others[0].epoch = before.epoch;
    others[1].epoch = before.epoch - 1;
    others[2].state = SHARD_SEALED;
    others[3].is_moving = true;
    others[4].is_empty = true;
    others[5].stamp++;
    others[6].next++;
    others[7].incarnation_floor++;
    others[8].move_to++;
    others[9].lo = (struct bytes)BYTES("a");
    others[10].hi = (struct bytes)BYTES("a");
    for (unsigned i = 0; i < 11; i++)
        assert_false(shard_bounds_were_touched(&before, &others[i]));
    others[10] = before;
    others[10].epoch++;
    others[10].move_from = (struct bytes)BYTES("a");
    assert_false(shard_bounds_were_touched(&before, &others[10]));
}

/* Rows of partitions from one on begin behind all of those before it, right behind the place before them. */
static void places(void **state)
{
    for (size_t i = 0; i < KEYS; i++) {
        struct bytes begin = row_key_begin(*state, 'L', keys[i]),
                     before = row_key_before(*state, 'L', keys[i]);

        assert_true(bytes_equal(row_key_behind(*state, before), begin));
        assert_true(bytes_equal(row_key_place(*state, begin), keys[i]));
        assert_true(bytes_equal(row_key_place(*state, before), keys[i]));
        for (size_t j = 0; j < KEYS; j++) {
            struct bytes row = row_key_record(*state, RECORD_LISTED, keys[j], keys[i]);

            assert_true(bytes_equal(row_key_place(*state, row), keys[j]));
            assert_int_equal(bytes_compare(row, begin) < 0, bytes_compare(keys[j], keys[i]) < 0);
            assert_int_equal(bytes_compare(row, before) < 0, bytes_compare(keys[j], keys[i]) < 0);
        }
    }
    assert_int_equal(row_key_place(*state, (struct bytes)BYTES("L")).len, 0);
}

/* What is learned of a lane says with which shard to begin, in any order; and nothing of other lanes. */
static void routes(void **state)
{
    struct routes *routes = routes_new();
    const struct guid space = { { 7, [15] = 4 } };

    (void)state;
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("x")), 0);
    routes_learn(routes, &space, 1, (struct bytes)BYTES("t"), 5, (struct bytes)BYTES("t"));
    routes_learn(routes, &space, 1, (struct bytes)BYTES("k"), 9, (struct bytes)BYTES("k"));
    routes_learn(routes, &space, 1, (struct bytes)BYTES("m"), 5, (struct bytes)BYTES("m"));
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("")), 0);
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("jj")), 0);
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("k")), 9);
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("lz")), 9);
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("n")), 5);
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("z")), 5);
    assert_int_equal(routes_find(routes, &space, 2, (struct bytes)BYTES("z")), 0);
    /* Shard 5, which began with "m", has been given what is before, and has given away what is from "d" on. */
    routes_learn(routes, &space, 1, (struct bytes)BYTES("d"), 7, (struct bytes)BYTES("n"));
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("d")), 7);
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("n")), 7);
    for (uint32_t i = 0; i < ROUTES_MAX; i++) {
        char key[8];

        be32_put(key, i);
        routes_learn(routes, &space, 3, bytes_of(key, 4), i + 1, bytes_of(key, 4));
    }
    assert_int_equal(routes_find(routes, &space, 1, (struct bytes)BYTES("z")), 0);
    routes_free(routes);
}

static void shard_names(void **state)
{
    const struct guid space = { { 0x5a, [15] = 0xff } };
    char name[SHARD_NAME_SIZE];
    struct guid read;
    unsigned lane;
    uint64_t number;

    (void)state;
    shard_name(&space, 11, UINT64_MAX, name);
    assert_true(shard_name_read(name, &read, &lane, &number));
    assert_true(guid_equal(&read, &space));
    assert_int_equal(lane, 11);
    assert_true(number == UINT64_MAX && !shard_name_is_first(name));
    name[2 + 32 + 2] = 'x';
    assert_false(shard_name_read(name, &read, &lane, &number));
    shard_name(&space, 15, 0, name);
    assert_true(shard_name_read(name, &read, &lane, &number) && shard_name_is_first(name));
}

static void headers(void **state)
{
    struct partition_header header = { .version = 0 }, read;
    struct bytes row = partition_header_write(*state, &header);
    char *bytes;

    assert_int_equal(row.len, 0);
    assert_int_equal(partition_header_read(row, &read), STORE_OK);
    assert_int_equal(read.version, 0);
    header = partition_header_after(&header, 100, (struct attempt){ 1, 7 });
    header = partition_header_after(&header, 90, (struct attempt){ 2, 8 });
    assert_int_equal(header.version, 101); /* above the one before, whatever the clock says */
    row = partition_header_write(*state, &header);
    assert_int_equal(partition_header_read(row, &read), STORE_OK);
    assert_memory_equal(&read, &header, sizeof header);
    bytes = (char *)(uintptr_t)row.ptr;
    for (size_t i = 0; i < row.len; i++) {
        bytes[i] ^= 4;
        assert_int_equal(partition_header_read(row, &read), STORE_CORRUPT);
        bytes[i] ^= 4;
        if (i > 0)
            assert_int_equal(partition_header_read(bytes_of(row.ptr, i), &read), STORE_CORRUPT);
    }
}

/* Who has limbs keeps them, whether it is locked or not; any other flag is refused. */
static void flags_of_headers(void **state)
{
    const struct attempt attempts[2] = { { 1, 7 }, { 2, 8 } };
    struct partition_header header = { .version = 1, .has_limbs = true }, read;

    header = partition_header_after(&header, 5, attempts[0]);
    assert_true(header.has_limbs);
    for (unsigned locked = 0; locked < 2; locked++) {
        struct bytes row, plain;

        if (locked)
            header.lock = (struct partition_lock){ .transaction = attempts[1], .version_to_be = 9 };
        row = partition_header_write(*state, &header);
        assert_int_equal(partition_header_read(row, &read), STORE_OK);
        assert_true(partition_header_equal(&read, &header));
        read.has_limbs = false;
        assert_false(partition_header_equal(&read, &header));
        plain = bytes_of(row.ptr, row.len - 4);
        for (unsigned flags = 0; flags < 256; flags++) {
            struct bytes changed = arena_copy(*state, plain);

            ((char *)(uintptr_t)changed.ptr)[1] = (char)flags;
            assert_int_equal(partition_header_read(row_value_write(*state, changed), &read),
                             (flags & ~2u) == locked ? STORE_OK : STORE_CORRUPT);
        }
    }
    assert_true(partition_header_settled(&header).has_limbs);
    assert_true(partition_header_unlocked(&header).has_limbs);
}

/* A refusal is a conflict only while the header remembers all attempts since. decision: 396 */
static void outcomes(void **state)
{
    const struct attempt mine = { 1, 1 };

    (void)state;
    for (unsigned before = 0; before <= 6; before++) {
        for (unsigned others = 0; others <= 6; others++) {
            struct partition_header seen = { .version = 0 }, now, applied, becomes;
            bool is_known = others < HEADER_ATTEMPTS;

            for (unsigned i = 0; i < before; i++)
                seen = partition_header_after(&seen, 0, (struct attempt){ 2, i + 1 });
            now = seen;
            applied = becomes = partition_header_after(&seen, 0, mine);
            for (unsigned i = 0; i < others; i++) {
                now = partition_header_after(&now, 0, (struct attempt){ 3 + i, 1 });
                applied = partition_header_after(&applied, 0, (struct attempt){ 3 + i, 1 });
            }
            assert_int_equal(partition_header_outcome(&now, &seen, &becomes, mine),
                             others == 0 ? STORE_WAIT
                             : is_known  ? STORE_CONFLICT
                                         : STORE_UNKNOWN);
            assert_int_equal(partition_header_outcome(&applied, &seen, &becomes, mine),
                             others < HEADER_ATTEMPTS ? STORE_OK : STORE_UNKNOWN);
        }
    }
}

/* Nor is the outcome of a front end's first commit unknown, however often others have written since it looked: what is
 * older than its own would be pushed out before that. decision: 808 */
static void first_of_a_writer(void **state)
{
    const struct attempt mine = { 9, 1 };

    (void)state;
    for (unsigned writers = 1; writers <= 6; writers++)
        for (unsigned before = 1; before <= 6; before++) {
            struct partition_header seen = { .version = 0 }, becomes, now, applied;
            bool is_known = writers < HEADER_ATTEMPTS;

            for (unsigned i = before; i > 0; i--)
                seen = partition_header_after(&seen, 0, (struct attempt){ i, 1 });
            becomes = applied = partition_header_after(&seen, 0, mine);
            now = seen;
            for (unsigned i = 0; i < 5 * writers; i++) {
                const struct attempt other = { 1 + i % writers, 2 + i };

                now = partition_header_after(&now, 0, other);
                applied = partition_header_after(&applied, 0, other);
            }
            assert_int_equal(partition_header_outcome(&applied, &seen, &becomes, mine),
                             is_known ? STORE_OK : STORE_UNKNOWN);
            assert_int_equal(partition_header_outcome(&now, &seen, &becomes, mine),
                             is_known ? STORE_CONFLICT : STORE_UNKNOWN);
        }
}

/* One front end may write as often as it likes: it does not push out what others, or itself, have done before.
 * decision: 480 */
static void one_writer(void **state)
{
    const struct partition_header absent = { .version = 0 };
    const struct attempt mine = { 1, 9 };
    struct partition_header seen = partition_header_after(&absent, 0, (struct attempt){ 1, 1 });
    struct partition_header becomes = partition_header_after(&seen, 0, mine);
    struct partition_header now = seen, applied = becomes, own = seen;

    (void)state;
    for (uint64_t i = 1; i <= 20; i++) {
        now = partition_header_after(&now, 0, (struct attempt){ 2, i });
        applied = partition_header_after(&applied, 0, (struct attempt){ 2, i });
        own = partition_header_after(&own, 0, (struct attempt){ 1, 10 + i });
        assert_int_equal(partition_header_outcome(&now, &seen, &becomes, mine), STORE_CONFLICT);
        assert_int_equal(partition_header_outcome(&applied, &seen, &becomes, mine), STORE_OK);
        assert_int_equal(partition_header_outcome(&own, &seen, &becomes, mine), STORE_CONFLICT);
    }
}

/* Nor has it written over those of one who has never written to the partition: as long as a place is free, that one's first
 * attempt was not applied, however often others have written since. decision: 823 */
static void newcomer(void **state)
{
    const struct partition_header absent = { .version = 0 };
    const struct attempt mine = { 9, 1 };

    (void)state;
    for (uint32_t others = 1; others <= HEADER_ATTEMPTS; others++) {
        struct partition_header seen = absent, becomes, now, applied;

        for (uint32_t i = 1; i <= others; i++)
            seen = partition_header_after(&seen, 0, (struct attempt){ i, 1 });
        becomes = applied = partition_header_after(&seen, 0, mine);
        now = seen;
        for (uint64_t round = 2; round <= 4; round++)
            for (uint32_t i = 1; i <= others; i++) {
                now = partition_header_after(&now, 0, (struct attempt){ i, round });
                applied = partition_header_after(&applied, 0, (struct attempt){ i, round });
            }
        assert_int_equal(partition_header_outcome(&now, &seen, &becomes, mine),
                         others < HEADER_ATTEMPTS ? STORE_CONFLICT : STORE_UNKNOWN);
        assert_int_equal(partition_header_outcome(&applied, &seen, &becomes, mine),
                         others < HEADER_ATTEMPTS ? STORE_OK : STORE_UNKNOWN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_of_limbs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_limbs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_rows_of_limbs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_keys, set_up, tear_down),
        cmocka_unit_test(lanes),
        cmocka_unit_test_setup_teardown(bounds, set_up, tear_down),
        cmocka_unit_test(touched),
        cmocka_unit_test(filled),
        cmocka_unit_test_setup_teardown(places, set_up, tear_down),
        cmocka_unit_test(routes),
        cmocka_unit_test(shard_names),
        cmocka_unit_test_setup_teardown(headers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flags_of_headers, set_up, tear_down),
        cmocka_unit_test(outcomes),
        cmocka_unit_test(first_of_a_writer),
        cmocka_unit_test(one_writer),
        cmocka_unit_test(newcomer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
