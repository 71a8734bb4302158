/* Byte-range locks by SMB, breaks of what clients cache, and how their holders learn of them.
 * MS-FSA 2.1.5.7, 2.1.5.8, 2.1.5.17; MS-SMB2 3.3.4.7; semantics 8.4 */
#include "handles.h"

#include "file/break_news.h"
#include "file/gate.h"
#include "service/waiting.h"

#define RH  (CACHING_READ | CACHING_HANDLE)
#define RW  (CACHING_READ | CACHING_WRITE)
#define RWH CACHING_ALL

/* ---- locks ---- */

static enum error locks(struct fixture *f, const struct held_handle *handle,
                        const struct lock_element *elements, size_t count, enum error *ret_stopped)
{
    struct handle_lock lock = {
        .mount = the_mount(), .handle = handle, .elements = elements, .count = count
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
    struct handle_lock lock = {
        .mount = the_mount(), .handle = &second, .elements = &element, .count = 1, .waits = true
    };
    instant waits_until = 0;
    uint64_t turn;

    assert_int_equal(one(f, &first, 0, 1, LOCK_SHARED), OK);
    turn = waiting_turn();
    assert_int_equal(run_again(f, handle_lock_attempt, &lock, &waits_until), DECIDE_WAITS);
    assert_true(waits_until == INSTANT_MAX);
    assert_int_equal(run_again(f, handle_lock_attempt, &lock, &waits_until), DECIDE_WAITS);
    assert_int_equal(waiting_turn(), turn);
    assert_int_equal(one(f, &first, 0, 1, LOCK_RELEASED), OK);
    assert_int_not_equal(waiting_turn(), turn);
    assert_int_equal(run_again(f, handle_lock_attempt, &lock, &waits_until), OK);
}

/* ---- caching ---- */

struct holder {
    struct break_listener listener;
    struct break_news news;
    unsigned told;
};

static void told(struct break_listener *listener, const struct break_news *news, bool is_first)
{
    struct holder *holder = (struct holder *)(void *)listener;

    assert_true(is_first);
    holder->news = *news;
    holder->told++;
}

static void hears(struct holder *holder, struct guid key)
{
    *holder =
        (struct holder){ .listener = { .space = the_mount()->space, .key = key, .asked = told } };
    break_listener_add(&holder->listener);
}

/* Opens "x" to read and write, with that cached. */
static struct handle_open caches(struct fixture *f, uint8_t wanted, uint8_t given,
                                 struct holder *holder)
{
    struct handle_open open = asked("x", MAY_RWD, OPEN_OR_NEW);

    open.caching = wanted;
    hears(holder, open.caching_key);
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    assert_int_equal(open.given.holds, given);
    return open;
}

static enum error answers(struct fixture *f, const struct handle_open *open, uint8_t keeps)
{
    struct handle_acknowledge answer = { .mount = the_mount(),
                                         .node = open->handle.node,
                                         .answer = { .key = open->caching_key, .keeps = keeps } };

    return run(f, handle_acknowledge_attempt, &answer);
}

/* Rule: what is given to one who is alone, by what he asks for. MS-SMB2 3.3.5.9.8; oplocks have no RH. */
static void grants(void **state)
{
    static const struct {
        uint8_t wanted;
        bool is_oplock;
        uint8_t given;
    } cases[] = {
        { 0, false, 0 },
        { CACHING_READ, false, CACHING_READ },
        { RH, false, RH },
        { RW, false, RW },
        { RWH, false, RWH },
        { CACHING_HANDLE, false, 0 },
        { CACHING_WRITE, false, 0 },
        { CACHING_READ, true, CACHING_READ },
        { RW, true, RW },
        { RWH, true, RWH },
        { RH, true, CACHING_READ },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct handle_open open = asked("x", MAY_RWD, OPEN_OR_NEW);

        open.caching = cases[i].wanted;
        open.is_oplock = cases[i].is_oplock;
        assert_int_equal(run(f, handle_open_attempt, &open), OK);
        assert_int_equal(open.given.holds, cases[i].given);
        closed(f, &open.handle);
    }
}

/* Rule: what a key has grows only to all that is asked for. MS-SMB2 3.3.5.9.8 */
static void upgrades(void **state)
{
    static const struct {
        uint8_t has, wanted, becomes;
    } cases[] = {
        { CACHING_READ, RH, RH }, { CACHING_READ, RWH, RWH }, { RH, RW, RH },
        { RW, RH, RW },           { RH, RWH, RWH },           { RWH, CACHING_READ, RWH },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct handle_open first = asked("x", MAY_RWD, OPEN_OR_NEW), second = first;

        first.caching = cases[i].has;
        second.caching = cases[i].wanted;
        assert_int_equal(run(f, handle_open_attempt, &first), OK);
        assert_int_equal(run(f, handle_open_attempt, &second), OK);
        assert_int_equal(second.given.holds, cases[i].becomes);
        closed(f, &first.handle);
        closed(f, &second.handle);
    }
}

/* Rule: another open waits until what is cached of writes is given up; the holder is told once, after the
 * commit, and the open has what may be had beside. */
static void open_breaks(void **state)
{
    struct fixture *f = *state;
    struct holder holder;
    struct handle_open first = caches(f, RWH, RWH, &holder);
    struct handle_open second = asked("x", MAY_READ_DATA, OPEN_EXISTING);
    instant waits_until = 0;

    second.caching = RWH;
    assert_int_equal(run_again(f, handle_open_attempt, &second, &waits_until), DECIDE_WAITS);
    assert_int_equal(holder.told, 1);
    assert_int_equal(holder.news.holds, RWH);
    assert_int_equal(holder.news.to, RH);
    assert_int_equal(holder.news.node, first.handle.node);
    assert_int_equal(run_again(f, handle_open_attempt, &second, &waits_until), DECIDE_WAITS);
    assert_int_equal(holder.told, 1);
    assert_int_equal(answers(f, &first, RH), OK);
    assert_int_equal(answers(f, &first, RH), E_ResourceNotFound);
    assert_int_equal(run_again(f, handle_open_attempt, &second, &waits_until), OK);
    assert_int_equal(second.given.holds, RH);
    break_listener_remove(&holder.listener);
}

/* Rule: who waits for an open waits for longer than its client has to answer. MS-SMB2 3.3.2.1 */
static void open_waits(void **state)
{
    struct fixture *f = *state;
    struct holder holder;
    struct handle_open first = caches(f, RWH, RWH, &holder);
    struct handle_open second = asked("x", MAY_READ_DATA, OPEN_EXISTING);
    instant waits_until = 0;

    assert_int_equal(run_again(f, handle_open_attempt, &second, &waits_until), DECIDE_WAITS);
    assert_true(waits_until == decided_at() + GATE_OPEN_WAIT_MAX_S * TICKS_PER_SECOND);
    closed(f, &first.handle);
    assert_int_equal(run_again(f, handle_open_attempt, &second, &waits_until), OK);
    break_listener_remove(&holder.listener);
}

/* Rule: a write, a lock, and a length take from others all that they have cached of the data; not from the
 * handle itself. One who only read needs not answer. */
static void data_breaks(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 3; i++) {
        struct holder holder, own;
        struct handle_open writer = caches(f, 0, 0, &own);
        struct handle_open reader = caches(f, CACHING_READ, CACHING_READ, &holder);
        struct handle_set_length length = { .mount = the_mount(), .handle = &writer.handle };

        assert_int_equal(writes(f, &reader.handle, 0, "own"), OK);
        assert_int_equal(holder.told, 0);
        if (i == 0)
            assert_int_equal(writes(f, &writer.handle, 0, "a"), OK);
        else if (i == 1)
            assert_int_equal(one(f, &writer.handle, 0, 1, LOCK_SHARED), OK);
        else
            assert_int_equal(run(f, handle_set_length_attempt, &length), OK);
        assert_int_equal(holder.told, 1);
        assert_int_equal(holder.news.holds, CACHING_READ);
        assert_int_equal(holder.news.to, 0);
        assert_int_equal(answers(f, &reader, 0), E_ResourceNotFound);
        closed(f, &reader.handle);
        closed(f, &writer.handle);
        break_listener_remove(&holder.listener);
        break_listener_remove(&own.listener);
    }
}

/* Rule: who is asked for more before he has answered keeps at most what he was told, and is told of the rest when
 * he has answered: first of handles, then of what was read. Who waited goes on after all of it.
 * smb2.lease.breaking3 */
static void asked_again(void **state)
{
    struct fixture *f = *state;
    struct holder holder;
    struct handle_open first = caches(f, RWH, RWH, &holder);
    struct handle_open second = asked("x", MAY_READ_DATA, OPEN_EXISTING);
    struct handle_open third = asked("x", MAY_RWD, OPEN_OVERWRITES);
    instant second_waits = 0, third_waits = 0;

    assert_int_equal(run_again(f, handle_open_attempt, &second, &second_waits), DECIDE_WAITS);
    assert_int_equal(run_again(f, handle_open_attempt, &third, &third_waits), DECIDE_WAITS);
    assert_int_equal(holder.told, 1);
    assert_int_equal(holder.news.to, RH);
    assert_int_equal(answers(f, &first, RWH), E_InvalidInput);
    assert_int_equal(answers(f, &first, RH), OK);
    assert_int_equal(holder.told, 2);
    assert_int_equal(holder.news.holds, RH);
    assert_int_equal(holder.news.to, CACHING_READ);
    assert_int_equal(run_again(f, handle_open_attempt, &second, &second_waits), DECIDE_WAITS);
    assert_int_equal(answers(f, &first, CACHING_READ), OK);
    assert_int_equal(holder.told, 3);
    assert_int_equal(holder.news.holds, CACHING_READ);
    assert_int_equal(holder.news.to, 0);
    assert_int_equal(holder.news.epoch, 2); /* of all three: it was granted, and is broken */
    assert_int_equal(answers(f, &first, 0), E_ResourceNotFound);
    assert_int_equal(run_again(f, handle_open_attempt, &second, &second_waits), OK);
    assert_int_equal(run_again(f, handle_open_attempt, &third, &third_waits), OK);
    break_listener_remove(&holder.listener);
}

/* Rule: an answer in the client's place is to the break that it was made for, not to a later one. */
static void overdue(void **state)
{
    struct fixture *f = *state;
    struct holder holder;
    struct handle_open first = caches(f, RWH, RWH, &holder);
    struct handle_open second = asked("x", MAY_READ_DATA, OPEN_EXISTING);
    struct handle_acknowledge late = {
        .mount = the_mount(),
        .node = first.handle.node,
        .answer = { .key = first.caching_key, .is_overdue = true },
    };

    assert_int_equal(run(f, handle_open_attempt, &second), DECIDE_WAITS);
    late.answer.epoch = holder.news.epoch;
    assert_int_equal(answers(f, &first, RH), OK);
    assert_int_equal(run(f, handle_open_attempt, &second), OK);
    assert_int_equal(writes(f, &second.handle, 0, "a"), OK);
    assert_int_equal(holder.told, 2);
    assert_int_equal(run(f, handle_acknowledge_attempt, &late), E_ResourceNotFound);
    late.answer.epoch = holder.news.epoch;
    assert_int_equal(run(f, handle_acknowledge_attempt, &late), OK);
    assert_int_equal(answers(f, &first, 0), E_ResourceNotFound);
    break_listener_remove(&holder.listener);
}

/* Rule: an oplock breaks to level II or to none, and its client may answer with less than it was left; one of
 * level II is lost by the handle's own write, too. MS-SMB2 3.3.5.22.1, MS-FSA 2.1.4.12 */
static void oplocks(void **state)
{
    struct fixture *f = *state;
    struct handle_open first = asked("x", MAY_RWD, OPEN_OR_NEW);
    struct handle_open second = asked("x", MAY_READ_DATA, OPEN_EXISTING);
    struct holder holder;

    first.caching = RWH;
    first.is_oplock = true;
    hears(&holder, first.caching_key);
    assert_int_equal(run(f, handle_open_attempt, &first), OK);
    assert_int_equal(first.given.holds, RWH);
    assert_int_equal(writes(f, &first.handle, 0, "own"), OK);
    assert_int_equal(holder.told, 0);
    assert_int_equal(run(f, handle_open_attempt, &second), DECIDE_WAITS);
    assert_int_equal(holder.news.to, CACHING_READ);
    assert_int_equal(answers(f, &first, CACHING_READ), OK);
    assert_int_equal(run(f, handle_open_attempt, &second), OK);
    assert_int_equal(writes(f, &first.handle, 0, "own"), OK);
    assert_int_equal(holder.told, 2);
    assert_int_equal(holder.news.holds, CACHING_READ);
    assert_int_equal(holder.news.to, 0);
    break_listener_remove(&holder.listener);
}

/* Rule: where only a cached handle is in the way, its client is asked for that first. MS-FSA 2.1.5.1.2.2 */
static void cached_handle(void **state)
{
    struct handle_open first = asked("x", MAY_READ_DATA, OPEN_NEW);
    struct handle_open second = asked("x", MAY_WRITE_DATA, OPEN_EXISTING);
    struct fixture *f = *state;
    struct holder holder;

    first.share = R;
    first.caching = RH;
    hears(&holder, first.caching_key);
    assert_int_equal(run(f, handle_open_attempt, &first), OK);
    assert_int_equal(run(f, handle_open_attempt, &second), DECIDE_WAITS);
    assert_int_equal(holder.news.to, CACHING_READ);
    assert_int_equal(answers(f, &first, CACHING_READ), OK);
    assert_int_equal(run(f, handle_open_attempt, &second), E_SharingViolation);
    closed(f, &first.handle);
    assert_int_equal(run(f, handle_open_attempt, &second), OK);
    break_listener_remove(&holder.listener);
}

/* Rule: an open of attributes alone breaks nothing; renaming asks for cached handles. */
static void other_breaks(void **state)
{
    struct fixture *f = *state;
    struct holder holder, none;
    struct handle_open first = caches(f, RWH, RWH, &holder);
    struct handle_open looks = asked("x", MAY_READ_ATTRIBUTES, OPEN_EXISTING);
    struct handle_rename rename = { .mount = the_mount(), .handle = &looks.handle };

    rename.names = names_of("y", &rename.name_count);
    hears(&none, looks.caching_key);
    assert_int_equal(run(f, handle_open_attempt, &looks), OK);
    assert_int_equal(holder.told, 0);
    assert_int_equal(run(f, handle_rename_attempt, &rename), DECIDE_WAITS);
    assert_int_equal(holder.news.to, RW);
    closed(f, &first.handle);
    assert_int_equal(run(f, handle_rename_attempt, &rename), OK);
    assert_int_equal(none.told, 0);
    break_listener_remove(&holder.listener);
    break_listener_remove(&none.listener);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pairs),       TEST(keep_away),   TEST(of_lists),      TEST(waits),
        TEST(grants),      TEST(upgrades),    TEST(open_breaks),   TEST(open_waits),
        TEST(data_breaks), TEST(asked_again), TEST(cached_handle), TEST(other_breaks),
        TEST(overdue),     TEST(oplocks),     TEST(unlock_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
