/* Changes that are joined, or grow, keep all that they held. store.h, store_private.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "store/store_private.h"

#define MANY 40u

static int set_up(void **state)
{
    *state = arena_new(1u << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static struct guid space_of(unsigned number)
{
    struct guid space = { .b = { 0 } };

    space.b[0] = (uint8_t)number;
    return space;
}

static void expect_spaces(const struct changes *changes, unsigned count)
{
    size_t dropped;
    const struct guid *spaces = changes_dropped_spaces(changes, &dropped);

    assert_int_equal(dropped, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(spaces[i].b[0], i);
}

static void dropped_spaces(void **state)
{
    struct changes *changes = changes_new(*state), *more = changes_new(*state);

    for (unsigned i = 0; i < MANY; i++)
        changes_drop_space(i < MANY / 2 ? changes : more, space_of(i));
    expect_spaces(changes, MANY / 2);
    changes_append(changes, more);
    expect_spaces(changes, MANY);
    expect_spaces(more, 0);
}

/* One reference to each piece: those of both lists. */
static void pieces(void **state)
{
    struct changes *changes = changes_new(*state), *more = changes_new(*state);
    const struct commit_part part = { .changes = changes };
    const struct piece_change *all;
    size_t count;

    for (unsigned i = 0; i < MANY; i++) {
        struct piece piece = { .extent = 1, .offset = i * 4096, .length = 1 };

        changes_release(i < MANY / 2 ? changes : more, &piece, 1);
    }
    changes_append(changes, more);
    assert_false(changes_have_pieces(more));
    assert_int_equal(commit_pieces(&part, 1, &all, &count), STORE_OK);
    assert_int_equal(count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(all[i].offset, i * 4096);
        assert_int_equal(all[i].references, -1);
    }
}

/* Rule: records that give one piece two lengths are damage, in whichever parts they are. */
static void lengths_of_a_piece(void **state)
{
    struct changes *changes[] = { changes_new(*state), changes_new(*state) };
    const struct commit_part parts[] = { { .changes = changes[0] }, { .changes = changes[1] } };
    struct piece piece = { .extent = 1, .offset = 4096, .length = 5 };
    const struct piece_change *all;
    size_t count;

    changes_release(changes[0], &piece, 1);
    changes_release(changes[1], &piece, 1);
    assert_int_equal(commit_pieces(parts, 2, &all, &count), STORE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(all[0].references, -2);
    piece.length = 6;
    changes_release(changes[1], &piece, 1);
    assert_int_equal(commit_pieces(parts, 2, &all, &count), STORE_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dropped_spaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lengths_of_a_piece, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
