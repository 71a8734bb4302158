/* The stored form of a share: what is written is read, and nothing else is taken for it. */
#include "fixture.h"

#include "file/file.h"
#include "service/names.h"

static const struct partition place = { .key = BYTES("share") };

static void write(struct fixture *f, struct arena *arena, struct share_key key,
                  const struct share *share)
{
    struct read_view *before = read_view_open(store_of(f), place, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    share_write(changes, arena, key, share);
    assert_int_equal(store_commit(store_of(f), &part, 1, 1, STORE_MAY_BLOCK, &sequence), STORE_OK);
    read_view_close(before);
}

static struct share sample(void)
{
    return (struct share){
        .space = { .b = { 1, 2, 3 } },
        .generation = 77,
        .created = 1000,
        .etag = { .v = 1001 },
        .modified = 1002,
        .lease = { .id = { .b = { 9 } }, .kind = 1, .duration_s = 15, .ends = 5000 },
        .quota_gib = SHARE_QUOTA_MAX_GIB,
        .tier = SHARE_COOL,
        .tier_changed = 1003,
        .has_moved = true,
        .moved_from = SHARE_HOT,
        .snapshots = SHARE_SNAPSHOTS_MAX,
        .newest_snapshot = 10000000,
        .metadata = BYTES("meta"),
        .policies = BYTES("policies"),
        .expires = 20000000,
        .task = { .b = { 4, 5 } },
    };
}

/* Rule: each field survives. */
static void round_trip(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new(1 << 16);
    struct share in = sample(), out, snapshot = sample();
    struct read_view *before;

    snapshot.generation = 76;
    write(f, arena, share_itself, &in);
    write(f, arena, share_snapshot_key(10000000), &snapshot);
    before = read_view_open(store_of(f), place, STORE_MAY_BLOCK);
    assert_int_equal(share_read(before, arena, share_itself, &out), STORE_OK);
    assert_memory_equal(out.space.b, in.space.b, sizeof in.space.b);
    assert_int_equal(out.generation, 77);
    assert_int_equal(out.created, 1000);
    assert_int_equal(out.etag.v, 1001);
    assert_int_equal(out.modified, 1002);
    assert_int_equal(out.lease.kind, 1);
    assert_int_equal(out.lease.ends, 5000);
    assert_int_equal(out.quota_gib, SHARE_QUOTA_MAX_GIB);
    assert_int_equal(out.tier, SHARE_COOL);
    assert_int_equal(out.tier_changed, 1003);
    assert_true(out.has_moved);
    assert_int_equal(out.moved_from, SHARE_HOT);
    assert_int_equal(out.snapshots, SHARE_SNAPSHOTS_MAX);
    assert_int_equal(out.newest_snapshot, 10000000);
    assert_bytes(out.metadata, "meta");
    assert_bytes(out.policies, "policies");
    assert_int_equal(out.expires, 20000000);
    assert_memory_equal(out.task.b, in.task.b, sizeof in.task.b);
    assert_int_equal(share_read(before, arena, share_snapshot_key(10000000), &out), STORE_OK);
    assert_int_equal(out.generation, 76);
    assert_int_equal(share_read(before, arena, share_snapshot_key(20000000), &out),
                     STORE_NOT_FOUND);
    read_view_close(before);
    arena_free(arena);
}

/* The record of version 1, byte by byte: a later version still reads it. */
static const char version_1[] = "\x01"
                                "\x01\x02\x03\0\0\0\0\0\0\0\0\0\0\0\0\0";

/* Rule: whatever is cut off, or is not of this form, is no record. */
static void malformed(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct fixture *f = *state;
    struct share in = sample(), out;
    struct read_view *before;
    struct record record;
    struct share_key key;

    write(f, arena, share_itself, &in);
    before = read_view_open(store_of(f), place, STORE_MAY_BLOCK);
    assert_int_equal(read_view_get(before, RECORD_LISTED, bytes_from_string("s"), arena, &record),
                     STORE_OK);
    assert_memory_equal(record.value.ptr, version_1, sizeof version_1 - 1);
    assert_true(share_decode(bytes_from_string("s"), record.value, &out, &key));
    assert_int_equal(key.snapshot, 0);
    for (size_t i = 0; i < record.value.len; i++)
        assert_false(
            share_decode(bytes_from_string("s"), bytes_of(record.value.ptr, i), &out, &key));
    assert_false(share_decode(bytes_from_string("c"), record.value, &out, &key));
    assert_false(share_decode(bytes_from_string("S"), record.value, &out, &key));
    assert_false(share_decode(bytes_from_string("S1234567"), record.value, &out, &key));
    assert_true(share_decode(bytes_from_string("S12345678"), record.value, &out, &key));
    assert_true(key.snapshot > 0 && key.deleted == 0);
    read_view_close(before);
    arena_free(arena);
}

/* Rule: records of deleted shares lie before those of the share that is there, in the order of their
 * deletions, snapshots before their share; and nothing else has such keys. */
static void keys(void **state)
{
    static const struct share_key in_order[] = {
        { .deleted = 5, .snapshot = 3 },
        { .deleted = 5 },
        { .deleted = 256, .snapshot = 7 },
        { .deleted = 256, .snapshot = 260 },
        { .deleted = 256 },
        { .snapshot = 1 },
        { .snapshot = 300 },
        { .deleted = 0 },
    };
    static const char *const none[] = { "",
                                        "D",
                                        "D12345678",
                                        "D12345678S",
                                        "D12345678S1234567",
                                        "D12345678ss",
                                        "D12345678S12345678s",
                                        "D12345678D12345678s",
                                        "ss",
                                        "S12345678s",
                                        "x" };
    struct arena *arena = arena_new(1 << 16);
    struct bytes before = { NULL, 0 };
    struct share_key key;

    (void)state;
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        struct bytes text = share_record_key(arena, in_order[i]);

        assert_true(share_key_read(text, &key));
        assert_int_equal(key.deleted, in_order[i].deleted);
        assert_int_equal(key.snapshot, in_order[i].snapshot);
        assert_int_equal(share_key_is_whole(text), in_order[i].snapshot == 0);
        assert_true(i == 0 || bytes_compare(before, text) < 0);
        before = text;
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(share_key_read(bytes_from_string(none[i]), &key));
    assert_false(share_key_read(bytes_of("D\0\0\0\0\0\0\0\0s", 10), &key));
    assert_false(share_key_read(bytes_of("S\0\0\0\0\0\0\0\0", 9), &key));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, fixture_setup, fixture_teardown),
        cmocka_unit_test(keys),
        cmocka_unit_test_setup_teardown(malformed, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
