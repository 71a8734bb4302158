/* What a commit may do when there is no room above the reserve: what gives back as much as it takes, and
 * little more in records that stand. The disk is played by wrapped functions. admission.h */
#include "conformance.h"

#include <string.h>

#include "store/embedded/disk_space.h"

bool __real_disk_space_admits(struct disk_space *space, uint64_t bytes, uint64_t pending);
bool __wrap_disk_space_admits(struct disk_space *space, uint64_t bytes, uint64_t pending);
bool __wrap_disk_space_overdraw(struct disk_space *space, uint64_t bytes);

static bool is_full, may_overdraw;
static uint64_t overdrawn;

bool __wrap_disk_space_admits(struct disk_space *space, uint64_t bytes, uint64_t pending)
{
    return !is_full && __real_disk_space_admits(space, bytes, pending);
}

bool __wrap_disk_space_overdraw(struct disk_space *space, uint64_t bytes)
{
    (void)space;
    overdrawn = bytes;
    return may_overdraw;
}

#define STANDING 10000u /* bytes of the record "stands" */

static void put(struct fixture *f, struct changes *changes, const char *key, size_t length)
{
    char *value = arena_bytes(f->arena, length);

    memset(value, 'v', length);
    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_of(value, length), NULL, 0);
}

/* As it is tried on a disk that is full, or has room. */
static enum store_result commit_on(struct fixture *f, bool full, const struct changes *changes)
{
    enum store_result result;

    is_full = full;
    overdrawn = 0;
    result = commit_new(f->store, f->partition, changes, NULL);
    is_full = false;
    return result;
}

static void begin(struct fixture *f)
{
    struct changes *changes = changes_new(f->arena);

    may_overdraw = false;
    put(f, changes, "stands", STANDING);
    assert_int_equal(commit_on(f, false, changes), STORE_OK);
}

static enum store_result put_on_full(struct fixture *f, const char *key, size_t length)
{
    struct changes *changes = changes_new(f->arena);

    put(f, changes, key, length);
    return commit_on(f, true, changes);
}

static void new_records_are_refused(void **state)
{
    struct fixture *f = *state;

    begin(f);
    may_overdraw = true;
    assert_int_equal(put_on_full(f, "new", 10), STORE_FULL);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "new"), "(none)");
}

static void what_stands_may_grow_a_little(void **state)
{
    struct fixture *f = *state;

    begin(f);
    assert_int_equal(put_on_full(f, "stands", STANDING), STORE_OK);
    assert_int_equal(put_on_full(f, "stands", STANDING + 200), STORE_FULL);
    may_overdraw = true;
    assert_int_equal(put_on_full(f, "stands", STANDING + 200), STORE_OK);
    assert_in_range(overdrawn, 100, 200);
    assert_int_equal(put_on_full(f, "stands", STANDING + 200 + 400), STORE_FULL);
}

static void deletions_are_admitted(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);

    begin(f);
    changes_delete(changes, RECORD_LISTED, bytes_from_string("stands"));
    assert_int_equal(commit_on(f, true, changes), STORE_OK);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "stands"), "(none)");
}

/* A deletion may put what is left of it: as much as it deletes, and 4 KiB. */
static void deletions_leave_something(void **state)
{
    struct fixture *f = *state;
    static const size_t lengths[] = { 4000, STANDING + 4000, STANDING + 5000 };

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct changes *changes = changes_new(f->arena);

        begin(f);
        put(f, changes, "left", lengths[i]);
        changes_delete(changes, RECORD_LISTED, bytes_from_string("stands"));
        assert_int_equal(commit_on(f, true, changes), i < 2 ? STORE_OK : STORE_FULL);
        if (i < 2)
            delete_key(f->store, f->partition, "left");
    }
}

/* So may who drops a space. */
static void dropped_spaces_leave_something(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena), *more = changes_new(f->arena);

    put(f, changes, "left", 4000);
    changes_drop_space(changes, partition_of(guid_new(), "other").space);
    assert_int_equal(commit_on(f, true, changes), STORE_OK);
    put(f, more, "more", 5000);
    changes_drop_space(more, partition_of(guid_new(), "other").space);
    assert_int_equal(commit_on(f, true, more), STORE_FULL);
}

/* One that deletes what is not there gives nothing back. */
static void nothing_is_deleted(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);

    begin(f);
    put(f, changes, "left", 5000);
    changes_delete(changes, RECORD_LISTED, bytes_from_string("nothing"));
    assert_int_equal(commit_on(f, true, changes), STORE_FULL);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(new_records_are_refused, STORES_ON_DISK),
        TEST(what_stands_may_grow_a_little, STORES_ON_DISK),
        TEST(deletions_are_admitted, STORES_ON_DISK),
        TEST(deletions_leave_something, STORES_ON_DISK),
        TEST(dropped_spaces_leave_something, STORES_ON_DISK),
        TEST(nothing_is_deleted, STORES_ON_DISK),
    };

    return conformance_run("admission", tests, sizeof tests / sizeof tests[0]);
}
