/* What was read and found right is known of its piece alone, and no longer than until the piece is
 * forgotten. store/embedded/verified.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "store/embedded/verified.h"

#define EXTENTS 64u
#define OFFSETS 64u

static int set_up(void **state)
{
    struct verified *verified = calloc(1, sizeof *verified);

    assert_non_null(verified);
    verified_init(verified);
    *state = verified;
    return 0;
}

static int tear_down(void **state)
{
    verified_release(*state);
    free(*state);
    return 0;
}

static struct piece piece_at(uint32_t extent, uint64_t offset)
{
    return (struct piece){ .extent = extent, .offset = offset };
}

/* Whatever else is kept in the same set. */
static void of_its_piece_alone(void **state)
{
    for (uint32_t extent = 1; extent <= EXTENTS; extent++)
        for (uint64_t i = 0; i < OFFSETS; i++) {
            struct piece piece = piece_at(extent, i << 12);

            assert_int_equal(verified_ask(*state, &piece, 1), VERIFIED_NOT);
            verified_add(*state, &piece, 1);
            assert_int_equal(verified_ask(*state, &piece, 1), VERIFIED_YES);
        }
}

static void of_its_sectors_alone(void **state)
{
    struct piece piece = piece_at(1, 0);

    verified_add(*state, &piece, 1);
    verified_add(*state, &piece, 4);
    assert_int_equal(verified_ask(*state, &piece, 5), VERIFIED_YES);
    assert_int_equal(verified_ask(*state, &piece, 2), VERIFIED_NOT);
    assert_int_equal(verified_ask(*state, &piece, 7), VERIFIED_NOT);
}

static void forgotten(void **state)
{
    struct piece piece = piece_at(1, 0), other = piece_at(2, 0);

    verified_add(*state, &piece, 3);
    verified_add_unreadable(*state, &other);
    assert_int_equal(verified_ask(*state, &other, 1), VERIFIED_UNREADABLE);
    verified_forget(*state, 1, 0);
    assert_int_equal(verified_ask(*state, &piece, 1), VERIFIED_NOT);
    assert_int_equal(verified_ask(*state, &other, 1), VERIFIED_UNREADABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(of_its_piece_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_its_sectors_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forgotten, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("verified", tests, NULL, NULL);
}
