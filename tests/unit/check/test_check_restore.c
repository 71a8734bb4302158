/* After a salvage a share is whole again, of what was left of it: check/restore.c. */
#include "tree_world.h"

#include <string.h>

#include "file/share_usage.h"
#include "service/names.h"
#include "tree/tree.h"

static void expect(struct world *w, const char *said)
{
    const char *all = salvage(w->f);

    if (!strstr(all, said))
        fail_msg("%s does not say: %s", all, said);
}

/* ---- what is in the folder that was saved ---- */

static struct store *open_salvaged(struct world *w)
{
    struct store_options options = { .location = w->f->salvaged, .must_exist = true, .sync = true };
    const char *problem = "";

    assert_int_equal(store_open_embedded(&options, &w->f->store, &problem), STORE_OK);
    return w->f->store;
}

/* The id that a name has in a directory; 0: none. */
static uint64_t entry_of(struct world *w, uint64_t directory, const char *key)
{
    struct store *store = open_salvaged(w);
    struct read_view *before = read_view_open(store, node(w, directory), STORE_MAY_BLOCK);
    struct tree_entry entry;
    enum store_result found =
        tree_entry_read(before, w->f->arena, TREE_CASE_IGNORED,
                        &(struct tree_name){ .key = bytes_from_string(key) }, &entry);

    read_view_close(before);
    store_close(store);
    return found ? 0 : entry.id;
}

static uint64_t found_as(struct world *w, uint64_t id, const char *name)
{
    char key[64];

    snprintf(key, sizeof key, "%016llX-%s", (unsigned long long)id, name);
    return entry_of(w, entry_of(w, TREE_ROOT, "LOST+FOUND"), key);
}

/* ---- tests ---- */

/* Rule: names in a directory that is gone, which nobody can reach, go, also where nothing else of the share is lost. */
static void missing_directory_record(void **state)
{
    struct world w = begin(*state);
    struct changes *changes = changes_new(w.f->arena);
    struct tree_entry entry = { .id = 78, .written = 1, .kind = TREE_FILE };

    assert_int_equal(
        tree_name_parse(w.f->arena, TREE_CASE_IGNORED, bytes_from_string("f"), &entry.name), 0);
    tree_entry_put(changes, &entry);
    commit(w.f, node(&w, 77), changes);
    salvage_whole(w.f);
}

/* Rule: what was in a directory whose record is lost is found under its id, with all that is below it. */
static void lost_directory(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), below = make(&w, "e/s", TREE_DIRECTORY);
    uint64_t file = make(&w, "e/f", TREE_FILE), deep = make(&w, "e/s/t", TREE_FILE);

    take_away(&w, directory, RECORD_LISTED, "n");
    expect(&w, "its directory is lost\n");
    assert_int_equal(found_as(&w, file, "F"), file);
    assert_int_equal(found_as(&w, below, "S"), below);
    assert_int_equal(entry_of(&w, below, "T"), deep);
    assert_int_equal(entry_of(&w, TREE_ROOT, "E"), 0);
}

/* Rule: a name that is lost is given again, and one without a file goes. */
static void lost_names(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), file = make(&w, "e/f", TREE_FILE);
    uint64_t other = make(&w, "e/g", TREE_FILE);

    take_away(&w, directory, RECORD_INNER, "eF");
    take_away(&w, other, RECORD_LISTED, "n");
    expect(&w, "its directory entry, which was restored\n");
    assert_non_null(strstr(w.f->said, "the file or directory named G\n"));
    assert_int_equal(entry_of(&w, directory, "F"), file);
    assert_int_equal(entry_of(&w, directory, "G"), 0);
}

/* Rule: numbers of entries, sums and snapshots are those of what is there. */
static void numbers(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), file = make(&w, "e/f", TREE_FILE);
    struct changes *changes = changes_new(w.f->arena);
    struct arena *arena = w.f->arena;

    take_away(&w, directory, RECORD_INNER, "E");
    share_usage_put(changes, arena, 12345);
    commit(w.f, share_usage_partition(arena, w.space, share_usage_part(file)), changes);
    changes = changes_new(arena);
    changes_delete(changes, RECORD_INNER, bytes_from_string("m"));
    changes_delete(changes, RECORD_INNER, bytes_from_string("k"));
    commit(w.f, tree_stamp_partition(w.space), changes);
    take_away(&w, directory, RECORD_INNER, "eF");
    expect(&w, "2 files in 1 shares");
}

/* Rule: of a circle of directories one comes out. */
static void directory_cycle(void **state)
{
    struct world w = begin(*state);
    uint64_t above = make(&w, "e", TREE_DIRECTORY), below = make(&w, "e/s", TREE_DIRECTORY);
    struct changes *changes = changes_new(w.f->arena);
    struct tree_node at = { .kind = TREE_DIRECTORY, .parent = below };

    assert_int_equal(
        tree_name_parse(w.f->arena, TREE_CASE_IGNORED, bytes_from_string("e"), &at.name), 0);
    tree_node_put(changes, &at);
    commit(w.f, node(&w, above), changes);
    expect(&w, "its directory is lost\n");
    assert_true(found_as(&w, above, "E") == above || found_as(&w, below, "S") == below);
}

/* Rule: of two with one name the later keeps it. */
static void duplicate_name(void **state)
{
    struct world w = begin(*state);
    uint64_t first = make(&w, "e", TREE_FILE), second = make(&w, "f", TREE_FILE);
    struct changes *changes = changes_new(w.f->arena);
    struct tree_node at = { .kind = TREE_FILE, .parent = TREE_ROOT };

    assert_int_equal(
        tree_name_parse(w.f->arena, TREE_CASE_IGNORED, bytes_from_string("e"), &at.name), 0);
    tree_node_put(changes, &at);
    commit(w.f, node(&w, second), changes);
    expect(&w, "another file or directory has its name\n");
    assert_int_equal(entry_of(&w, TREE_ROOT, "E"), first > second ? first : second);
    assert_int_equal(found_as(&w, first > second ? second : first, "E"),
                     first > second ? second : first);
}

/* Rule: a file without its record is lost, a directory gets a new one. */
static void lost_records(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), file = make(&w, "e/f", TREE_FILE);

    take_away(&w, directory, RECORD_INNER, "f");
    take_away(&w, file, RECORD_INNER, "f");
    expect(&w, "its record, and with it the file's contents\n");
    assert_non_null(strstr(w.f->said, "its properties\n"));
    assert_int_equal(entry_of(&w, TREE_ROOT, "E"), directory);
    assert_int_equal(entry_of(&w, directory, "F"), 0);
}

/* Rule: a share whose record is lost is there under another name, with all that is in it. */
static void lost_share(void **state)
{
    struct world w = begin(*state);
    struct changes *changes = changes_new(w.f->arena);

    make(&w, "e", TREE_FILE);
    share_delete_record(changes, w.f->arena, share_itself);
    share_delete_record(changes, w.f->arena, (struct share_key){ .snapshot = TICKS_PER_SECOND });
    commit(w.f, named("file", "share"), changes);
    expect(&w, "lost     the record of a share: its files are in the share salvaged-1\n");
    assert_non_null(strstr(w.f->said, "2 files in 1 shares"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(missing_directory_record, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_names, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(directory_cycle, setup, teardown),
        cmocka_unit_test_setup_teardown(duplicate_name, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_records, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_share, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
