/* A node is renamed between the look at its record and the look at its entry: both do not agree, and nothing is damaged.
 * tree_find_id() in lookup.c */
#include "fixture.h"

#include <stdio.h>

#include "service/deciding.h"
#include "tree/tree.h"

static struct {
    struct fixture *f; /* NULL: nobody renames */
    unsigned opens;    /* so many more, then it is renamed */
} renames;

__typeof__(read_view_open) __real_read_view_open, __wrap_read_view_open;
struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access)
{
    if (renames.f && renames.opens-- == 0) {
        struct fixture *f = renames.f;

        renames.f = NULL;
        fixture_do(f, OP_RENAME, "a", "d/b");
    }
    return __real_read_view_open(store, partition, access);
}

/* opens: after so many the node is renamed; of the stamp, the node and its directory in this order */
static enum tree_result find(struct fixture *f, uint64_t id, unsigned opens, bool is_renamed,
                             enum store_result *ret_failed)
{
    struct arena *arena = arena_new(1u << 20);
    struct problem problem;
    struct decision d = fixture_decision(f, arena, &problem);
    struct decision_part *part;
    struct tree_place place;
    struct tree tree;
    enum tree_result result;

    if (is_renamed) {
        renames.opens = opens;
        renames.f = f;
    }
    assert_int_equal(tree_open(&tree, &d, f->space, f->rule), TREE_OK);
    result = tree_find_id(&tree, id, TREE_TO_CHANGE, &place, &part);
    *ret_failed = tree.failed;
    deciding_end(&d);
    arena_free(arena);
    renames.f = NULL;
    return result;
}

static uint64_t id_of(struct fixture *f, const char *name)
{
    struct arena *arena = arena_new(1u << 20);
    struct problem problem;
    struct decision d = fixture_decision(f, arena, &problem);
    struct tree_place place;
    struct tree_path path;
    struct tree tree;
    uint64_t id;

    assert_int_equal(tree_path_parse(arena, f->rule, bytes_from_string(name), &path), TREE_PATH_OK);
    assert_int_equal(tree_open(&tree, &d, f->space, f->rule), TREE_OK);
    assert_int_equal(tree_find(&tree, &path, TREE_TO_READ, &place), TREE_OK);
    assert_true(place.exists);
    id = place.entry.id;
    deciding_end(&d);
    arena_free(arena);
    return id;
}

static void renamed_meanwhile(void **state)
{
    struct fixture *f = *state;
    enum store_result failed;
    uint64_t id;

    fixture_new_tree(f, TREE_CASE_EXACT);
    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    fixture_do(f, OP_MAKE_FILE, "a", NULL);
    id = id_of(f, "a");
    assert_int_equal(find(f, id, 0, false, &failed), TREE_OK);
    assert_int_equal(find(f, id, 2, true, &failed), TREE_FAILED);
    assert_int_equal(failed, STORE_CONFLICT);
    assert_int_equal(find(f, id, 0, false, &failed), TREE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(renamed_meanwhile, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
