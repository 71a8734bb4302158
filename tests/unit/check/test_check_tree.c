/* What is in a share and does not agree is reported by its path: `lagra check`. tree/tree.h, invariants */
#include "tree_world.h"

static void expect(struct world *w, const char *said)
{
    const char *all = check(w->f, EXIT_FAILURE);

    if (!strstr(all, said))
        fail_msg("%s does not say: %s", all, said);
}

static void whole(void **state)
{
    struct world w = begin(*state);

    make(&w, "d/f", TREE_FILE);
    assert_non_null(strstr(check(w.f, EXIT_SUCCESS), "2 files in 1 shares; damaged or lost: 0\n"));
}

static void a_name_without_its_file(void **state)
{
    struct world w = begin(*state);

    take_away(&w, make(&w, "d/f", TREE_FILE), RECORD_LISTED, "n");
    expect(&w, "share: /d: it has a name without a file or directory\n");
}

static void a_file_without_its_name(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, "eF");
    expect(&w, "share: /e/f: its directory does not have it\n");
}

static void a_wrong_number(void **state)
{
    struct world w = begin(*state);
    uint64_t directory = make(&w, "e", TREE_DIRECTORY);

    make(&w, "e/f", TREE_FILE);
    take_away(&w, directory, RECORD_INNER, "E");
    expect(&w, "share: /e: the number of its entries is wrong\n");
}

static void records_without_sense(void **state)
{
    struct world w = begin(*state);

    put_raw(w.f, node(&w, make(&w, "e", TREE_DIRECTORY)), RECORD_INNER, bytes_of("f", 1), "?");
    expect(&w, "share: /e: it has no record that makes sense\n");
}

static void versions_without_sense(void **state)
{
    static const char key[] = "VeX\0\0\0\0\0\0\0\1";
    struct world w = begin(*state);

    put_raw(w.f, node(&w, TREE_ROOT), RECORD_INNER, bytes_of(key, sizeof key - 1), "\1?");
    expect(&w, "share: /: an entry in a snapshot makes no sense\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_without_its_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_without_its_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrong_number, setup, teardown),
        cmocka_unit_test_setup_teardown(records_without_sense, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_without_sense, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
