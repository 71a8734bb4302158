/* The window of message ids: an id is taken once, and the window never spans more than its most.
 * ms-smb2: 3.3.1.1, 3.3.1.2, 3.3.5.2.3 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "smb_protocol/credits.h"

#include <cmocka.h>

/* At first there is id 0 alone, and it is taken once. */
static void begins_with_one(void **state)
{
    struct credit_window w;

    (void)state;
    credits_init(&w);
    assert_int_equal(credits_left(&w), 1);
    assert_false(credits_take(&w, 1, 1));
    assert_false(credits_take(&w, 0, 2));
    assert_true(credits_take(&w, 0, 1));
    assert_false(credits_take(&w, 0, 1));
    assert_int_equal(credits_left(&w), 0);
}

/* Ids may come in any order; a charge takes as many as it says, and all or none. */
static void takes_in_any_order(void **state)
{
    struct credit_window w;

    (void)state;
    credits_init(&w);
    assert_int_equal(credits_grant(&w, 9), 9); /* 0..9 */
    assert_true(credits_take(&w, 4, 3));       /* 4, 5, 6 */
    assert_false(credits_take(&w, 3, 2));      /* 4 is taken: 3 stays */
    assert_true(credits_take(&w, 3, 1));
    assert_false(credits_take(&w, 8, 3)); /* 10 is not granted */
    assert_true(credits_take(&w, 8, 2));
    assert_int_equal(credits_left(&w), 4);
    assert_true(credits_take(&w, 0, 3));
    assert_true(credits_take(&w, 7, 1));
    assert_int_equal(credits_left(&w), 0);
    assert_int_equal(w.low, 10);
}

/* Who asks for nothing gets one; who asks for too much, what there is room for; who leaves an id out, none any
 * more until he sends it. */
static void grants_within_the_window(void **state)
{
    struct credit_window w;

    (void)state;
    credits_init(&w);
    assert_int_equal(credits_grant(&w, 0), 1);
    assert_int_equal(credits_grant(&w, 65535), SMB_CREDITS_MAX - 2);
    assert_int_equal(credits_grant(&w, 1), 0);
    assert_true(credits_take(&w, 1, SMB_CREDITS_MAX - 1));
    assert_int_equal(credits_grant(&w, 10), 0); /* 0 is left out */
    assert_true(credits_take(&w, 0, 1));
    assert_int_equal(credits_grant(&w, 10), 10);
    assert_int_equal(w.low, SMB_CREDITS_MAX);
}

/* The same as a list of ids says, over many turns around the ring. */
static void agrees_with_a_list(void **state)
{
    static bool granted[4 * SMB_CREDITS_MAX], taken[4 * SMB_CREDITS_MAX];
    struct credit_window w;
    uint64_t high = 1;
    unsigned seed = 7;

    (void)state;
    credits_init(&w);
    granted[0] = true;
    for (unsigned i = 0; i < 200000 && high < 3 * SMB_CREDITS_MAX; i++) {
        uint64_t first = w.low + (seed = seed * 1103515245 + 12345) % 64;
        uint32_t count = (seed >> 16) % 5 + 1;
        bool can = true;

        for (uint64_t id = first; id < first + count; id++)
            can &= granted[id] && !taken[id];
        assert_int_equal(credits_take(&w, first, count), can);
        for (uint64_t id = first; can && id < first + count; id++)
            taken[id] = true;
        for (uint16_t more = credits_grant(&w, (uint16_t)(seed >> 8) % 7); more > 0; more--)
            granted[high++] = true;
    }
    assert_true(high > 2 * SMB_CREDITS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_one),
        cmocka_unit_test(takes_in_any_order),
        cmocka_unit_test(grants_within_the_window),
        cmocka_unit_test(agrees_with_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
