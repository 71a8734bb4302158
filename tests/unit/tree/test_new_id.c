/* The id of a new node is not that of the node which it replaces, whatever the clock says. decision: 842 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "service/driver.h"

struct replacing {
    struct fixture *f;
    uint64_t before, after; /* ids of the file */
    bool parts_differ;
};

/* As if the file had been made at this very instant. */
static enum error replace_what_is_as_new(struct decision *d, void *of)
{
    struct replacing *r = of;
    struct decision_part *old, *made;
    struct tree_place place;
    struct tree_path path;
    struct tree tree;
    enum tree_result replaced;
    instant now;

    if (tree_open(&tree, d, r->f->space, r->f->rule))
        return decision_fail_store(d, tree.failed);
    decision_read_clock(d);
    assert_int_equal(tree_path_parse(d->arena, tree.rule, bytes_from_string("a"), &path), 0);
    if (tree_find(&tree, &path, TREE_TO_CHANGE, &place))
        return decision_fail_store(d, tree.failed);
    r->before = place.entry.id;
    now = d->now;
    d->now = (instant)place.entry.id; /* in the root ids have nothing else */
    replaced = tree_replace(&tree, &place, &old, &made);
    d->now = now;
    if (replaced)
        return decision_fail_store(d, tree.failed);
    r->after = place.entry.id;
    r->parts_differ = old != made && old->before != made->before;
    return OK;
}

static void an_id_of_what_is_replaced_is_passed_over(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new(1u << 20);
    struct problem problem = { .detail = NULL };
    struct replacing replacing = { .f = f };
    struct decision d;

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_FILE, "a", NULL);
    d = fixture_decision(f, arena, &problem);
    assert_int_equal(deciding_run_unawaited(&d, replace_what_is_as_new, &replacing), OK);
    deciding_end(&d);
    assert_true(replacing.parts_differ);
    assert_true(replacing.after > replacing.before);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_id_of_what_is_replaced_is_passed_over, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
