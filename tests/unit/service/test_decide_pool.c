/* The pool of threads that may wait: order, many submitters, stop. service/decide_pool.h */
#include "service/decide_pool.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define JOBS       1000
#define SUBMITTERS 4

struct test_job {
    struct pool_job job;
    unsigned number;
};

static atomic_uint run_count;
static unsigned order[JOBS];

static void note(struct pool_job *job)
{
    order[atomic_fetch_add(&run_count, 1)] = ((struct test_job *)job)->number;
}

/* Rule: jobs run in the order they were submitted, each once; freeing waits for all of them. */
static void jobs_run_in_order(void **state)
{
    struct decide_pool *pool = decide_pool_new(1);
    struct test_job *jobs = calloc(JOBS, sizeof *jobs);

    (void)state;
    atomic_store(&run_count, 0);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct test_job){ .job.run = note, .number = i };
        decide_pool_submit(pool, &jobs[i].job);
    }
    decide_pool_free(pool);
    assert_int_equal(run_count, JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(order[i], i);
    free(jobs);
}

static struct decide_pool *shared;

static void count(struct pool_job *job)
{
    (void)job;
    atomic_fetch_add(&run_count, 1);
}

static void *submit_many(void *jobs)
{
    struct pool_job *mine = jobs;

    for (unsigned i = 0; i < JOBS; i++) {
        mine[i].run = count;
        decide_pool_submit(shared, &mine[i]);
    }
    return NULL;
}

/* Rule: any thread may submit. */
static void any_thread_submits(void **state)
{
    struct pool_job *jobs = calloc(SUBMITTERS * JOBS, sizeof *jobs);
    pthread_t threads[SUBMITTERS];

    (void)state;
    atomic_store(&run_count, 0);
    shared = decide_pool_new(8);
    for (unsigned i = 0; i < SUBMITTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, jobs + i * JOBS), 0);
    for (unsigned i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    decide_pool_free(shared);
    assert_int_equal(run_count, SUBMITTERS * JOBS);
    free(jobs);
}

static atomic_uint inside;

/* Ends only when three are inside at once. */
static void meet(struct pool_job *job)
{
    (void)job;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&inside) < 3)
        usleep(100);
}

/* Rule: a job that waits keeps no other from running, as long as there are threads. */
static void threads_are_added(void **state)
{
    struct decide_pool *pool = decide_pool_new(3);
    struct pool_job jobs[3] = { { .run = meet }, { .run = meet }, { .run = meet } };

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        decide_pool_submit(pool, &jobs[i]);
    decide_pool_free(pool);
    assert_int_equal(inside, 3);
}

static int niceness, policy;

static void note_share(struct pool_job *job)
{
    (void)job;
    niceness = getpriority(PRIO_PROCESS, 0);
    policy = sched_getscheduler(0);
}

/* Rule: the pool's threads interrupt no other when they wake, and have the same share of a core, since
 * they take locks that others wait for. decision: 280 */
static void threads_give_way(void **state)
{
    struct decide_pool *pool = decide_pool_new(1);
    struct pool_job job = { .run = note_share };

    (void)state;
    decide_pool_submit(pool, &job);
    decide_pool_free(pool);
    assert_int_equal(niceness, getpriority(PRIO_PROCESS, 0));
    assert_int_equal(policy, SCHED_BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_run_in_order),
        cmocka_unit_test(any_thread_submits),
        cmocka_unit_test(threads_are_added),
        cmocka_unit_test(threads_give_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
