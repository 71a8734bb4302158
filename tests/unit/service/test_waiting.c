/* Waiting for others without a thread: who is woken, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/sleeper.h"
#include "service/waiting.h"

static struct sleeper sleeper;

static const struct waiter_key key = { .space = { .b = { 1 } }, .node = 7 };

static int set_up(void **state)
{
    (void)state;
    sleeper_init(&sleeper);
    return waiters_start() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    waiters_stop();
    sleeper_release(&sleeper);
    return 0;
}

/* Rule: what happens wakes all that wait for it, and what happened since a turn was taken is not missed. */
static void woken_by_others(void **state)
{
    uint64_t turn = waiters_turn();
    struct sleeper second;

    (void)state;
    sleeper_init(&second);
    assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, sleeper_arm(&sleeper)), WAITING_KEPT);
    assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, sleeper_arm(&second)), WAITING_KEPT);
    assert_int_equal(waiters_count(), 2);
    waiters_wake(&key);
    sleeper_wait(&sleeper);
    sleeper_wait(&second);
    assert_int_equal(waiters_count(), 0);
    assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, &second.waiter), WAITING_OVER);
    assert_int_equal(waiters_count(), 0);
    sleeper_release(&second);
}

/* A waiter that counts its wake-ups. */
struct counted {
    struct waiter waiter; /* first */
    unsigned woken;
};

static void count(struct waiter *waiter)
{
    ((struct counted *)(void *)waiter)->woken++;
}

#define WAITERS 2400u

static unsigned woken_of(const struct counted *counted)
{
    unsigned woken = 0;

    for (size_t i = 0; i < WAITERS; i++)
        woken += counted[i].woken;
    return woken;
}

/* Rule: commits that concern other nodes wake no waiter, and a waiter that has left is not woken. */
static void not_woken_by_what_happens_elsewhere(void **state)
{
    static struct counted counted[WAITERS];
    uint64_t turn = waiters_turn();

    (void)state;
    for (size_t i = 0; i < WAITERS; i++) {
        counted[i].waiter.wake = count;
        assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, &counted[i].waiter), WAITING_KEPT);
    }
    for (uint64_t node = 0; node < 10 * key.node; node++)
        if (node != key.node)
            waiters_wake(&(struct waiter_key){ .space = key.space, .node = node });
    waiters_wake(&(struct waiter_key){ .space = { .b = { 2 } }, .node = key.node });
    assert_int_equal(woken_of(counted), 0);
    for (size_t i = 0; i < WAITERS; i += 2)
        assert_true(waiters_remove(&counted[i].waiter));
    assert_false(waiters_remove(&counted[0].waiter));
    assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, &counted[0].waiter), WAITING_KEPT);
    waiters_wake(&key);
    assert_int_equal(woken_of(counted), WAITERS / 2 + 1);
    assert_int_equal(waiters_count(), 0);
}

/* Rule: a commit that concerns a whole space wakes the waiters for all of its nodes, no others, and is not missed by one
 * that starts to wait after it. */
static void woken_by_their_space(void **state)
{
    static struct counted counted[WAITERS];
    const struct waiter_key all = { key.space, WAITING_ALL_NODES };
    const struct waiter_key elsewhere = { { .b = { 2 } }, key.node };
    uint64_t turn = waiters_turn();
    struct counted other = { .waiter.wake = count };

    (void)state;
    assert_int_equal(waiters_add(&elsewhere, turn, INSTANT_MAX, &other.waiter), WAITING_KEPT);
    for (size_t i = 0; i < WAITERS; i++) {
        const struct waiter_key one = { key.space, i / 2 };

        counted[i].waiter.wake = count;
        assert_int_equal(waiters_add(&one, turn, INSTANT_MAX, &counted[i].waiter), WAITING_KEPT);
    }
    for (size_t i = 0; i < WAITERS; i += 3) /* the first or the second of a node */
        assert_true(waiters_remove(&counted[i].waiter));
    waiters_wake(&all);
    assert_int_equal(woken_of(counted), WAITERS - WAITERS / 3);
    assert_int_equal(other.woken, 0);
    assert_int_equal(waiters_count(), 1);
    assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, &counted[0].waiter), WAITING_OVER);
    assert_int_equal(waiters_add(&elsewhere, waiters_turn(), INSTANT_MAX, &counted[0].waiter),
                     WAITING_KEPT);
    waiters_wake(&elsewhere);
    assert_int_equal(other.woken, 1);
    assert_int_equal(waiters_count(), 0);
}

/* Rule: one whose time is over is woken, and the others wait on. */
static void woken_in_time(void **state)
{
    uint64_t turn = waiters_turn();
    struct sleeper second;

    (void)state;
    sleeper_init(&second);
    assert_int_equal(
        waiters_add(&key, turn, clock_now() + 100 * TICKS_PER_SECOND, sleeper_arm(&second)),
        WAITING_KEPT);
    assert_int_equal(
        waiters_add(&key, turn, clock_now() + 50 * TICKS_PER_SECOND, sleeper_arm(&sleeper)),
        WAITING_KEPT);
    clock_advance(60 * TICKS_PER_SECOND);
    waiters_refresh();
    sleeper_wait(&sleeper);
    assert_int_equal(waiters_count(), 1);
    clock_advance(60 * TICKS_PER_SECOND);
    waiters_refresh();
    sleeper_wait(&second);
    sleeper_release(&second);
}

/* Rule: a server that stops wakes all, and keeps no more. */
static void woken_by_the_end(void **state)
{
    (void)state;
    assert_int_equal(waiters_add(&key, waiters_turn(), INSTANT_MAX, sleeper_arm(&sleeper)),
                     WAITING_KEPT);
    waiters_stop();
    sleeper_wait(&sleeper);
    assert_int_equal(waiters_add(&key, waiters_turn(), INSTANT_MAX, &sleeper.waiter), WAITING_ENDS);
    assert_true(waiters_start());
}

/* Rule: who is held up is not woken by what happens, but when his time is over, and by the end. */
static void held_until_their_time(void **state)
{
    instant now = clock_now();
    struct sleeper second;

    (void)state;
    sleeper_init(&second);
    assert_true(waiters_delay(now + 100 * TICKS_PER_SECOND, sleeper_arm(&second)));
    assert_true(waiters_delay(now + 50 * TICKS_PER_SECOND, sleeper_arm(&sleeper)));
    assert_int_equal(waiters_count(), 0);
    waiters_wake(&key);
    clock_advance(60 * TICKS_PER_SECOND);
    waiters_refresh();
    sleeper_wait(&sleeper);
    assert_true(waiters_delay(now + 300 * TICKS_PER_SECOND, sleeper_arm(&sleeper)));
    clock_advance(60 * TICKS_PER_SECOND);
    waiters_refresh();
    sleeper_wait(&second);
    assert_true(waiters_delay(now + 600 * TICKS_PER_SECOND, sleeper_arm(&second)));
    assert_true(waiters_remove(&second.waiter));
    waiters_stop();
    sleeper_wait(&sleeper);
    assert_false(waiters_delay(now, &sleeper.waiter));
    assert_true(waiters_start());
    sleeper_release(&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(woken_by_others),       TEST(not_woken_by_what_happens_elsewhere),
        TEST(woken_in_time),         TEST(woken_by_the_end),
        TEST(held_until_their_time), TEST(woken_by_their_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
