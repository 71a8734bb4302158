/* Random operations against the model, one after another; and from several threads at once, after which
 * the tree must be whole (tree invariants 1 and 3). tree/tree.h */
#include "fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "random_op.h"

#define ROUNDS  400
#define THREADS 4
#define BESIDE  300 /* operations of each thread; a third where they are fetched */

static void as_the_model(void **state)
{
    struct fixture *f = *state;
    const char *seeds = getenv("LAGRA_SEEDS");

    for (uint64_t seed = 1; seed <= (uint64_t)(seeds ? strtol(seeds, NULL, 10) : 20); seed++) {
        uint64_t random = seed * 0x9E3779B97F4A7C15;
        struct model model;

        fixture_new_tree(f, seed % 2 ? TREE_CASE_EXACT : TREE_CASE_IGNORED);
        model_init(&model);
        for (unsigned i = 0; i < ROUNDS; i++) {
            char path[16], to[16], dump[DUMP_SIZE], expected[DUMP_SIZE];
            struct op op = random_op(&random, path, to);
            struct outcome outcome = fixture_run(f, &op), wanted = model_run(&model, &op);

            if (outcome.result != wanted.result || strcmp(outcome.saw, wanted.saw) != 0)
                fail_msg("seed %d: %d %s %s: %d '%s', expected %d '%s'", (int)seed, op.kind, path,
                         to, outcome.result, outcome.saw, wanted.result, wanted.saw);
            if (i % 20 > 0)
                continue;
            fixture_dump(f, dump, sizeof dump);
            model_dump(&model, expected, sizeof expected);
            assert_string_equal(dump, expected);
        }
    }
}

struct worker {
    struct fixture *f;
    uint64_t random;
    unsigned failed;
};

static void *work(void *of)
{
    struct worker *worker = of;

    for (unsigned i = 0; i < BESIDE; i++) {
        char path[16], to[16];
        struct op op = random_op(&worker->random, path, to);

        worker->failed += fixture_run(worker->f, &op).result == TREE_FAILED;
    }
    return NULL;
}

static void many_threads_leave_a_tree(void **state)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ *state, 77 + i, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].failed, 0);
    }
    fixture_dump(*state, NULL, DUMP_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_the_model, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(many_threads_leave_a_tree, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
