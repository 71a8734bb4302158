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

static const struct pool_shares no_shares;
static atomic_uint run_count;
static unsigned order[JOBS];

static void note(struct pool_job *job)
{
    order[atomic_fetch_add(&run_count, 1)] = ((struct test_job *)job)->number;
}

/* Rule: jobs run in the order they were submitted, each once; freeing waits for all of them. */
static void jobs_run_in_order(void **state)
{
    struct decision_pool *pool = decision_pool_new(1, no_shares);
    struct test_job *jobs = calloc(JOBS, sizeof *jobs);

    (void)state;
    atomic_store(&run_count, 0);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct test_job){ .job.run = note, .number = i };
        decision_pool_submit(pool, &jobs[i].job);
    }
    decision_pool_free(pool);
    assert_int_equal(run_count, JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(order[i], i);
    free(jobs);
}

static atomic_bool is_held, goes_on;

static void hold(struct pool_job *job)
{
    (void)job;
    atomic_store(&is_held, true);
    while (!atomic_load(&goes_on))
        usleep(100);
}

/* Rule: of accounts whose jobs wait for a thread each has every other turn, however many another one has waiting, and
 * whoever came first; of one account they run in their order. decision: 785 */
static void accounts_take_turns(void **state)
{
    enum { MANY = 40 };
    static const struct pool_owner many = { .account = 7 }, few = { .account = 8 }, nobody;
    struct decision_pool *pool = decision_pool_new(1, no_shares);
    struct pool_job holder = { .run = hold };
    struct test_job jobs[MANY + 4];

    (void)state;
    atomic_store(&run_count, 0);
    decision_pool_submit(pool, &holder);
    while (!atomic_load(&is_held))
        usleep(100);
    for (unsigned i = 0; i < MANY + 4; i++) {
        jobs[i] = (struct test_job){ .job = { .run = note, .owner = many }, .number = i };
        if (i >= MANY)
            jobs[i].job.owner = i % 2 == 0 ? few : nobody;
        decision_pool_submit(pool, &jobs[i].job);
    }
    atomic_store(&goes_on, true);
    decision_pool_free(pool);
    assert_int_equal(run_count, MANY + 4);
    for (unsigned i = 0, next[3] = { 0, MANY, MANY + 1 }; i < MANY + 4; i++) {
        unsigned whose = order[i] < MANY ? 0 : 1 + order[i] % 2;

        assert_int_equal(order[i], next[whose]);
        next[whose] += whose == 0 ? 1 : 2;
        if (order[i] >= MANY)
            assert_in_range(i, 0, 5);
    }
}

/* Rule: whose turn it is and has its share passes it on. */
static void turns_pass_over_shares(void **state)
{
    struct decision_pool *pool = decision_pool_new(2, (struct pool_shares){ .account = 1 });
    struct pool_job holder = { .run = hold, .owner = { .account = 7 } };
    struct test_job jobs[6];

    (void)state;
    atomic_store(&run_count, 0);
    atomic_store(&is_held, false);
    atomic_store(&goes_on, false);
    decision_pool_submit(pool, &holder);
    while (!atomic_load(&is_held))
        usleep(100);
    for (unsigned i = 0; i < 6; i++) {
        jobs[i] = (struct test_job){ .job = { .run = note, .owner = { .account = 7 + i % 2 } },
                                     .number = i };
        decision_pool_submit(pool, &jobs[i].job);
    }
    while (atomic_load(&run_count) < 3)
        usleep(100);
    usleep(20000);
    assert_int_equal(run_count, 3);
    atomic_store(&goes_on, true);
    decision_pool_free(pool);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(order[i], i < 3 ? 2 * i + 1 : 2 * (i - 3));
}

static struct decision_pool *shared;

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
        decision_pool_submit(shared, &mine[i]);
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
    shared = decision_pool_new(8, no_shares);
    for (unsigned i = 0; i < SUBMITTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, jobs + i * JOBS), 0);
    for (unsigned i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    decision_pool_free(shared);
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
    struct decision_pool *pool = decision_pool_new(3, no_shares);
    struct pool_job jobs[3] = { { .run = meet }, { .run = meet }, { .run = meet } };

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        decision_pool_submit(pool, &jobs[i]);
    decision_pool_free(pool);
    assert_int_equal(inside, 3);
}

/* Jobs that stand until they are let go, counted by owner. */
static atomic_uint standing[3];
static atomic_bool let_go;

static void stand(struct pool_job *job)
{
    unsigned number = ((struct test_job *)job)->number;

    atomic_fetch_add(&standing[number], 1);
    while (!atomic_load(&let_go))
        usleep(100);
}

static struct test_job standing_job(unsigned number, uint64_t account, uint64_t source)
{
    return (struct test_job){ .job = { .run = stand, .owner = { account, source } },
                              .number = number };
}

static void wait_for_standing(unsigned number, unsigned wanted)
{
    while (atomic_load(&standing[number]) < wanted)
        usleep(100);
}

/* Rule: jobs of one account, and of one of its sources, have no more threads than their share, and those
 * that wait for it keep no other owner from a thread. All run in the end. decision: 284 */
static void owners_have_shares(void **state)
{
    struct decision_pool *pool =
        decision_pool_new(4, (struct pool_shares){ .account = 3, .source = 2 });
    struct test_job jobs[11];

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        jobs[i] = standing_job(0, 1, 11);
    for (unsigned i = 5; i < 10; i++)
        jobs[i] = standing_job(1, 1, 12);
    jobs[10] = standing_job(2, 2, 21);
    for (unsigned i = 0; i < 11; i++)
        decision_pool_submit(pool, &jobs[i].job);
    wait_for_standing(2, 1);
    wait_for_standing(1, 1);
    wait_for_standing(0, 2);
    usleep(20000);
    assert_int_equal(standing[0], 2);
    assert_int_equal(standing[1], 1);
    atomic_store(&let_go, true);
    decision_pool_free(pool);
    assert_int_equal(standing[0], 5);
    assert_int_equal(standing[1], 5);
}

#define PLACES 12

/* Submits jobs of the owner as long as there is room; returns how many. */
static unsigned fill(struct decision_pool *pool, struct pool_owner owner, struct test_job *jobs)
{
    unsigned count = 0;

    while (count < PLACES && decision_pool_has_capacity(pool, &owner, PLACES)) {
        jobs[count] = standing_job(0, owner.account, owner.source);
        decision_pool_submit(pool, &jobs[count++].job);
    }
    return count;
}

/* Rule: an account may have as many jobs waiting as it leaves places free, one of its sources half as
 * many; who is counted for nobody has all. */
static void places_are_left_for_others(void **state)
{
    const struct pool_owner one = { 1, 11 }, other_source = { 1, 12 }, other = { 2, 21 },
                            nobody = { 0, 0 };
    struct decision_pool *pool = decision_pool_new(1, (struct pool_shares){ .account = 1 });
    struct test_job jobs[1 + PLACES] = { standing_job(0, 3, 31) };
    unsigned count;

    (void)state;
    atomic_store(&let_go, false);
    atomic_store(&standing[0], 0);
    decision_pool_submit(pool, &jobs[0].job);
    wait_for_standing(0, 1);
    count = fill(pool, one, jobs + 1);
    assert_int_equal(count, 4); /* of 12: twice as many are left */
    count += fill(pool, other_source, jobs + 1 + count);
    assert_int_equal(count, 6);
    assert_true(decision_pool_has_capacity(pool, &other, PLACES));
    assert_true(decision_pool_has_capacity(pool, &nobody, 7));
    assert_false(decision_pool_has_capacity(pool, &nobody, 6));
    atomic_store(&let_go, true);
    decision_pool_free(pool);
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
    struct decision_pool *pool = decision_pool_new(1, no_shares);
    struct pool_job job = { .run = note_share };

    (void)state;
    decision_pool_submit(pool, &job);
    decision_pool_free(pool);
    assert_int_equal(niceness, getpriority(PRIO_PROCESS, 0));
    assert_int_equal(policy, SCHED_BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_take_turns),        cmocka_unit_test(turns_pass_over_shares),
        cmocka_unit_test(jobs_run_in_order),          cmocka_unit_test(any_thread_submits),
        cmocka_unit_test(threads_are_added),          cmocka_unit_test(owners_have_shares),
        cmocka_unit_test(places_are_left_for_others), cmocka_unit_test(threads_give_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
