/* Byte-range locks by SMB. MS-FSA 2.1.5.7, 2.1.5.8 */
#include "handles.h"

#include "opens/open_state.h"
#include "service/waiting.h"

static enum error locks(struct fixture *f, const struct held_handle *handle,
                        const struct lock_element *elements, size_t count, enum error *ret_stopped)
{
    struct handle_lock lock = {
        .tree_connect = the_mount(), .handle = handle, .elements = elements, .count = count
    };
    enum error e = run(f, handle_lock_attempt, &lock);

    if (ret_stopped)
        *ret_stopped = lock.stopped;
    return e;
}

static enum error one(struct fixture *f, const struct held_handle *handle, uint64_t offset,
                      uint64_t length, enum lock_action action)
{
    const struct lock_element element = { { offset, length }, action };
    enum error stopped, e = locks(f, handle, &element, 1, &stopped);

    return e ? e : stopped;
}

/* Rule: which lock may be taken beside which, by the same handle or another. MS-FSA 2.1.5.7 */
static void pairs(void **state)
{
    static const struct {
        enum lock_action held, wanted;
        bool own, conflicts;
    } cells[] = {
        { LOCK_SHARED, LOCK_SHARED, true, false },
        { LOCK_SHARED, LOCK_SHARED, false, false },
        { LOCK_SHARED, LOCK_EXCLUSIVE, true, true },
        { LOCK_SHARED, LOCK_EXCLUSIVE, false, true },
        { LOCK_EXCLUSIVE, LOCK_SHARED, true, false },
        { LOCK_EXCLUSIVE, LOCK_SHARED, false, true },
        { LOCK_EXCLUSIVE, LOCK_EXCLUSIVE, true, true },
        { LOCK_EXCLUSIVE, LOCK_EXCLUSIVE, false, true },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        struct held_handle first = opened(f, "x", MAY_RWD, OPEN_OR_NEW);
        struct held_handle second = opened(f, "x", MAY_RWD, OPEN_OR_NEW);

        assert_int_equal(one(f, &first, 10, 10, cells[i].held), OK);
        assert_int_equal(one(f, cells[i].own ? &first : &second, 15, 10, cells[i].wanted),
                         cells[i].conflicts ? E_FileLockConflict : OK);
        assert_int_equal(one(f, &second, 20 + 5, 5, LOCK_EXCLUSIVE), OK);
        closed(f, &first);
        closed(f, &second);
    }
}

/* Rule: what a lock keeps from reads and writes, of its handle, another, and REST. semantics 8.2 */
static void keep_away(void **state)
{
    struct fixture *f = *state;
    struct held_handle first = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle second = opened(f, "x", MAY_RWD, OPEN_EXISTING);
    enum error e;

    assert_int_equal(writes(f, &first, 0, "0123456789"), OK);
    assert_int_equal(one(f, &first, 2, 3, LOCK_EXCLUSIVE), OK);
    assert_non_null(reads(f, &first, 0, 10, &e));
    assert_int_equal(writes(f, &first, 2, "a"), OK);
    assert_null(reads(f, &second, 0, 3, &e));
    assert_int_equal(e, E_FileLockConflict);
    assert_non_null(reads(f, &second, 5, 3, &e));
    assert_int_equal(writes(f, &second, 4, "a"), E_FileLockConflict);
    assert_int_equal(writes(f, &second, 5, "a"), OK);
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 409, "FileLockConflict");
    assert_int_equal(one(f, &first, 2, 3, LOCK_RELEASED), OK);
    assert_int_equal(one(f, &first, 2, 3, LOCK_RELEASED), E_ResourceNotFound);
    assert_int_equal(one(f, &first, 2, 3, LOCK_SHARED), OK);
    assert_non_null(reads(f, &second, 0, 10, &e));
    assert_int_equal(writes(f, &first, 2, "a"), E_FileLockConflict);
    assert_ok(ask(f, "GET /sha/x", NULL, NULL), 200);
    assert_answer(ask(f, "PUT /sha/x?comp=range", "x-ms-write: update\nx-ms-range: bytes=9-9", "x"),
                  409, "FileLockConflict");
    closed(f, &first);
    assert_ok(ask(f, "PUT /sha/x?comp=range", "x-ms-write: update\nx-ms-range: bytes=9-9", "x"),
              201);
}

/* Rule: of a list all are taken or none; of one that releases, those before the one that is not there are.
 * MS-SMB2 3.3.5.14 */
static void of_lists(void **state)
{
    const struct lock_element take[] = { { { 0, 10 }, LOCK_EXCLUSIVE },
                                         { { 20, 10 }, LOCK_EXCLUSIVE },
                                         { { 25, 1 }, LOCK_EXCLUSIVE } };
    const struct lock_element release[] = { { { 0, 10 }, LOCK_RELEASED },
                                            { { 1, 1 }, LOCK_RELEASED },
                                            { { 20, 10 }, LOCK_RELEASED } };
    struct fixture *f = *state;
    struct held_handle first = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle second = opened(f, "x", MAY_RWD, OPEN_EXISTING);
    enum error stopped;

    assert_int_equal(locks(f, &first, take, 3, NULL), E_FileLockConflict);
    assert_int_equal(one(f, &second, 0, 30, LOCK_EXCLUSIVE), OK);
    assert_int_equal(one(f, &second, 0, 30, LOCK_RELEASED), OK);
    assert_int_equal(locks(f, &first, take, 2, NULL), OK);
    assert_int_equal(locks(f, &first, release, 3, &stopped), OK);
    assert_int_equal(stopped, E_ResourceNotFound);
    assert_int_equal(one(f, &second, 0, 10, LOCK_EXCLUSIVE), OK);
    assert_int_equal(one(f, &second, 20, 10, LOCK_EXCLUSIVE), E_FileLockConflict);
    assert_int_equal(one(f, &first, UINT64_MAX, 2, LOCK_SHARED), E_InvalidRange);
}

/* Rule: of locks of one range an exclusive one is given back before the shared ones over it. MS-FSA 2.1.5.8 */
static void unlock_order(void **state)
{
    struct fixture *f = *state;
    struct held_handle first = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle second = opened(f, "x", MAY_RWD, OPEN_EXISTING);

    assert_int_equal(one(f, &first, 0, 10, LOCK_EXCLUSIVE), OK);
    assert_int_equal(one(f, &first, 0, 10, LOCK_SHARED), OK);
    assert_int_equal(one(f, &second, 0, 10, LOCK_SHARED), E_FileLockConflict);
    assert_int_equal(one(f, &first, 0, 10, LOCK_RELEASED), OK);
    assert_int_equal(one(f, &second, 0, 10, LOCK_SHARED), OK);
    assert_int_equal(one(f, &second, 0, 10, LOCK_EXCLUSIVE), E_FileLockConflict);
    assert_int_equal(one(f, &first, 0, 10, LOCK_RELEASED), OK);
    assert_int_equal(one(f, &first, 0, 10, LOCK_RELEASED), E_ResourceNotFound);
}

/* Rule: one that waits goes on when the lock is given back, however long that is. */
static void waits(void **state)
{
    const struct lock_element element = { { 0, 10 }, LOCK_EXCLUSIVE };
    struct fixture *f = *state;
    struct held_handle first = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle second = opened(f, "x", MAY_RWD, OPEN_EXISTING);
    struct handle_lock lock = { .tree_connect = the_mount(),
                                .handle = &second,
                                .elements = &element,
                                .count = 1,
                                .waits = true };
    instant waits_until = 0;
    uint64_t turn;

    assert_int_equal(one(f, &first, 0, 1, LOCK_SHARED), OK);
    turn = waiters_turn();
    assert_int_equal(run_again(f, handle_lock_attempt, &lock, &waits_until), DECIDE_WAITS);
    assert_true(waits_until == INSTANT_MAX);
    assert_int_equal(run_again(f, handle_lock_attempt, &lock, &waits_until), DECIDE_WAITS);
    assert_int_equal(waiters_turn(), turn);
    assert_int_equal(one(f, &first, 0, 1, LOCK_RELEASED), OK);
    assert_int_not_equal(waiters_turn(), turn);
    assert_int_equal(run_again(f, handle_lock_attempt, &lock, &waits_until), OK);
}

static unsigned woken;

static void count(struct waiter *waiter)
{
    (void)waiter;
    woken++;
}

#define WAITERS 2400u

/* Rule: operations on another file do not wake requests that wait for a lock. */
static void wait_for_their_file_alone(void **state)
{
    static struct waiter waiters[WAITERS];
    struct fixture *f = *state;
    struct held_handle file = opened(f, "x", MAY_RWD, OPEN_NEW), other;
    const struct waiter_key key = { .space = the_mount()->space, .node = file.node };
    uint64_t turn = waiters_turn();

    woken = 0;
    assert_int_equal(one(f, &file, 0, 1, LOCK_EXCLUSIVE), OK);
    for (size_t i = 0; i < WAITERS; i++) {
        waiters[i].wake = count;
        assert_int_equal(waiters_add(&key, turn, INSTANT_MAX, &waiters[i]), WAITING_KEPT);
    }
    other = opened(f, "y", MAY_RWD, OPEN_NEW);
    assert_int_equal(one(f, &other, 0, 1, LOCK_EXCLUSIVE), OK);
    assert_int_equal(one(f, &other, 0, 1, LOCK_RELEASED), OK);
    closed(f, &other);
    assert_int_not_equal(waiters_turn(), turn);
    assert_int_equal(woken, 0);
    assert_int_equal(one(f, &file, 0, 1, LOCK_RELEASED), OK);
    assert_int_equal(woken, WAITERS);
    closed(f, &file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pairs),        TEST(keep_away), TEST(of_lists),
        TEST(unlock_order), TEST(waits),     TEST(wait_for_their_file_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
