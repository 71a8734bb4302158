/* What a step of content_collect() holds and deletes has a bound, whatever clients left behind: many
 * parts in a unit, many generations of a page, many notes that name nothing. decision: 245 */
#include "fixture.h"

#define SECTOR 512u
#define UNIT   (256u << 10)

static size_t deletes;

void __real_changes_delete(struct changes *changes, enum record_family family, struct bytes key);
void __wrap_changes_delete(struct changes *changes, enum record_family family, struct bytes key);

void __wrap_changes_delete(struct changes *changes, enum record_family family, struct bytes key)
{
    deletes++;
    __real_changes_delete(changes, family, key);
}

/* As the runner does it. Every step has at most these deletes, and holds at most 8 MiB. */
static void collect_all(struct fixture *f, size_t deletes_max)
{
    bool more = true;

    while (more) {
        struct arena *arena = arena_new((size_t)64 << 20);
        struct changes *changes = changes_new(arena);
        struct commit_part part = { read_view_open(f->store, f->partition, STORE_MAY_BLOCK),
                                    changes };
        uint64_t sequence;

        deletes = 0;
        assert_int_equal(content_collect(part.snapshot, changes, arena, 1000, &more), STORE_OK);
        assert_true(deletes <= deletes_max);
        assert_true(arena_held(arena) <= (size_t)8 << 20);
        if (!changes_empty(changes))
            assert_int_equal(
                store_commit(f->store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                STORE_OK);
        read_view_close(part.snapshot);
        arena_free(arena);
    }
}

#define UNITS 300u

/* Units of 256 parts, in one change: every other sector. */
static void write_every_other(struct fixture *f, struct content *content, uint64_t *stamp)
{
    size_t count = UNIT / SECTOR / 2;
    struct content_range *ranges = arena_array(f->arena, count, sizeof ranges[0]);
    struct bytes data = fixture_random_bytes(f, count * SECTOR);

    for (uint64_t unit = 0; unit < UNITS; unit++) {
        struct arena_mark mark = arena_mark(f->arena);
        struct body body = fixture_body(f, data, PIECE_MAX_BYTES);

        for (size_t i = 0; i < count; i++) {
            ranges[i] = (struct content_range){ .start = unit * UNIT + 2 * i * SECTOR };
            ranges[i].end = ranges[i].start + SECTOR;
        }
        fixture_begin(f);
        assert_int_equal(
            content_write_ranges(f->before, f->changes, content, ++*stamp, &body, ranges, count),
            STORE_OK);
        fixture_commit(f);
        arena_rewind(f->arena, mark);
    }
}

/* A clear of units that have many parts each is done in steps that hold little. */
static void many_parts(void **state)
{
    struct fixture *f = *state;
    uint64_t stamp = 7;
    struct content content = content_sparse(stamp, (uint64_t)UNITS * UNIT);
    bool more = false;

    write_every_other(f, &content, &stamp);
    fixture_begin(f);
    assert_int_equal(content_clear(f->before, f->changes, f->arena, &content, ++stamp, SECTOR,
                                   content.length - 2 * SECTOR, &more),
                     STORE_OK);
    fixture_commit(f);
    assert_true(more);
    collect_all(f, 2000);
    assert_int_equal(fixture_record_count(f), 1); /* the first sector is behind the range */
    assert_int_equal(fixture_piece_bytes(f), UNIT / 2);
}

/* One change of many units that have many parts each holds what it writes, not what it read of them.
 * rest: Incremental-Copy-Blob */
static void many_ranges(void **state)
{
    struct fixture *f = *state;
    uint64_t stamp = 7;
    struct content content = content_sparse(stamp, (uint64_t)UNITS * UNIT);
    struct content_range ranges[UNITS];
    size_t held;

    write_every_other(f, &content, &stamp);
    for (size_t i = 0; i < UNITS; i++)
        ranges[i] = (struct content_range){ i * UNIT, i * UNIT + SECTOR, true };
    held = arena_held(f->arena);
    fixture_begin(f);
    assert_int_equal(content_write_ranges(f->before, f->changes, &content, ++stamp,
                                          &(struct body){ .length = 0 }, ranges, UNITS),
                     STORE_OK);
    assert_true(arena_held(f->arena) - held < UNITS * (size_t)(48 << 10));
    fixture_commit(f);
}

#define SNAPSHOTS 4000u

static void write_page(struct fixture *f, struct content *content, uint64_t stamp)
{
    char page[16] = { 0 };
    struct body body = { .length = sizeof page, .inline_bytes = { page, sizeof page } };

    memcpy(page, &stamp, sizeof stamp);
    assert_int_equal(
        content_write(f->before, f->changes, f->arena, content, stamp, stamp % 2 * 4096, &body),
        STORE_OK);
}

/* Deletes the snapshots from..to-1 in one change, from the newest on. */
static void delete_snapshots(struct fixture *f, struct content *content,
                             const struct content *snapshots, size_t from, size_t to)
{
    bool more = false;

    fixture_begin(f);
    for (size_t i = to; i-- > from;)
        assert_int_equal(
            content_snapshot_delete(f->before, f->changes, &snapshots[i], content, &more),
            STORE_OK);
    fixture_commit(f);
}

/* A unit that thousands of generations changed is collected in steps too, between two generations that
 * stay and when the last of them go. */
static void many_generations(void **state)
{
    struct fixture *f = *state;
    uint64_t stamp = 100;
    struct content content = content_sparse(stamp, UNIT);
    struct content *snapshots = arena_array(f->arena, SNAPSHOTS, sizeof snapshots[0]);
    struct bytes first, got;

    for (size_t i = 0; i < SNAPSHOTS; i++) {
        struct arena_mark mark = arena_mark(f->arena);

        fixture_begin(f);
        write_page(f, &content, ++stamp);
        snapshots[i] = content_snapshot(f->changes, &content);
        fixture_commit(f);
        arena_rewind(f->arena, mark);
    }
    assert_int_equal(fixture_read(f, &snapshots[1], 0, UNIT, UNIT, &first), STORE_OK);
    delete_snapshots(f, &content, snapshots, 2, SNAPSHOTS - 1);
    collect_all(f, 2000);
    assert_int_equal(fixture_read(f, &snapshots[1], 0, UNIT, UNIT, &got), STORE_OK);
    assert_memory_equal(first.ptr, got.ptr, UNIT);
    delete_snapshots(f, &content, snapshots, 0, 2);
    collect_all(f, 2000);
    assert_int_equal(fixture_read(f, &content, 0, UNIT, UNIT, &first), STORE_OK);
    delete_snapshots(f, &content, snapshots, SNAPSHOTS - 1, SNAPSHOTS);
    collect_all(f, 2000);
    assert_int_equal(fixture_read(f, &content, 0, UNIT, UNIT, &got), STORE_OK);
    assert_memory_equal(first.ptr, got.ptr, UNIT);
    assert_int_equal(fixture_record_count(f), 3); /* two pages; the newest generation is noted */
}

#define NOTES 20000u

/* Notes whose records are gone already cost their own deletion. */
static void many_empty_notes(void **state)
{
    struct fixture *f = *state;

    fixture_begin(f);
    for (uint64_t i = 1; i <= NOTES; i++)
        content_leave_blocks(f->changes, i, bytes_from_string("v"), false);
    fixture_commit(f);
    collect_all(f, 1000);
    assert_int_equal(fixture_record_count(f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_parts, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(many_ranges, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(many_generations, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(many_empty_notes, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
