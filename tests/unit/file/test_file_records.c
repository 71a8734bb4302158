/* The stored form of a directory or a file: what is written is read, and nothing else is taken for it. */
#include "fixture.h"

#include "file/file.h"

static const struct partition place = { .key = BYTES("file") };

static void commit(struct fixture *f, struct changes *changes)
{
    struct read_view *before = read_view_open(store_of(f), place, STORE_MAY_BLOCK);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    assert_int_equal(store_commit(store_of(f), &part, 1, 1, STORE_MAY_BLOCK, &sequence), STORE_OK);
    read_view_close(before);
}

static void write(struct fixture *f, struct arena *arena, const struct file *file)
{
    struct decision d = { .arena = arena };
    struct file_state state = { .tree = { .d = &d, .state = { .generation = 1 } } };
    struct decision_part part = { .changes = changes_new(arena) };

    d.state = &state.base;
    file_write(&d, &part, file);
    commit(f, part.changes);
}

static enum store_result read(struct fixture *f, struct arena *arena, struct file *file)
{
    struct read_view *before = read_view_open(store_of(f), place, STORE_MAY_BLOCK);
    struct decision d = { .arena = arena };
    struct tree tree = { .d = &d, .state = { .generation = 1 } };
    enum store_result result = file_read(&tree, before, arena, file);

    read_view_close(before);
    return result;
}

static struct file sample(void)
{
    return (struct file){
        .kind = TREE_FILE,
        .etag = { .v = 1001 },
        .modified = 1002,
        .attributes = ATTRIBUTE_READ_ONLY | ATTRIBUTE_ARCHIVE | ATTRIBUTE_NO_SCRUB_DATA,
        .created = 1,
        .accessed = 2,
        .written = 3,
        .changed = 4,
        .permission = UINT64_MAX,
        .metadata = BYTES("meta"),
        .content = { .form = CONTENT_SPARSE,
                     .id = 7,
                     .length = FILE_LENGTH_MAX,
                     .has_units = true,
                     .has_holes = true,
                     .without_pages = true,
                     .epoch = 5,
                     .last_retained = 4,
                     .stamp = 9,
                     .sealed_at = 8 },
        .http = { .content_type = BYTES("t"), .has_md5 = true, .md5_size = 3, .md5 = { 1, 2, 3 } },
        .lease = { .id = { .b = { 9 } }, .kind = 1, .duration_s = LEASE_INFINITE },
    };
}

/* Rule: each field survives. */
static void round_trip(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct file in = sample(), out;

    write(*state, arena, &in);
    assert_int_equal(read(*state, arena, &out), STORE_OK);
    assert_int_equal(out.kind, TREE_FILE);
    assert_int_equal(out.etag.v, 1001);
    assert_int_equal(out.modified, 1002);
    assert_int_equal(out.attributes, in.attributes);
    assert_int_equal(out.created, 1);
    assert_int_equal(out.accessed, 2);
    assert_int_equal(out.written, 3);
    assert_int_equal(out.changed, 4);
    assert_true(out.permission == UINT64_MAX);
    assert_bytes(out.metadata, "meta");
    assert_int_equal(out.content.form, CONTENT_SPARSE);
    assert_int_equal(out.content.id, 7);
    assert_true(out.content.length == FILE_LENGTH_MAX);
    assert_true(out.content.has_units && out.content.has_holes && out.content.without_pages);
    assert_int_equal(out.content.epoch, 5);
    assert_int_equal(out.content.last_retained, 4);
    assert_int_equal(out.content.stamp, 9);
    assert_int_equal(out.content.sealed_at, 8);
    assert_bytes(out.http.content_type, "t");
    assert_null(out.http.content_encoding.ptr);
    assert_true(out.http.has_md5 && out.http.md5_size == 3 && out.http.md5[2] == 3);
    assert_int_equal(out.lease.kind, 1);
    assert_int_equal(out.lease.duration_s, LEASE_INFINITE);
    in = (struct file){ .kind = TREE_DIRECTORY,
                        .etag = { .v = 1 },
                        .attributes = ATTRIBUTE_DIRECTORY };
    write(*state, arena, &in);
    assert_int_equal(read(*state, arena, &out), STORE_OK);
    assert_int_equal(out.kind, TREE_DIRECTORY);
    arena_free(arena);
}

/* Puts bytes in the place of the record. */
static enum store_result read_as(struct fixture *f, struct arena *arena, struct bytes value)
{
    struct changes *changes = changes_new(arena);
    struct file out;

    changes_put(changes, RECORD_INNER, (struct bytes)BYTES("f"), value, NULL, 0);
    commit(f, changes);
    return read(f, arena, &out);
}

/* The record of version 1, byte by byte: a later version still reads it. */
#define LONG(last) "\0\0\0\0\0\0\0" last
static const char directory_1[] = "\x01\x01\x02" LONG("\x01") LONG("\x01") "\x10" LONG("\x01")
    LONG("\x02") LONG("\x03") LONG("\x04") "\x05\x01";

/* Rule: whatever is cut off, or is not of this form, is no record. */
static void malformed(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct bytes good = bytes_of(directory_1, sizeof directory_1 - 1);
    static const struct {
        size_t at;
        char is;
    } wrong[] = { { 0, 0 },  { 1, 2 },  { 2, 0 },     { 2, 3 }, { 2, 1 },
                  { 10, 0 }, { 19, 0 }, { 19, 0x50 }, { 53, 9 } };

    assert_int_equal(read_as(*state, arena, good), STORE_OK);
    for (size_t length = 0; length < good.len; length++)
        assert_int_equal(read_as(*state, arena, bytes_of(good.ptr, length)), STORE_CORRUPT);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct bytes bad = arena_copy(arena, good);

        ((char *)(uintptr_t)bad.ptr)[wrong[i].at] = wrong[i].is;
        assert_int_equal(read_as(*state, arena, bad), STORE_CORRUPT);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(malformed, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
