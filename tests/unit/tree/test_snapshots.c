/* Tree invariant 4: snapshots show the tree as it was when they were taken, whatever is done after; and what
 * no snapshot sees any more goes. Random operations, with snapshots taken and deleted between them, each
 * compared with the model's copy. tree/README.md, "Snapshots" */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "random_op.h"

#define ROUNDS         600 /* a third where they are fetched */
#define SNAPSHOTS_MOST 8

struct taken {
    uint64_t generation;
    struct model model;
};

struct run {
    struct fixture *f;
    uint64_t seed, random;
    struct model model;
    struct taken taken[SNAPSHOTS_MOST];
    size_t count;
};

static void compare(struct run *run)
{
    char dump[DUMP_SIZE], expected[DUMP_SIZE];

    fixture_dump(run->f, dump, sizeof dump);
    model_dump(&run->model, expected, sizeof expected);
    assert_string_equal(dump, expected);
    for (size_t i = 0; i < run->count; i++) {
        fixture_dump_at(run->f, run->taken[i].generation, dump, sizeof dump);
        model_dump(&run->taken[i].model, expected, sizeof expected);
        if (strcmp(dump, expected) != 0)
            fail_msg("seed %d: at %d: %s, expected %s", (int)run->seed,
                     (int)run->taken[i].generation, dump, expected);
    }
}

static void take(struct run *run)
{
    if (run->count == SNAPSHOTS_MOST)
        return;
    fixture_do(run->f, OP_SNAPSHOT, "", NULL);
    run->taken[run->count++] = (struct taken){ run->f->taken, run->model };
}

static void end_one(struct run *run)
{
    size_t i = run->count > 0 ? (size_t)draw(&run->random, run->count) : 0;

    if (run->count == 0)
        return;
    fixture_delete_snapshot(run->f, run->taken[i].generation);
    run->taken[i] = run->taken[--run->count];
}

static void one_op(struct run *run)
{
    char path[16], to[16];
    struct op op = random_op(&run->random, path, to);
    struct model *model = &run->model;
    struct outcome outcome, wanted;

    if (run->count > 0 && (op.kind == OP_FIND || op.kind == OP_LIST)) {
        struct taken *of = &run->taken[draw(&run->random, run->count)];

        op.at = of->generation;
        model = &of->model;
    }
    outcome = fixture_run(run->f, &op);
    wanted = model_run(model, &op);
    if (outcome.result != wanted.result || strcmp(outcome.saw, wanted.saw) != 0)
        fail_msg("seed %d: %d %s %s at %d: %d '%s', expected %d '%s'", (int)run->seed, op.kind,
                 path, to, (int)op.at, outcome.result, outcome.saw, wanted.result, wanted.saw);
}

static void one_seed(struct run *run)
{
    fixture_new_tree(run->f, run->seed % 2 ? TREE_CASE_EXACT : TREE_CASE_IGNORED);
    model_init(&run->model);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t what = draw(&run->random, 30);

        if (what == 0)
            take(run);
        else if (what == 1)
            end_one(run);
        else if (what == 2)
            fixture_collect(run->f);
        else
            one_op(run);
        if (i % 30 == 0)
            compare(run);
    }
    fixture_collect(run->f);
    compare(run);
    while (run->count > 0)
        end_one(run);
    fixture_collect(run->f);
    assert_int_equal(fixture_versions(run->f), 0);
    compare(run);
}

static void as_the_model(void **state)
{
    const char *seeds = getenv("LAGRA_SEEDS");

    for (uint64_t seed = 1; seed <= (uint64_t)(seeds ? strtol(seeds, NULL, 10) : 20); seed++) {
        struct run *run = xcalloc(1, sizeof *run);

        *run = (struct run){ .f = *state, .seed = seed, .random = seed * 0x9E3779B97F4A7C15 };
        one_seed(run);
        free(run);
    }
}

/* Rule: a task takes many steps where there is much, and each is bounded; deleted directories too are
 * collected, and nothing is left of them. */
static void all_of_a_large_directory_goes(void **state)
{
    struct fixture *f = *state;
    const unsigned third = 240; /* of the files; a step takes fewer than all */
    uint64_t generations[3];
    char path[32];

    fixture_new_tree(f, TREE_CASE_IGNORED);
    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    for (unsigned i = 0; i < 3 * third; i++) {
        (void)snprintf(path, sizeof path, "d/file%03u", i);
        fixture_do(f, OP_MAKE_FILE, path, NULL);
    }
    for (unsigned s = 0; s < 3; s++) {
        fixture_do(f, OP_SNAPSHOT, "", NULL);
        generations[s] = f->taken;
        for (unsigned i = s; i < 3 * third; i += 3) {
            (void)snprintf(path, sizeof path, "d/file%03u", i);
            fixture_do(f, OP_DELETE, path, NULL);
        }
    }
    fixture_do(f, OP_DELETE, "d", NULL);
    assert_int_equal(fixture_versions(f), 2 * (3 * third + 1));
    fixture_delete_snapshot(f, generations[2]); /* what it alone saw goes, the rest moves */
    fixture_collect(f);
    assert_int_equal(fixture_versions(f), 2 * (3 * third + 1));
    fixture_delete_snapshot(f, generations[0]);
    fixture_collect(f);
    assert_int_equal(fixture_versions(f), 2 * (2 * third + 1));
    fixture_delete_snapshot(f, generations[1]);
    fixture_collect(f);
    assert_int_equal(fixture_versions(f), 0);
    fixture_dump(f, NULL, DUMP_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_the_model, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(all_of_a_large_directory_goes, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
