/* Waiting for others without a thread: who is woken, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sleeper.h"
#include "service/waiting.h"

static struct sleeper sleeper;

static int set_up(void **state)
{
    (void)state;
    sleeper_init(&sleeper);
    return waiting_start() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    waiting_stop();
    sleeper_release(&sleeper);
    return 0;
}

/* Rule: what happens wakes all that wait, and what happened since a turn was taken is not missed. */
static void woken_by_others(void **state)
{
    uint64_t turn = waiting_turn();
    struct sleeper second;

    (void)state;
    sleeper_init(&second);
    assert_int_equal(waiting_begin(turn, INSTANT_MAX, sleeper_arm(&sleeper)), WAITING_KEPT);
    assert_int_equal(waiting_begin(turn, INSTANT_MAX, sleeper_arm(&second)), WAITING_KEPT);
    assert_int_equal(waiting_count(), 2);
    waiting_over();
    sleeper_wait(&sleeper);
    sleeper_wait(&second);
    assert_int_equal(waiting_count(), 0);
    assert_int_equal(waiting_begin(turn, INSTANT_MAX, &second.waiter), WAITING_OVER);
    assert_int_equal(waiting_count(), 0);
    sleeper_release(&second);
}

/* Rule: one whose time is over is woken, and the others wait on. */
static void woken_in_time(void **state)
{
    uint64_t turn = waiting_turn();
    struct sleeper second;

    (void)state;
    sleeper_init(&second);
    assert_int_equal(
        waiting_begin(turn, clock_now() + 100 * TICKS_PER_SECOND, sleeper_arm(&second)),
        WAITING_KEPT);
    assert_int_equal(
        waiting_begin(turn, clock_now() + 50 * TICKS_PER_SECOND, sleeper_arm(&sleeper)),
        WAITING_KEPT);
    clock_advance(60 * TICKS_PER_SECOND);
    waiting_look();
    sleeper_wait(&sleeper);
    assert_int_equal(waiting_count(), 1);
    clock_advance(60 * TICKS_PER_SECOND);
    waiting_look();
    sleeper_wait(&second);
    sleeper_release(&second);
}

/* Rule: a server that stops wakes all, and keeps no more. */
static void woken_by_the_end(void **state)
{
    (void)state;
    assert_int_equal(waiting_begin(waiting_turn(), INSTANT_MAX, sleeper_arm(&sleeper)),
                     WAITING_KEPT);
    waiting_stop();
    sleeper_wait(&sleeper);
    assert_int_equal(waiting_begin(waiting_turn(), INSTANT_MAX, &sleeper.waiter), WAITING_ENDS);
    assert_true(waiting_start());
}

/* Rule: who is held up is not woken by what happens, but when his time is over, and by the end. */
static void held_until_their_time(void **state)
{
    instant now = clock_now();
    struct sleeper second;

    (void)state;
    sleeper_init(&second);
    assert_true(waiting_hold(now + 100 * TICKS_PER_SECOND, sleeper_arm(&second)));
    assert_true(waiting_hold(now + 50 * TICKS_PER_SECOND, sleeper_arm(&sleeper)));
    assert_int_equal(waiting_count(), 0);
    waiting_over();
    clock_advance(60 * TICKS_PER_SECOND);
    waiting_look();
    sleeper_wait(&sleeper);
    assert_true(waiting_hold(now + 300 * TICKS_PER_SECOND, sleeper_arm(&sleeper)));
    clock_advance(60 * TICKS_PER_SECOND);
    waiting_look();
    sleeper_wait(&second);
    waiting_stop();
    sleeper_wait(&sleeper);
    assert_false(waiting_hold(now, &sleeper.waiter));
    assert_true(waiting_start());
    sleeper_release(&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(woken_by_others),
        TEST(woken_in_time),
        TEST(woken_by_the_end),
        TEST(held_until_their_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
