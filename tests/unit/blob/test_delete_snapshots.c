/* Delete Blob of a blob with many snapshots: a commit of bounded size after which nobody sees them, and
 * the task that deletes their records. rest: Delete-Blob "x-ms-delete-snapshots"; decision: 249 */
#include <stdlib.h>

#include "blob/snapshot_marks.h"
#include "listed.h"

#define MANY 40
#define PUT  "x-ms-blob-type: BlockBlob"
#define LIST "GET /box?restype=container&comp=list&include=snapshots"

static size_t records_deleted;

void __real_changes_delete(struct changes *changes, enum record_family family, struct bytes key);
void __wrap_changes_delete(struct changes *changes, enum record_family family, struct bytes key);

void __wrap_changes_delete(struct changes *changes, enum record_family family, struct bytes key)
{
    records_deleted++;
    __real_changes_delete(changes, family, key);
}

static int setup(void **state)
{
    int result = fixture_setup(state);

    fixture_hold_tasks(*state);
    return result;
}

static const char *take(struct fixture *f)
{
    struct reply got = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);

    assert_ok(got, 201);
    return header_of(f, &got, "x-ms-snapshot");
}

static void take_many(struct fixture *f, unsigned count, const char *ret_times[])
{
    for (unsigned i = 0; i < count; i++)
        ret_times[i] = take(f);
}

static void delete_only(struct fixture *f)
{
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 202);
}

static void delete_all(struct fixture *f)
{
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
}

static void assert_gone(struct fixture *f, const char *time)
{
    assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", time), 404, "BlobNotFound");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", time), 404, "BlobNotFound");
}

/* Rule: snapshots that were deleted are not there for anybody, before the task and behind it. */
static void nobody_sees_them(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY];

    assert_ok(ask(f, "PUT /box/b", PUT, "x"), 201);
    assert_ok(ask(f, "PUT /box/c", PUT, "x"), 201);
    take_many(f, MANY, times);
    delete_only(f);
    assert_true(count_blob_records(f, RECORD_LISTED) > 2); /* the task is needed */
    for (unsigned i = 0; i < MANY; i++)
        assert_gone(f, times[i]);
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "b c");
    run_due(store_of(f));
    assert_int_equal(count_blob_records(f, RECORD_LISTED), 1);
    for (unsigned i = 0; i < MANY; i++)
        assert_gone(f, times[i]);
    assert_ok(ask(f, "GET /box/b", NULL, NULL), 200);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_nothing_is_left(f);
}

/* Rule: a page that begins between snapshots goes on behind those that were deleted meanwhile, and shows those
 * that came later. rest: List-Blobs */
static void listing_goes_on_behind_them(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY], *early, *late;

    assert_ok(ask(f, "PUT /box/b", PUT, "x"), 201);
    take_many(f, MANY, times);
    early = next_marker(f, ask(f, LIST "&maxresults=5", NULL, NULL));
    delete_only(f);
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", early)), "b");
    (void)take(f);
    (void)take(f);
    (void)take(f);
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", early)), "b@ b@ b@ b");
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "b@ b@ b@ b");
    late = next_marker(f, ask(f, LIST "&maxresults=1", NULL, NULL));
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", late)), "b@ b@ b");
    assert_string_equal(
        listed(f, askf(f, NULL, NULL, "GET /box?restype=container&comp=list&marker=%s", late)),
        "b");
    run_due(store_of(f));
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", late)), "b@ b@ b");
}

/* Rule: a name whose snapshots and base are deleted is no group of a listing. rest: List-Blobs "delimiter" */
static void no_group_of_deleted_ones(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/d/b", PUT, "x"), 201);
    assert_ok(ask(f, "PUT /box/e", PUT, "x"), 201);
    for (unsigned i = 0; i < MANY; i++)
        assert_ok(ask(f, "PUT /box/d/b?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "DELETE /box/d/b", "x-ms-delete-snapshots: include", NULL), 202);
    /* No snapshots are asked for with a delimiter: what the mark has ended is jumped over. */
    assert_string_equal(
        listed(f, ask(f, "GET /box?restype=container&comp=list&delimiter=/", NULL, NULL)), "e");
    run_due(store_of(f));
}

/* Rule: what comes after the delete stays: a snapshot, a base of that name, and its snapshots, which a further
 * delete takes while the task of the first one is not done. */
static void later_ones_stay(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY], *later;
    struct reply got;

    assert_ok(ask(f, "PUT /box/b", PUT, "old"), 201);
    take_many(f, MANY, times);
    delete_only(f);
    later = take(f);
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", later);
    assert_body(got, "old");
    delete_all(f);
    assert_gone(f, later);
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");

    assert_ok(ask(f, "PUT /box/b", PUT, "new"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_ok(ask(f, "PUT /box/b", PUT, "new"), 201);
    delete_only(f); /* there are none */
    later = take(f);
    run_due(store_of(f));
    assert_int_equal(count_blob_records(f, RECORD_LISTED), 2);
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", later);
    assert_body(got, "new");
    delete_all(f);
    assert_nothing_is_left(f);
}

/* Rule: what a delete writes and reads does not depend on the number of snapshots; nor does a step of the
 * task. */
static void each_commit_is_small(void **state)
{
    struct fixture *f = *state;
    static const unsigned counts[] = { 20, 300 };
    size_t deleted[2];

    for (unsigned i = 0; i < 2; i++) {
        assert_ok(ask(f, "PUT /box/b", PUT, "x"), 201);
        for (unsigned n = 0; n < counts[i]; n++)
            (void)take(f);
        records_deleted = 0;
        delete_all(f);
        deleted[i] = records_deleted;
        assert_nothing_is_left(f);
    }
    assert_int_equal(deleted[0], deleted[1]);
    assert_true(deleted[0] > 1 && deleted[0] < 20);
}

/* Rule: contents that only deleted snapshots hold, and those they share with the base and later snapshots, go
 * with their last holder. content.h */
static void shared_contents_go_with_their_holders(void **state)
{
    struct fixture *f = *state;
    char *large = calloc(1, 100000);
    const char *times[MANY], *later;

    for (unsigned i = 0; i < MANY / 10; i++) {
        large[0] = (char)i;
        assert_ok(ask_bytes(f, "PUT /box/b", PUT, bytes_of(large, 100000)), 201);
        take_many(f, 10, times);
    }
    free(large);
    assert_int_equal(bytes_kept(f), MANY / 10 * 100000);
    delete_only(f);
    later = take(f);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 100000);
    assert_ok(ask(f, "PUT /box/b", PUT, "small"), 201);
    assert_ok(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", later), 200);
    delete_all(f);
    assert_nothing_is_left(f);
}

static void append(struct fixture *f)
{
    char *bytes = calloc(1, 20000); /* a piece */

    assert_ok(ask_bytes(f, "PUT /box/b?comp=appendblock", NULL, bytes_of(bytes, 20000)), 201);
    free(bytes);
}

/* Rule: of an append blob's bytes those stay that its holders have. content.h, content_delete_tail() */
static void appended_bytes_go_with_their_holders(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY];
    struct reply got;

    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: AppendBlob", NULL), 201);
    for (unsigned i = 0; i < MANY; i++) {
        append(f);
        times[i] = take(f);
    }
    delete_only(f);
    append(f);
    times[0] = take(f);
    append(f);
    assert_ok(ask(f, "PUT /box/b", PUT, "x"), 201);
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[0]);
    assert_int_equal(got.body.len, 20000 * (MANY + 1));
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 20000 * (MANY + 1));
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[0]);
    assert_int_equal(got.body.len, 20000 * (MANY + 1));
    delete_all(f);
    assert_nothing_is_left(f);
}

static void write_page(struct fixture *f, unsigned page, char with)
{
    char bytes[512];

    memset(bytes, with, sizeof bytes);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=page",
                        textf(f, "x-ms-page-write: update\nx-ms-range: bytes=%u-%u", 512 * page,
                              512 * page + 511),
                        bytes_of(bytes, sizeof bytes)),
              201);
}

static void assert_differs(struct fixture *f, const char *from, const char *ranges)
{
    struct reply got = askf(f, NULL, NULL, "GET /box/b?comp=pagelist&prevsnapshot=%s", from);

    assert_ok(got, 200);
    assert_non_null(memmem(got.body.ptr, got.body.len, ranges, strlen(ranges)));
}

/* Rule: generations of a page blob go with their snapshots; what is written before, beside and after that is
 * found by those that stay. sparse.h */
static void generations_go_with_their_snapshots(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY], *one, *two;
    struct reply got;

    assert_ok(
        ask(f, "PUT /box/b", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 8192", NULL),
        201);
    for (unsigned i = 0; i < MANY; i++) {
        write_page(f, i % 16, (char)('a' + i % 26));
        times[i] = take(f);
    }
    delete_only(f);
    write_page(f, 3, 'X');
    assert_answer(askf(f, NULL, NULL, "GET /box/b?comp=pagelist&prevsnapshot=%s", times[MANY - 1]),
                  409, "PreviousSnapshotNotFound");
    run_due(store_of(f));
    assert_int_equal(count_blob_records(f, RECORD_LISTED), 1);
    one = take(f);
    write_page(f, 5, 'Y');
    take_many(f, MANY, times);
    delete_only(f);
    two = take(f);
    write_page(f, 7, 'Z');
    assert_gone(f, one);
    assert_differs(f, two, "<PageRange><Start>3584</Start><End>4095</End></PageRange></PageList>");
    run_due(store_of(f));
    assert_differs(f, two, "<PageRange><Start>3584</Start><End>4095</End></PageRange></PageList>");
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", two);
    assert_int_equal(got.body.len, 8192);
    assert_int_equal(got.body.ptr[512 * 3], 'X');
    assert_int_equal(got.body.ptr[512 * 5], 'Y');
    assert_int_not_equal(got.body.ptr[512 * 7], 'Z');
    delete_all(f);
    assert_nothing_is_left(f);
}

/* Rule: the base forgets generations that went; so what is written later lists nothing for them. sparse.h,
 * invariant 3 */
static void base_forgets_generations(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY];
    struct read_view *snapshot;
    struct arena *arena = arena_new(1 << 20);
    struct blob base;

    assert_ok(
        ask(f, "PUT /box/b", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 8192", NULL),
        201);
    write_page(f, 1, 'a');
    take_many(f, MANY, times);
    delete_only(f);
    run_due(store_of(f));
    snapshot = open_blob(f);
    assert_int_equal(blob_read(snapshot, arena, blob_base, &base), STORE_OK);
    assert_int_equal(base.content.last_retained, 0);
    read_view_close(snapshot);
    arena_free(arena);
    delete_all(f);
    assert_nothing_is_left(f);
}

/* Writes the record of the marks as it is given; NULL: deletes it. */
static void set_marks(struct fixture *f, const char *value)
{
    struct arena *arena = arena_new(1 << 20);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { open_blob(f), changes };
    uint64_t sequence;

    if (value)
        changes_put(changes, RECORD_LISTED, snapshot_marks_key, bytes_from_string(value), NULL, 0);
    else
        changes_delete(changes, RECORD_LISTED, snapshot_marks_key);
    assert_int_equal(store_commit(store_of(f), &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(part.snapshot);
    arena_free(arena);
}

/* Rule: marks that make no sense are damage, and nothing is shown past it. promise 5 */
static void damaged_marks_are_no_answer(void **state)
{
    static const char *const values[] = { "", "\x02\x01\x02", "\x01\x03\x02", "\x01\x01\x02x",
                                          "\x01\x01" };
    struct fixture *f = *state;
    const char *time;

    assert_ok(ask(f, "PUT /box/b", PUT, "x"), 201);
    time = take(f);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        set_marks(f, values[i]);
        assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", time), 500, "InternalError");
        assert_answer(ask(f, LIST, NULL, NULL), 500, "InternalError");
        assert_answer(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 500,
                      "InternalError");
        assert_ok(ask(f, "GET /box/b", NULL, NULL), 200);
    }
    set_marks(f, NULL);
    assert_ok(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", time), 200);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(nobody_sees_them),
        TEST(listing_goes_on_behind_them),
        TEST(no_group_of_deleted_ones),
        TEST(later_ones_stay),
        TEST(each_commit_is_small),
        TEST(shared_contents_go_with_their_holders),
        TEST(appended_bytes_go_with_their_holders),
        TEST(generations_go_with_their_snapshots),
        TEST(base_forgets_generations),
        TEST(damaged_marks_are_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
