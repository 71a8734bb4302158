/* What an operation reads and writes does not depend on the size of the tree, and each is one commit, so
 * that a crash leaves all of it or nothing (store invariant 1). Calls are counted, not time: those
 * below are wrapped by the linker. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    unsigned opened, gets, scanned, commits, parts, changed;
} counted;

struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access);
struct read_view *__real_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access);

enum store_result __wrap_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record);
enum store_result __real_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record);
enum store_result __wrap_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record);
enum store_result __real_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record);
enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence);
enum store_result __real_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence);
void __wrap_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count);
void __real_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count);

struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access)
{
    counted.opened++;
    return __real_read_view_open(store, partition, access);
}

enum store_result __wrap_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record)
{
    counted.gets++;
    return __real_read_view_get(snapshot, family, key, arena, ret_record);
}

enum store_result __wrap_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record)
{
    counted.scanned++;
    return __real_scan_next(scan, arena, ret_record);
}

enum store_result __wrap_store_commit(struct store *store, const struct commit_part *parts,
                                      size_t count, instant now, struct store_access access,
                                      uint64_t *ret_sequence)
{
    counted.commits++;
    counted.parts = (unsigned)count;
    return __real_store_commit(store, parts, count, now, access, ret_sequence);
}

void __wrap_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count)
{
    counted.changed++;
    __real_changes_put(changes, family, key, value, pieces, piece_count);
}

static enum tree_result count(struct fixture *f, enum op_kind kind, const char *path,
                              const char *to)
{
    memset(&counted, 0, sizeof counted);
    return fixture_run(f, &(struct op){ kind, path, to, 'x', 0 }).result;
}

static unsigned entries(void)
{
    const char *wanted = getenv("LAGRA_ENTRIES");

    return wanted ? (unsigned)strtoul(wanted, NULL, 10) : 2000;
}

/* A directory "d/big" of many files, beside "e". */
static void fill(struct fixture *f)
{
    char path[64];

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    fixture_do(f, OP_MAKE_DIRECTORY, "d/big", NULL);
    fixture_do(f, OP_MAKE_DIRECTORY, "e", NULL);
    for (uint64_t i = 0; i < entries(); i++) {
        (void)snprintf(path, sizeof path, "d/big/file%07u", (unsigned)(i * 7919 % entries()));
        fixture_do(f, OP_MAKE_FILE, path, NULL);
    }
}

/* Rule: renaming a directory costs the same whatever is below it: one commit over the tree, both
 * parents and the directory. */
static void a_rename_is_small(void **state)
{
    struct fixture *f = *state;

    fill(f);
    assert_int_equal(count(f, OP_RENAME, "d/big", "e/big2"), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 4);
    assert_int_equal(counted.changed, 4); /* moves; the new entry and number; the node */
    assert_int_equal(counted.scanned, 0);
    assert_true(counted.gets <= 12);
    assert_int_equal(count(f, OP_FIND, "e/big2/file0000007", NULL), TREE_OK);
    assert_int_equal(count(f, OP_FIND, "d/big/file0000007", NULL), TREE_NO_PARENT);
}

/* Rule: a page reads what it shows and one entry more. */
static void a_page_is_small(void **state)
{
    struct fixture *f = *state;

    fill(f);
    assert_int_equal(count(f, OP_LIST, "d/big", NULL), TREE_OK);
    assert_int_equal(counted.scanned, 101);
    assert_true(counted.gets <= 6);
    assert_int_equal(count(f, OP_DELETE, "d/big", NULL), TREE_NOT_EMPTY);
    assert_int_equal(counted.scanned, 0);
    assert_int_equal(counted.commits, 0);
}

/* Rule: each change is one commit over no more than it touches. */
static void changes_are_one_commit(void **state)
{
    struct fixture *f = *state;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    assert_int_equal(count(f, OP_MAKE_FILE, "d/f", NULL), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 3); /* the tree's, as a guard, the directory, the file */
    assert_int_equal(count(f, OP_REPLACE, "d/f", NULL), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 4);
    assert_int_equal(count(f, OP_RENAME, "d/f", "d/g"), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 3);
    fixture_do(f, OP_MAKE_FILE, "f", NULL);
    assert_int_equal(count(f, OP_RENAME_OVER, "f", "d/g"), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 5);
    assert_int_equal(count(f, OP_DELETE, "d/g", NULL), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 3);
    fixture_dump(f, NULL, DUMP_SIZE);
}

/* Rule: a snapshot costs one commit of two records, whatever is in the tree, and changes are no more commits
 * and parts than without it. tree/README.md, "Snapshots" */
static void a_snapshot_is_small(void **state)
{
    struct fixture *f = *state;

    fill(f);
    assert_int_equal(count(f, OP_SNAPSHOT, "", NULL), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 1);
    assert_int_equal(counted.changed, 2);
    assert_int_equal(count(f, OP_RENAME, "d/big", "e/big2"), TREE_OK);
    assert_int_equal(counted.commits, 1);
    assert_int_equal(counted.parts, 4);
    assert_int_equal(counted.changed, 4 + 2); /* the old entry, and that there is a version */
    assert_int_equal(count(f, OP_RENAME, "e/big2", "e/big3"), TREE_OK);
    assert_int_equal(counted.changed, 3); /* no snapshot has seen it at the old place */
}

/* Rule: to read it, a path of 250 names is found by a record for each, if nothing is committed meanwhile. */
static void a_lookup_reads_its_names(void **state)
{
    struct fixture *f = *state;
    char path[2 * TREE_DEPTH_MAX + 1] = "";

    fixture_new_tree(f, TREE_CASE_IGNORED);
    for (size_t i = 0; i < TREE_DEPTH_MAX; i++) {
        if (i > 0)
            path[2 * i - 1] = '/';
        path[2 * i] = 'n';
        path[2 * i + 1] = '\0';
        fixture_do(f, OP_MAKE_DIRECTORY, path, NULL);
    }
    assert_int_equal(count(f, OP_FIND, path, NULL), TREE_OK);
    /* And the tag of the node, which is the fixture's. */
    assert_int_equal(counted.gets, TREE_DEPTH_MAX + 1);
    assert_int_equal(counted.opened, TREE_DEPTH_MAX + 2); /* the tree's, the root, each of them */
    assert_int_equal(counted.scanned, 0);
    assert_int_equal(count(f, OP_RENAME, "n", "n/n/n/x"), TREE_INTO_ITSELF);
}

/* Rule: what is in the root is read without the partition of the tree. tree/README.md, "Lookups" */
static void one_name_needs_no_stamp(void **state)
{
    struct fixture *f = *state;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_FILE, "f", NULL);
    assert_int_equal(count(f, OP_FIND, "f", NULL), TREE_OK);
    assert_int_equal(counted.opened, 2);
    assert_int_equal(count(f, OP_FIND, "g", NULL), TREE_NOT_FOUND);
    assert_int_equal(counted.opened, 1);
    assert_int_equal(count(f, OP_LIST, "", NULL), TREE_OK);
    assert_int_equal(counted.opened, 1);
}

/* ---- figures, for whoever asks: LAGRA_ENTRIES=1000000 test_cost ---- */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void repeat(struct fixture *f, enum op_kind kind, const char *path, unsigned times)
{
    double begun = seconds();

    for (unsigned i = 0; i < times; i++)
        assert_int_equal(count(f, kind, path, NULL), TREE_OK);
    print_message("%s \"%s\": %.2f us\n", kind == OP_LIST ? "list" : "find", path,
                  (seconds() - begun) / times * 1e6);
}

static void figures(void **state)
{
    struct fixture *f = *state;
    double begun = seconds();

    fill(f);
    print_message("%u entries, each %.2f us\n", entries(), (seconds() - begun) / entries() * 1e6);
    repeat(f, OP_FIND, "", 1000);
    repeat(f, OP_FIND, "d", 1000);
    repeat(f, OP_FIND, "d/big", 1000);
    repeat(f, OP_FIND, "d/big/file0000007", 1000);
    repeat(f, OP_LIST, "d/big", 200);
    begun = seconds();
    assert_int_equal(count(f, OP_RENAME, "d/big", "e/big2"), TREE_OK);
    print_message("rename: %.2f us\n", (seconds() - begun) * 1e6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rename_is_small, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_page_is_small, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(changes_are_one_commit, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_is_small, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(one_name_needs_no_stamp, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_lookup_reads_its_names, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(figures, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
