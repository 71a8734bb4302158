/* What clients cache, by SMB: what they are given, what breaks it, and how its holders learn of that.
 * MS-FSA 2.1.4.12, 2.1.5.17; MS-SMB2 3.3.4.7; semantics 8.4 */
#include "handles.h"

#include "opens/break_notification.h"

#define RH  (CACHING_READ | CACHING_HANDLE)
#define RW  (CACHING_READ | CACHING_WRITE)
#define RWH CACHING_ALL

struct holder {
    struct break_listener listener;
    struct break_notification news;
    unsigned told;
};

static void told(struct break_listener *listener, const struct break_notification *news,
                 bool is_first)
{
    struct holder *holder = (struct holder *)(void *)listener;

    assert_true(is_first);
    holder->news = *news;
    holder->told++;
}

static void hears(struct holder *holder, struct guid key)
{
    *holder = (struct holder){ .listener = {
                                   .space = the_mount()->space, .key = key, .on_break = told } };
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
    struct handle_acknowledge answer = { .tree_connect = the_mount(),
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
    assert_true(waits_until == decided_at() + OPEN_WAIT_MAX_S * TICKS_PER_SECOND);
    closed(f, &first.handle);
    assert_int_equal(run_again(f, handle_open_attempt, &second, &waits_until), OK);
    break_listener_remove(&holder.listener);
}

static enum error locks_one(struct fixture *f, const struct held_handle *handle)
{
    const struct lock_element element = { .range = { 0, 1 }, .action = LOCK_SHARED };
    struct handle_lock lock = {
        .tree_connect = the_mount(), .handle = handle, .elements = &element, .count = 1
    };

    return run(f, handle_lock_attempt, &lock);
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
        struct handle_set_length length = { .tree_connect = the_mount(), .handle = &writer.handle };

        assert_int_equal(writes(f, &reader.handle, 0, "own"), OK);
        assert_int_equal(holder.told, 0);
        if (i == 0)
            assert_int_equal(writes(f, &writer.handle, 0, "a"), OK);
        else if (i == 1)
            assert_int_equal(locks_one(f, &writer.handle), OK);
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
        .tree_connect = the_mount(),
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
    struct handle_rename rename = { .tree_connect = the_mount(), .handle = &looks.handle };

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

/* Rule: a file that is to be deleted, and one whose descriptor is set, takes the cached handles of others first, and
 * leaves oneself one's own; to take a delete back takes nothing. MS-FSA 2.1.4.12 */
static void takes_handles(void **state)
{
    struct handle_open first = asked("x", MAY_READ_DATA, OPEN_NEW);
    struct handle_open second = asked("x", MAY_DELETE | MAY_WRITE_DAC, OPEN_EXISTING);
    struct handle_set_disposition disposition = { the_mount(), &second.handle, true };
    struct handle_set_descriptor descriptor = { .tree_connect = the_mount(),
                                                .handle = &second.handle };
    struct fixture *f = *state;
    struct holder holder, own;

    first.caching = second.caching = RH;
    hears(&holder, first.caching_key);
    hears(&own, second.caching_key);
    assert_int_equal(run(f, handle_open_attempt, &first), OK);
    assert_int_equal(run(f, handle_open_attempt, &second), OK);
    assert_int_equal(second.given.holds, RH);
    assert_int_equal(run(f, handle_set_descriptor_attempt, &descriptor), DECIDE_WAITS);
    assert_int_equal(holder.news.to, CACHING_READ);
    assert_int_equal(run(f, handle_set_disposition_attempt, &disposition), DECIDE_WAITS);
    assert_int_equal(holder.told, 1);
    assert_false(shown(f, &first.handle).is_delete_pending);
    assert_int_equal(answers(f, &first, CACHING_READ), OK);
    assert_int_equal(run(f, handle_set_disposition_attempt, &disposition), OK);
    assert_true(shown(f, &first.handle).is_delete_pending);
    disposition.deletes = false;
    assert_int_equal(run(f, handle_set_disposition_attempt, &disposition), OK);
    assert_int_equal(holder.told, 1);
    assert_int_equal(own.told, 0);
    break_listener_remove(&holder.listener);
    break_listener_remove(&own.listener);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(grants),        TEST(upgrades),     TEST(open_breaks),   TEST(open_waits),
        TEST(data_breaks),   TEST(asked_again),  TEST(overdue),       TEST(oplocks),
        TEST(cached_handle), TEST(other_breaks), TEST(takes_handles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
