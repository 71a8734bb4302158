/* What a front end knows of placements: cluster/placements.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "cluster/placements.h"

static struct placements placements;

static bool find(const char *key, uint64_t now_s, struct placed *ret_placed)
{
    return placements_find(&placements, bytes_from_string(key), now_s, ret_placed);
}

static void put(const char *key, uint32_t cell, uint64_t incarnation, uint64_t now_s)
{
    placements_put(&placements, bytes_from_string(key),
                   (struct placed){ .cell = cell, .incarnation = incarnation }, now_s);
}

static void newest_counts(void **state)
{
    struct placed placed;

    (void)state;
    placements_init(&placements);
    assert_false(find("0a/c", 0, &placed));
    put("0a/c", 2, 10, 0);
    put("1a/c", 3, 11, 0);
    assert_true(find("0a/c", 0, &placed) && placed.cell == 2 && placed.incarnation == 10);
    assert_true(find("1a/c", 0, &placed) && placed.cell == 3);
    put("0a/c", 4, 9, 0); /* said before, and come late */
    assert_true(find("0a/c", 0, &placed) && placed.cell == 2);
    put("0a/c", 4, 12, 0);
    placements_drop(&placements, bytes_from_string("0a/c"), 10); /* of the one before */
    assert_true(find("0a/c", 0, &placed) && placed.cell == 4);
    placements_drop(&placements, bytes_from_string("0a/c"), 12);
    assert_false(find("0a/c", 0, &placed));
    placements_drop(&placements, bytes_from_string("0a/c"), 12);
    assert_true(find("1a/c", PLACEMENT_USED_S - 1, &placed));
    assert_false(find("1a/c", PLACEMENT_USED_S, &placed));
    assert_int_equal(placements.count, 0);
    placements_release(&placements);
}

static void bounded(void **state)
{
    char key[PLACEMENT_KEY_MAX + 2];
    struct placed placed;

    (void)state;
    placements_init(&placements);
    put("", 1, 1, 0);
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    put(key, 1, 1, 0);
    assert_int_equal(placements.count, 0);
    for (unsigned i = 0; i < PLACEMENTS_MAX + 100; i++) {
        snprintf(key, sizeof key, "0a/%u", i);
        put(key, 2, 1, 0);
        assert_true(find("0a/0", 0, &placed)); /* it is in use all along */
    }
    assert_int_equal(placements.count, PLACEMENTS_MAX);
    assert_false(find("0a/1", 0, &placed));
    assert_true(find("0a/200", 0, &placed));
    placements_release(&placements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_counts),
        cmocka_unit_test(bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
