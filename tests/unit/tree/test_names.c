/* Names with and without regard to case, listings, ids. tree/tree.h */
#include "fixture.h"

#include <stdio.h>

#include "service/deciding.h"

static enum tree_result result_of(struct fixture *f, enum op_kind kind, const char *path,
                                  const char *to)
{
    return fixture_run(f, &(struct op){ kind, path, to, 'x', 0 }).result;
}

static void expect_list(struct fixture *f, const char *path, const char *expected)
{
    struct outcome outcome = fixture_run(f, &(struct op){ OP_LIST, path, NULL, 0, 0 });

    assert_int_equal(outcome.result, TREE_OK);
    assert_string_equal(outcome.saw, expected);
}

/* Rule: names are kept as they were given and found by upper case. semantics 10.1 */
static void case_is_ignored_and_kept(void **state)
{
    struct fixture *f = *state;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_DIRECTORY, "Docs", NULL);
    fixture_do(f, OP_MAKE_FILE, "dOCS/Grün.TXT", NULL);
    assert_int_equal(result_of(f, OP_MAKE_FILE, "docs/gRÜN.txt", NULL), TREE_EXISTS);
    assert_int_equal(result_of(f, OP_MAKE_FILE, "docs/gRÜN.txt/x", NULL), TREE_PARENT_IS_FILE);
    fixture_do(f, OP_MAKE_FILE, "docs/a", NULL);
    fixture_do(f, OP_MAKE_FILE, "docs/Z", NULL);
    fixture_do(f, OP_MAKE_DIRECTORY, "docs/B", NULL);
    expect_list(f, "DOCS", "a B/ Grün.TXT Z "); /* in the order of their upper case */
    fixture_do(f, OP_RENAME, "docs/A", "docs/A");
    expect_list(f, "DOCS", "A B/ Grün.TXT Z ");
    fixture_do(f, OP_RENAME, "docs", "DOCS");
    expect_list(f, "", "DOCS/ ");
    fixture_do(f, OP_RENAME_OVER, "docs/z", "docs/grün.txt");
    expect_list(f, "docs", "A B/ grün.txt ");
    fixture_dump(f, NULL, DUMP_SIZE);
}

static void case_is_regarded(void **state)
{
    struct fixture *f = *state;

    fixture_new_tree(f, TREE_CASE_EXACT);
    fixture_do(f, OP_MAKE_DIRECTORY, "Docs", NULL);
    assert_int_equal(result_of(f, OP_FIND, "docs", NULL), TREE_NOT_FOUND);
    assert_int_equal(result_of(f, OP_FIND, "docs/a", NULL), TREE_NO_PARENT);
    fixture_do(f, OP_MAKE_FILE, "docs", NULL);
    expect_list(f, "", "Docs/ docs ");
    fixture_do(f, OP_RENAME, "Docs", "DOCS");
    expect_list(f, "", "DOCS/ docs ");
}

/* ---- what needs more than one operation of the fixture ---- */

struct listing {
    struct fixture *f;
    const char *prefix, *from;
    size_t max;
    char saw[256], next[64];
    uint64_t counted;
};

static enum error list_page(struct decision *d, void *of)
{
    struct listing *listing = of;
    struct tree_path path = { .count = 0 };
    struct tree_place place;
    struct tree_page page;
    struct tree tree;
    size_t used = 0;

    assert_int_equal(tree_open(&tree, d, listing->f->space, listing->f->rule), TREE_OK);
    assert_int_equal(tree_find(&tree, &path, TREE_TO_READ, &place), TREE_OK);
    assert_int_equal(tree_list(&tree, &place, bytes_from_string(listing->prefix),
                               bytes_from_string(listing->from), listing->max, &page),
                     TREE_OK);
    listing->saw[0] = '\0';
    for (size_t i = 0; i < page.count; i++)
        used += (size_t)snprintf(listing->saw + used, sizeof listing->saw - used, "%.*s ",
                                 BYTES_ARG(page.entries[i].name.given));
    (void)snprintf(listing->next, sizeof listing->next, "%.*s", BYTES_ARG(page.next));
    assert_int_equal(tree_count(&tree, &d->parts[d->part_count - 1], &listing->counted), TREE_OK);
    return OK;
}

static void run(struct fixture *f, attempt_fn *attempt, void *of)
{
    struct arena *arena = arena_new(1u << 24);
    struct problem problem = { .detail = NULL };
    struct decision d = fixture_decision(f, arena, &problem);
    enum error e;

    do {
        e = deciding_attempt(&d, attempt, of);
        if (!e && !deciding_is_empty(&d))
            e = deciding_commit(&d);
    } while (e == DECIDE_AGAIN);
    assert_int_equal(e, OK);
    deciding_end(&d);
    arena_free(arena);
}

/* Rule: pages go on where the one before ended, whatever came or went there. rest: List-Directories-and-Files */
static void pages_follow_each_other(void **state)
{
    static const char *const names[] = { "b", "A1", "a2", "a3", "A4", "C" };
    struct fixture *f = *state;
    struct listing listing = { .f = f, .prefix = "a", .from = "", .max = 2 };

    fixture_new_tree(f, TREE_CASE_IGNORED);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fixture_do(f, OP_MAKE_FILE, names[i], NULL);
    run(f, list_page, &listing);
    assert_string_equal(listing.saw, "A1 a2 ");
    assert_string_equal(listing.next, "A3");
    assert_int_equal(listing.counted, 6);
    fixture_do(f, OP_DELETE, "a3", NULL);
    listing.from = "A3";
    run(f, list_page, &listing);
    assert_string_equal(listing.saw, "A4 ");
    assert_string_equal(listing.next, "");
    listing = (struct listing){ .f = f, .prefix = "", .from = "a9", .max = 2 };
    run(f, list_page, &listing);
    assert_string_equal(listing.saw, "b C ");
    assert_string_equal(listing.next, "");
}

struct by_id {
    struct fixture *f;
    const char *path;
    uint64_t id;
    enum tree_result result;
    struct tree_node node;
    char name[32];
};

static enum error find_id(struct decision *d, void *of)
{
    struct by_id *by_id = of;
    struct tree_place place;
    struct tree_path path;
    struct tree tree;

    assert_int_equal(tree_open(&tree, d, by_id->f->space, by_id->f->rule), TREE_OK);
    assert_int_equal(tree_path_parse(d->arena, tree.rule, bytes_from_string(by_id->path), &path),
                     0);
    assert_int_equal(tree_find(&tree, &path, TREE_TO_READ, &place), TREE_OK);
    by_id->id = place.entry.id;
    return OK;
}

static enum error open_id(struct decision *d, void *of)
{
    struct by_id *by_id = of;
    struct decision_part *part;
    struct tree tree;

    assert_int_equal(tree_open(&tree, d, by_id->f->space, by_id->f->rule), TREE_OK);
    by_id->result = tree_open_id(&tree, by_id->id, &part, &by_id->node);
    if (!by_id->result)
        (void)snprintf(by_id->name, sizeof by_id->name, "%.*s", BYTES_ARG(by_id->node.name.given));
    return OK;
}

/* Rule: a node keeps its id under any name, and is found by it until it is deleted. */
static void ids_stay(void **state)
{
    struct fixture *f = *state;
    struct by_id directory = { .f = f, .path = "d" }, file = { .f = f, .path = "d/f" };

    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    fixture_do(f, OP_MAKE_FILE, "d/f", NULL);
    run(f, find_id, &directory);
    run(f, find_id, &file);
    assert_true(file.id != directory.id && file.id != TREE_ROOT && file.id <= INT64_MAX);
    fixture_do(f, OP_RENAME, "d", "e");
    run(f, open_id, &file);
    assert_int_equal(file.node.parent, directory.id);
    fixture_do(f, OP_RENAME, "e/f", "G");
    run(f, open_id, &file);
    assert_int_equal(file.result, TREE_OK);
    assert_int_equal(file.node.parent, TREE_ROOT);
    assert_int_equal(file.node.kind, TREE_FILE);
    assert_string_equal(file.name, "G");
    fixture_do(f, OP_DELETE, "G", NULL);
    run(f, open_id, &file);
    assert_int_equal(file.result, TREE_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(case_is_ignored_and_kept, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(case_is_regarded, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(pages_follow_each_other, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(ids_stay, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
