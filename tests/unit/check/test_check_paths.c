/* Paths of hierarchical containers: `lagra check` reports a file or directory without an entry, and a salvage restores it.
 * tree/tree.h, invariants; check/restore.c */
#include "fixture.h"

#include <string.h>

#include "blob/blob.h"
#include "blob/namespace.h"
#include "service/driver.h"
#include "tree/record.h"

struct world {
    struct fixture *f;
    struct guid space;
    char root[GUID_TEXT_SIZE + 1]; /* with a slash; empty: a tree of its own */
    const char *path;
    enum tree_kind kind;
    uint64_t id; /* of what was made */
};

static enum error attempt(struct decision *d, void *of)
{
    struct world *w = of;
    struct bytes name = arena_printf(d->arena, "%s%s", w->root, w->path);
    struct decision_part *part;
    struct tree_place place;
    struct tree_path path;
    struct tree tree;
    struct blob blob;

    assert_int_equal(tree_open(&tree, d, w->space, TREE_CASE_EXACT), TREE_OK);
    decision_read_clock(d);
    assert_int_equal(tree_path_parse(d->arena, TREE_CASE_EXACT, name, &path), 0);
    assert_int_equal(tree_find(&tree, &path, TREE_TO_CHANGE, &place), TREE_OK);
    assert_int_equal(tree_create(&tree, &place, w->kind, &part), TREE_OK);
    blob = namespace_new_directory(d->now);
    blob.is_directory = w->kind == TREE_DIRECTORY;
    blob_write(part->changes, d->arena, &blob);
    w->id = place.entry.id;
    return OK;
}

static uint64_t make(struct world *w, const char *path, enum tree_kind kind)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = w->f->arena,
                          .store = w->f->store,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(w->f->arena) };

    w->path = path;
    w->kind = kind;
    assert_int_equal(deciding_run_unawaited(&d, attempt, w), OK);
    deciding_end(&d);
    return w->id;
}

/* A container with "d/s", "d/s/g" and "d/F"; shared: it has a root directory in a tree of several. */
static struct world begin(struct fixture *f, bool shared)
{
    struct world w = { .f = f, .space = guid_new() };
    struct changes *changes = changes_new(f->arena);
    struct container container = { .space = w.space,
                                   .created = 1,
                                   .etag = { .v = 1 },
                                   .modified = 1,
                                   .hierarchical = true,
                                   .root = { .is_shared = shared } };

    open_store(f);
    if (shared) {
        char root[GUID_TEXT_SIZE];

        container.root.name = guid_new();
        guid_format(&container.root.name, root);
        make(&w, root, TREE_DIRECTORY);
        snprintf(w.root, sizeof w.root, "%s/", root);
    }
    container_write(changes, f->arena, &container);
    commit(f, named("blob", "lake"), changes);
    make(&w, "d", TREE_DIRECTORY);
    make(&w, "d/s", TREE_DIRECTORY);
    make(&w, "d/s/g", TREE_FILE);
    make(&w, "d/F", TREE_FILE);
    return w;
}

static struct partition node(struct world *w, uint64_t id)
{
    return tree_partition(w->f->arena, w->space, id);
}

static void take_away(struct world *w, uint64_t id, enum record_family family, struct bytes key)
{
    struct changes *changes = changes_new(w->f->arena);

    changes_delete(changes, family, key);
    commit(w->f, node(w, id), changes);
}

static void expect(const char *all, const char *said)
{
    if (!strstr(all, said))
        fail_msg("%s does not say: %s", all, said);
}

/* The id that a path has after the salvage; 0: none. */
static uint64_t salvaged(struct world *w, const char *path)
{
    struct store_options options = { .location = w->f->salvaged, .must_exist = true, .sync = true };
    struct bytes rest = arena_printf(w->f->arena, "%s%s", w->root, path), name;
    struct tree_entry entry = { .id = TREE_ROOT };
    const char *problem = "";

    assert_int_equal(store_open_embedded(&options, &w->f->store, &problem), STORE_OK);
    while (rest.len > 0) {
        struct read_view *before = read_view_open(w->f->store, node(w, entry.id), STORE_MAY_BLOCK);
        enum store_result found;

        bytes_cut(rest, '/', &name, &rest);
        found = tree_entry_read(before, w->f->arena, TREE_CASE_EXACT,
                                &(struct tree_name){ .given = name, .key = name }, &entry);
        read_view_close(before);
        if (found) {
            entry.id = 0;
            break;
        }
    }
    store_close(w->f->store);
    return entry.id;
}

/* ---- tests ---- */

static void whole(void **state)
{
    begin(*state, true);
    expect(check(*state, EXIT_SUCCESS), "damaged or lost: 0\n");
}

static void whole_alone(void **state)
{
    begin(*state, false);
    expect(check(*state, EXIT_SUCCESS), "damaged or lost: 0\n");
}

/* Rule: the path is that in the container. Case matters. */
static void missing_entry(struct fixture *f, bool shared)
{
    struct world w = begin(f, shared);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), file = make(&w, "e/f", TREE_FILE);
    uint64_t other = make(&w, "e/F", TREE_FILE);

    take_away(&w, directory, RECORD_INNER, bytes_from_string("ef"));
    expect(check(f, EXIT_FAILURE), "lake: /e/f: its parent directory has no entry for it\n");
    open_store(f);
    expect(salvage(f), "f (");
    expect(f->said, "its directory entry, which was restored\n");
    assert_int_equal(salvaged(&w, "e/f"), file);
    assert_int_equal(salvaged(&w, "e/F"), other);
}

static void missing_entry_shared(void **state)
{
    missing_entry(*state, true);
}

static void missing_entry_alone(void **state)
{
    missing_entry(*state, false);
}

/* Rule: without its blob record, what it was is unknown. */
static void entry_without_a_file(void **state)
{
    struct world w = begin(*state, true);
    uint64_t file = make(&w, "d/x", TREE_FILE);

    take_away(&w, file, RECORD_LISTED, bytes_from_string(TREE_NODE_KEY));
    take_away(&w, file, RECORD_LISTED, bytes_from_string("\xFF"));
    expect(check(w.f, EXIT_FAILURE),
           "lake: /d: it has an entry for a file or directory that does not exist\n");
    open_store(w.f);
    expect(salvage(w.f), "the file or directory named x\n");
    assert_int_equal(salvaged(&w, "d/x"), 0);
}

/* Rule: a file or directory whose location is lost gets the name that an entry has for it. */
static void lost_location(void **state)
{
    struct world w = begin(*state, true);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), file = make(&w, "e/f", TREE_FILE);

    take_away(&w, directory, RECORD_LISTED, bytes_from_string(TREE_NODE_KEY));
    take_away(&w, file, RECORD_LISTED, bytes_from_string(TREE_NODE_KEY));
    expect(salvage(w.f), "the record of its location, which was restored\n");
    assert_int_equal(salvaged(&w, "e"), directory);
    assert_int_equal(salvaged(&w, "e/f"), file);
}

static void wrong_number(void **state)
{
    struct world w = begin(*state, true);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, bytes_from_string(TREE_COUNT_KEY));
    expect(check(w.f, EXIT_FAILURE), "lake: /e: its number of entries is wrong\n");
    open_store(w.f);
    salvage_whole(w.f);
}

/* Rule: what was in a directory whose record is lost is found below the container's "lost+found". */
static void lost_directory(struct fixture *f, bool shared)
{
    struct world w = begin(f, shared);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), below = make(&w, "e/s", TREE_DIRECTORY);
    uint64_t deep = make(&w, "e/s/t", TREE_FILE);
    char name[64];

    take_away(&w, directory, RECORD_LISTED, bytes_from_string(TREE_NODE_KEY));
    take_away(&w, directory, RECORD_LISTED, bytes_from_string("\xFF"));
    expect(salvage(f), "its directory is lost\n");
    snprintf(name, sizeof name, "lost+found/%016llx-s", (unsigned long long)below);
    assert_int_equal(salvaged(&w, name), below);
    snprintf(name, sizeof name, "lost+found/%016llx-s/t", (unsigned long long)below);
    assert_int_equal(salvaged(&w, name), deep);
    assert_int_equal(salvaged(&w, "e"), 0);
}

static void lost_directory_shared(void **state)
{
    lost_directory(*state, true);
}

static void lost_directory_alone(void **state)
{
    lost_directory(*state, false);
}

/* Rule: a directory gets a new record, and a file without one, whose content is unknown, goes. */
static void lost_blob_records(void **state)
{
    struct world w = begin(*state, true);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY), file = make(&w, "e/f", TREE_FILE);
    const char base[] = "\xFF";

    take_away(&w, directory, RECORD_LISTED, bytes_from_string(base));
    take_away(&w, file, RECORD_LISTED, bytes_from_string(base));
    expect(salvage(w.f), "its properties\n");
    expect(w.f->said, "its record, and with it the file's contents\n");
    assert_int_equal(salvaged(&w, "e"), directory);
    assert_int_equal(salvaged(&w, "e/f"), 0);
}

/* Rule: the entry of a container's root directory is restored, so its paths are not taken for lost. */
static void lost_root_entry(void **state)
{
    struct world w = begin(*state, true);
    struct bytes key = arena_printf(w.f->arena, "e%.*s", GUID_TEXT_SIZE - 1, w.root);

    take_away(&w, TREE_ROOT, RECORD_INNER, key);
    expect(check(w.f, EXIT_FAILURE), "lake: its root directory is missing\n");
    open_store(w.f);
    expect(salvage(w.f), "its directory entry, which was restored\n");
    assert_true(salvaged(&w, "d/F") > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, setup, teardown),
        cmocka_unit_test_setup_teardown(whole_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_entry_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_entry_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(entry_without_a_file, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_location, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_number, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_directory_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_directory_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_blob_records, setup, teardown),
        cmocka_unit_test_setup_teardown(lost_root_entry, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
