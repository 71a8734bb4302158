/* A tree that nothing names, and that is kept: nothing is decided on it. tree.h, tree_close() */
#include "fixture.h"

#include "service/deciding.h"

struct making {
    struct fixture *f;
    const char *name;
    enum store_result failed; /* of tree_open() */
    bool existed;
};

static enum error make(struct decision *d, void *of)
{
    struct making *making = of;
    struct decision_part *part;
    struct tree_place place;
    struct tree_path path;
    struct tree tree;

    making->failed = STORE_OK;
    if (tree_open(&tree, d, making->f->space, making->f->rule)) {
        making->failed = tree.failed;
        return decision_fail_store(d, tree.failed);
    }
    decision_read_clock(d);
    assert_int_equal(tree_path_parse(d->arena, tree.rule, bytes_from_string(making->name), &path),
                     0);
    assert_int_equal(tree_find(&tree, &path, TREE_TO_CHANGE, &place), TREE_OK);
    making->existed = place.exists;
    if (!place.exists)
        assert_int_equal(tree_create(&tree, &place, TREE_FILE, &part), TREE_OK);
    return OK;
}

static enum error close_tree(struct decision *d, void *of)
{
    struct making *making = of;
    struct tree tree;

    assert_int_equal(tree_open(&tree, d, making->f->space, making->f->rule), TREE_OK);
    decision_read_clock(d);
    tree_close(&tree);
    return OK;
}

static enum error reopen_tree(struct decision *d, void *of)
{
    struct making *making = of;
    struct tree tree;

    assert_int_equal(tree_reopen(&tree, d, making->f->space, making->f->rule), TREE_OK);
    decision_read_clock(d);
    return OK;
}

static void once(struct fixture *f, attempt_fn *attempt, void *of)
{
    struct arena *arena = arena_new(1u << 20);
    struct problem problem = { .detail = NULL };
    struct decision d = fixture_decision(f, arena, &problem);

    assert_int_equal(deciding_attempt(&d, attempt, of), OK);
    if (!deciding_is_empty(&d))
        assert_int_equal(deciding_commit(&d), OK);
    deciding_end(&d);
    arena_free(arena);
}

/* Rule: what was decided before a tree was closed does not commit, and nothing is decided on it until it
 * is open again; then all is as it was. */
static void nothing_is_decided(void **state)
{
    struct fixture *f = *state;
    struct making making = { .f = f, .name = "late" };
    struct arena *arena = arena_new(1u << 20);
    struct problem problem = { .detail = NULL };
    struct decision d;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_FILE, "kept", NULL);
    d = fixture_decision(f, arena, &problem);
    assert_int_equal(deciding_attempt(&d, make, &making), OK);
    once(f, close_tree, &making);
    assert_int_equal(deciding_commit(&d), DECIDE_AGAIN);
    assert_int_equal(deciding_attempt(&d, make, &making), DECIDE_AGAIN);
    assert_int_equal(making.failed, STORE_CONFLICT);
    once(f, reopen_tree, &making);
    assert_int_equal(deciding_attempt(&d, make, &making), OK);
    once(f, close_tree, &making);
    once(f, reopen_tree, &making);
    assert_int_equal(deciding_commit(&d), DECIDE_AGAIN); /* also if it is open again by then */
    assert_int_equal(deciding_attempt(&d, make, &making), OK);
    assert_int_equal(deciding_commit(&d), OK);
    deciding_end(&d);
    arena_free(arena);
    once(f, make, &making);
    assert_true(making.existed);
    making.name = "kept";
    once(f, make, &making);
    assert_true(making.existed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_decided, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
