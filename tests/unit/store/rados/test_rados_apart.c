/* Commits that none can rest on: they wait for what they rest on, and those that come after them for them. decision: 645;
 * on a RADOS in memory */
#include "decider.h"

/* A commit in flight, and one over two partitions that was decided on it: where nothing is in its way they are done
 * once the hold ends. */
static void begin_apart(struct fixture *f, struct decider *first, struct decider *both)
{
    assert_int_equal(read_number(first), STORE_OK);
    live_hold(f->live, true);
    assert_int_equal(add_one(first, NULL), STORE_OK);
    assert_int_equal(read_number(both), STORE_OK);
    assert_int_equal(both->value, 2);
    assert_int_equal(add_one(both, f->other), STORE_OK);
}

/* Rule: a commit over two partitions waits for what it rests on, and nobody who was shown the same state goes before
 * it. */
static void two_partitions(void **state)
{
    struct fixture *f = *state;
    struct decider *first, *both, *same;

    open_other(f);
    make_busy(f);
    first = decider_new(f, f->store);
    both = decider_new(f, f->store);
    same = decider_new(f, f->store);
    assert_int_equal(read_number(first), STORE_OK);
    live_hold(f->live, true);
    assert_int_equal(add_one(first, NULL), STORE_OK);
    assert_int_equal(read_number(both), STORE_OK);
    assert_int_equal(read_number(same), STORE_OK);
    assert_int_equal(both->value, 2);
    assert_int_equal(same->value, 2);
    assert_int_equal(add_one(both, f->other), STORE_OK);
    assert_int_equal(add_one(same, NULL), STORE_CONFLICT);
    live_hold(f->live, false);
    assert_int_equal(store_await(f->store, both->seen), STORE_OK);
    assert_int_equal(store_settled(f->store, first->seen), STORE_OK);
    assert_int_equal(number_of(f), 3);
}

/* Rule: nor does who comes then, and reads the state before it: one op would be faster than its two. */
static void who_comes_waits(void **state)
{
    struct fixture *f = *state;
    struct decider *first, *both, *quick;
    enum store_result result;

    open_other(f);
    make_busy(f);
    first = decider_new(f, f->store);
    both = decider_new(f, f->store);
    quick = decider_new(f, f->store);
    begin_apart(f, first, both);
    assert_int_equal(begin_read(quick), STORE_WAIT); /* behind the op in flight */
    live_set_pause(f->live, 20000);
    live_hold(f->live, false);
    wait_for(quick->set);
    assert_int_equal(read_number(quick), STORE_OK);
    assert_int_equal(quick->value, 2);
    assert_int_equal(add_one(quick, NULL), STORE_OK);
    assert_int_equal(store_await(f->store, both->seen), STORE_OK);
    assert_int_equal(store_await(f->store, quick->seen), STORE_CONFLICT);
    live_set_pause(f->live, 0);
    assert_int_equal(decide(quick), STORE_OK);
    result = store_await(f->store, quick->seen);
    assert_int_equal(result, STORE_OK);
    assert_int_equal(number_of(f), 4);
}

/* So that a commit over it as it was before is a conflict. */
static void change_other(struct fixture *f)
{
    struct changes *changes = changes_new(f->arena);
    struct commit_part part = { snapshot_open(f->store, (struct partition){ f->space, B("other") },
                                              STORE_MAY_BLOCK),
                                changes };
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, B("n"), B("7"), NULL, 0);
    assert_int_equal(snapshot_hold(part.snapshot), STORE_OK);
    assert_int_equal(store_commit(f->store, &part, 1, clock_above(snapshot_instant(part.snapshot)),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(part.snapshot);
}

/* Rule: who waits goes on when the other failed. */
static void who_waits_goes_on(void **state)
{
    struct fixture *f = *state;
    struct decider *first, *both, *quick;

    open_other(f);
    make_busy(f);
    change_other(f);
    first = decider_new(f, f->store);
    both = decider_new(f, f->store);
    quick = decider_new(f, f->store);
    begin_apart(f, first, both);
    assert_int_equal(begin_read(quick), STORE_WAIT);
    live_set_pause(f->live, 20000);
    live_hold(f->live, false);
    wait_for(quick->set);
    assert_int_equal(read_number(quick), STORE_OK);
    assert_int_equal(quick->value, 2);
    assert_int_equal(add_one(quick, NULL), STORE_OK);
    assert_int_equal(store_await(f->store, quick->seen), STORE_OK);
    assert_int_equal(store_await(f->store, both->seen), STORE_CONFLICT);
    assert_int_equal(number_of(f), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_partitions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_comes_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_waits_goes_on, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
