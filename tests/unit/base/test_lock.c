/* Ranked locks, built with the order asserted. lock.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/thread.h"

/* ThreadSanitizer would end the children for the same inversions, in its own way. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "detect_deadlocks=0";
}

static struct lock low, high;

static int set_up(void **state)
{
    (void)state;
    lock_init(&low, RANK_PARTITION);
    lock_init(&high, RANK_SYNCER);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    lock_destroy(&low);
    lock_destroy(&high);
    return 0;
}

static void rising(void)
{
    lock_acquire(&low);
    lock_acquire(&high);
    lock_release(&low); /* given back in any order */
    lock_release(&high);
    lock_acquire(&high);
    lock_release(&high);
    lock_acquire(&low);
    lock_release(&low);
}

static void falling(void)
{
    lock_acquire(&high);
    lock_acquire(&low);
}

static void twice(void)
{
    lock_acquire(&low);
    lock_acquire(&low);
}

static void never_initialised(void)
{
    static struct lock zeros;

    lock_acquire(&zeros);
}

static void given_without_taking(void)
{
    lock_release(&low);
}

static void not_held(void)
{
    lock_assert_held(&low);
}

static void held(void)
{
    lock_acquire(&low);
    lock_assert_held(&low);
    lock_release(&low);
}

static void *hold_for_ever(void *argument)
{
    lock_acquire(&low);
    (void)argument;
    return NULL;
}

static void held_by_another(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, hold_for_ever, NULL) == 0)
        pthread_join(thread, NULL);
    lock_assert_held(&low);
}

static void same_rank(void)
{
    struct lock other;

    lock_init(&other, RANK_SYNCER);
    lock_acquire(&high);
    lock_acquire(&other);
}

/* A wait gives the lock and takes it again: the order holds then too. */
static void wait_below(void)
{
    pthread_cond_t condition;

    lock_condition_init(&condition);
    lock_acquire(&low);
    lock_acquire(&high);
    lock_wait(&low, &condition, 1); /* takes low while high is held */
}

/* Runs a function in a child process; true when it ended by abort(). */
static bool aborts(void (*function)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        alarm(10);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        function();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    assert_false(WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT);
    return WIFSIGNALED(status);
}

/* Locks are taken in rising rank; every other order is a bug that ends the process, even when no
 * other thread is there to make it a deadlock. style 3.5 */
static void order(void **state)
{
    (void)state;
    assert_false(aborts(rising));
    assert_true(aborts(falling));
    assert_true(aborts(twice));
    assert_true(aborts(same_rank));
    assert_true(aborts(given_without_taking));
    assert_true(aborts(never_initialised));
    assert_true(aborts(wait_below));
    assert_false(aborts(held));
    assert_true(aborts(not_held));
    assert_true(aborts(held_by_another));
}

static void *take_nicely(void *argument)
{
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + 1) != 0)
        return NULL; /* the caller sees that it did not abort */
    lock_acquire(&high);
    return argument;
}

static void *take_idly(void *argument)
{
    const struct sched_param none = { .sched_priority = 0 };

    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        return NULL;
    lock_acquire(&high);
    return argument;
}

static void *take_in_batch(void *argument)
{
    thread_give_way();
    lock_acquire(&high);
    return argument;
}

static void run_thread(void *(*run)(void *argument))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
}

static void low_by_niceness(void)
{
    run_thread(take_nicely);
}

static void low_by_policy(void)
{
    run_thread(take_idly);
}

static void is_evicted(void)
{
    run_thread(take_in_batch);
}

/* A thread with less than its share of a core takes no lock: others would wait for it, and for all
 * who have more. decision: 280 */
static void share(void **state)
{
    (void)state;
    assert_true(aborts(low_by_niceness));
    assert_true(aborts(low_by_policy));
    assert_false(aborts(is_evicted));
}

static void *take_high(void *argument)
{
    lock_acquire(&high);
    lock_release(&high);
    return argument;
}

/* The ranks held are each thread's own. */
static void order_per_thread(void **state)
{
    pthread_t thread;

    (void)state;
    lock_acquire(&low);
    assert_int_equal(pthread_create(&thread, NULL, take_high, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    lock_release(&low);
}

static bool ready;
static pthread_cond_t condition;

static void *make_ready(void *argument)
{
    lock_acquire(&high);
    ready = true;
    pthread_cond_signal(&condition);
    lock_release(&high);
    return argument;
}

/* A wait ends when it is signalled or its time is over, and says which. */
static void waits(void **state)
{
    pthread_t thread;

    (void)state;
    lock_condition_init(&condition);
    lock_acquire(&high);
    assert_false(lock_wait(&high, &condition, 1));
    assert_false(lock_wait_us(&high, &condition, 200));
    assert_int_equal(pthread_create(&thread, NULL, make_ready, NULL), 0);
    while (!ready)
        assert_true(lock_wait(&high, &condition, -1));
    lock_release(&high);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_cond_destroy(&condition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(share, set_up, tear_down),
        cmocka_unit_test_setup_teardown(order_per_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waits, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
