/* Handles whose client has lost its connection: which are kept, what ends them, who finds them again.
 * MS-SMB2 3.3.7.1, 3.3.4.6, 3.3.4.7; concurrency/README.md rule 22 */
#include "handles.h"

#include "base/clock.h"
#include "handles/durable_handle.h"

#define C_R    CACHING_READ
#define C_RW   (CACHING_READ | CACHING_WRITE)
#define C_RH   (CACHING_READ | CACHING_HANDLE)
#define C_RWH  CACHING_ALL
#define MINUTE (60 * TICKS_PER_SECOND)

/* Opens "x" so; `persists`: for a minute. */
static struct held_handle cached(struct fixture *f, uint32_t desired, uint8_t share,
                                 uint8_t caching, bool persists)
{
    struct handle_open open = asked("x", desired, OPEN_OR_NEW);

    open.share = share;
    open.caching = caching;
    open.persists = persists;
    open.durable = (struct durable_handle_state){ .ticks = MINUTE, .of_client = BYTES("kept") };
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    assert_int_equal(open.given.holds, caching);
    return open.handle;
}

static bool leaves_for(struct fixture *f, const struct held_handle *handle, uint64_t ticks)
{
    struct handle_disconnect leave = { .close = { .tree_connect = the_mount(), .handle = handle },
                                       .durable = { .ticks = ticks,
                                                    .granted = handle->granted,
                                                    .times = handle->times,
                                                    .of_client = BYTES("kept") } };

    assert_int_equal(run(f, handle_disconnect_attempt, &leave), OK);
    return leave.stays;
}

static bool leaves(struct fixture *f, const struct held_handle *handle)
{
    return leaves_for(f, handle, MINUTE);
}

static enum error finds(struct fixture *f, uint64_t id, struct disconnected_handle *ret_away)
{
    *ret_away = (struct disconnected_handle){ .tree_connect = the_mount(), .id = id };
    return run(f, disconnected_handle_attempt, ret_away);
}

static bool is_away(struct fixture *f, const struct held_handle *handle)
{
    struct disconnected_handle away;
    enum error e = finds(f, handle->id, &away);

    assert_true(e == OK || e == E_ResourceNotFound);
    return !e;
}

static enum error returns(struct fixture *f, const struct held_handle *handle, const char *name,
                          struct handle_reconnect *ret_back)
{
    *ret_back = (struct handle_reconnect){ .tree_connect = the_mount(),
                                           .handle = handle,
                                           .session = 9,
                                           .client_address = BYTES("203.0.113.9:1"),
                                           .client_name = BYTES("again") };
    if (name)
        ret_back->names = names_of(name, &ret_back->name_count);
    return run(f, handle_reconnect_attempt, ret_back);
}

/* What is listed of the handles of "x". */
static const char *listed(struct fixture *f)
{
    struct reply list = ask(f, "GET /sha/x?comp=listhandles", NULL, NULL);

    assert_ok(list, 200);
    return arena_string(handles_arena(), list.body);
}

/* Rule: a client finds all of its handle again: rights, times, caching, locks, and what smb/ kept; and a list of
 * handles shows it meanwhile, and by which connection it is held then. */
static void comes_back(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = cached(f, MAY_RWD, 0, C_RWH, false);
    struct disconnected_handle away;
    struct handle_reconnect back;

    handle.times.keeps_written = true;
    handle.times.shown_written = 77;
    assert_false(is_away(f, &handle));
    assert_int_equal(returns(f, &handle, NULL, &back), E_ResourceNotFound);
    assert_true(leaves(f, &handle));
    assert_non_null(strstr(listed(f), "203.0.113.7:53412"));
    assert_int_equal(finds(f, handle.id, &away), OK);
    assert_int_equal(away.handle.node, handle.node);
    assert_int_equal(away.handle.parent, handle.parent);
    assert_int_equal(away.handle.kind, TREE_FILE);
    assert_int_equal(away.handle.granted, handle.granted);
    assert_true(away.handle.times.keeps_written && !away.handle.times.keeps_changed);
    assert_int_equal(away.handle.times.shown_written, 77);
    assert_bytes(away.durable.of_client, "kept");
    assert_false(away.persists);
    assert_int_equal(returns(f, &away.handle, "y", &back), E_InvalidInput);
    assert_int_equal(returns(f, &away.handle, "none\\x", &back), E_InvalidInput);
    assert_int_equal(returns(f, &away.handle, "X", &back), OK);
    assert_int_equal(back.given.holds, C_RWH);
    assert_int_equal(back.info.node, handle.node);
    assert_int_equal(returns(f, &away.handle, "x", &back), E_ResourceNotFound);
    assert_false(is_away(f, &handle));
    assert_non_null(strstr(listed(f), "203.0.113.9:1"));
    assert_non_null(strstr(listed(f), "<LastReconnectTime>"));
    assert_true(leaves(f, &handle)); /* again */
    assert_int_equal(returns(f, &handle, NULL, &back), OK);
    closed(f, &handle);
    assert_int_equal(returns(f, &handle, NULL, &back), E_ResourceNotFound);
    assert_null(strstr(listed(f), "<Handle>"));
}

/* Rule: a handle that has ended is not found, also by who has just seen it and says the name of its file, when
 * another file has come to that name. */
static void replaced_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = cached(f, MAY_RWD, RWD, C_RWH, false);
    struct disconnected_handle away;
    struct handle_reconnect back;

    assert_ok(ask(f, "PUT /sha/z", "x-ms-type: file\nx-ms-content-length: 3", NULL), 201);
    assert_true(leaves(f, &handle));
    assert_int_equal(finds(f, handle.id, &away), OK);
    assert_ok(ask(f, "PUT /sha/x?comp=rename",
                  "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/z\n"
                  "x-ms-file-rename-replace-if-exists: true",
                  NULL),
              200);
    assert_int_equal(returns(f, &away.handle, "x", &back), E_ResourceNotFound);
    assert_int_equal(returns(f, &away.handle, "none\\x", &back), E_ResourceNotFound);
}

/* Rule: without persistence only an open whose client caches its handle is kept; none that deletes its file, or
 * whose file is to be deleted; one that is not kept is closed. */
static void what_stays(void **state)
{
    static const struct {
        uint8_t caching;
        bool stays;
    } cases[] = { { 0, false }, { C_R, false }, { C_RW, false }, { C_RH, true }, { C_RWH, true } };
    struct fixture *f = *state;
    struct held_handle handle;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        handle = cached(f, MAY_RWD, RWD, cases[i].caching, false);
        assert_int_equal(leaves(f, &handle), cases[i].stays);
        if (cases[i].stays)
            closed(f, &handle);
        assert_null(strstr(listed(f), "<Handle>"));
        handle = cached(f, MAY_RWD, RWD, cases[i].caching, true);
        assert_true(leaves(f, &handle));
        closed(f, &handle);
    }
    handle = cached(f, MAY_RWD, RWD, C_RWH, false);
    assert_int_equal(sets_pending(f, &handle, true), OK);
    assert_false(leaves(f, &handle));
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 404, "ResourceNotFound");
}

/* Rule: what is asked of a client while it goes nobody answers: without persistence the open is closed, and one that
 * persists has lost it. */
static void asked_while_it_goes(void **state)
{
    struct fixture *f = *state;

    for (int persists = 0; persists < 2; persists++) {
        struct held_handle handle = cached(f, MAY_READ_DATA, RWD, C_RWH, persists);
        struct handle_open open = asked("x", MAY_READ_DATA, OPEN_EXISTING);
        instant waits_until = 0;
        struct handle_reconnect back;

        assert_int_equal(run_again(f, handle_open_attempt, &open, &waits_until), DECIDE_WAITS);
        assert_int_equal(leaves(f, &handle), persists);
        assert_int_equal(run_again(f, handle_open_attempt, &open, &waits_until), OK);
        if (persists) {
            assert_int_equal(returns(f, &handle, NULL, &back), OK);
            assert_int_equal(back.given.holds, C_RH);
            closed(f, &handle);
        }
        closed(f, &open.handle);
    }
}

/* Operations that change nothing end it by a commit before their own, which tests/smb/durable.mjs shows. */
static const struct meeting {
    const char *name;
    uint32_t desired; /* of the one who is away */
    uint8_t share, caching;
    /* Of an open that meets it; or an operation of REST. */
    uint32_t opens;
    const char *asks, *headers;
    bool stays;
} meetings[] = {
    { "reads a file that shares nothing", MAY_READ_DATA, 0, C_RH, MAY_READ_DATA, NULL, NULL,
      false },
    { "reads beside a reader", MAY_READ_DATA, RWD, C_RH, MAY_READ_DATA, NULL, NULL, true },
    { "reads what may not be written yet", MAY_READ_DATA, RWD, C_RWH, MAY_READ_DATA, NULL, NULL,
      false },
    { "looks at attributes", MAY_READ_DATA, 0, C_RWH, MAY_READ_ATTRIBUTES, NULL, NULL, true },
    { "writes what does not share it", MAY_READ_DATA, R, C_RH, MAY_WRITE_DATA, NULL, NULL, false },
    { "Get File", MAY_READ_DATA, RWD, C_RH, 0, "GET /sha/x", NULL, true },
    { "Set File Metadata", MAY_READ_DATA, RWD, C_RH, 0, "PUT /sha/x?comp=metadata",
      "x-ms-meta-a: b", false },
    { "Delete File", MAY_READ_DATA, RWD, C_RH, 0, "DELETE /sha/x", NULL, false },
    { "List Handles", MAY_READ_DATA, 0, C_RWH, 0, "GET /sha/x?comp=listhandles", NULL, true },
};

/* Rule: an open that is away is ended by whatever it is in the way of, at once; what is not lets it stay. */
static void meets(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        const struct meeting *m = &meetings[i];
        struct held_handle handle = cached(f, m->desired, m->share, m->caching, false);

        assert_true(leaves(f, &handle));
        if (m->opens) {
            struct held_handle other = opened(f, "x", m->opens, OPEN_EXISTING);

            assert_int_equal(is_away(f, &handle), m->stays);
            closed(f, &other);
        } else {
            struct reply answer = ask(f, m->asks, m->headers, NULL);

            if (answer.status >= 300)
                fail_msg("%s: %d %s", m->name, answer.status, answer.code);
        }
        if (is_away(f, &handle) != m->stays)
            fail_msg("%s: it is%s away", m->name, m->stays ? " not" : "");
        if (m->stays)
            closed(f, &handle);
    }
}

/* Rule: who comes after one that was ended finds nothing of it, neither what it cached nor its locks. */
static void leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct lock_element element = { .range = { 0, 1 }, .action = LOCK_EXCLUSIVE };
    struct handle_lock lock = { .tree_connect = the_mount(), .elements = &element, .count = 1 };

    for (int locks = 0; locks < 2; locks++) {
        struct held_handle handle = cached(f, MAY_RWD, RWD, C_RWH, false), other;

        lock.handle = &handle;
        if (locks)
            assert_int_equal(run(f, handle_lock_attempt, &lock), OK);
        if (!leaves(f, &handle)) /* a lock takes what is cached */
            return;
        other = cached(f, MAY_RWD, RWD, C_RWH, false);
        assert_false(is_away(f, &handle));
        closed(f, &other);
    }
}

/* Rule: its locks go with it; until then they bind others as ever. semantics 8.1 */
static void locks(void **state)
{
    struct fixture *f = *state;
    struct lock_element element = { .range = { 0, 1 }, .action = LOCK_EXCLUSIVE };
    struct handle_lock lock = { .tree_connect = the_mount(), .elements = &element, .count = 1 };
    struct held_handle handle = cached(f, MAY_RWD, R, 0, true), other;

    lock.handle = &handle;
    assert_int_equal(writes(f, &handle, 0, "locked"), OK);
    assert_int_equal(run(f, handle_lock_attempt, &lock), OK);
    assert_true(leaves(f, &handle));
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 409, "FileLockConflict");
    open_epoch_begin(); /* a restart */
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 409, "FileLockConflict");
    closed(f, &handle);
    assert_ok(ask(f, "GET /sha/x", NULL, NULL), 200);

    handle = cached(f, MAY_RWD, RWD, C_RWH, false);
    assert_int_equal(run(f, handle_lock_attempt, &lock), OK);
    if (leaves(f, &handle)) {
        other = opened(f, "x", MAY_READ_DATA | MAY_WRITE_DATA, OPEN_EXISTING);
        assert_false(is_away(f, &handle));
        assert_int_equal(writes(f, &other, 0, "free"), OK);
        closed(f, &other);
    }
}

/* Rule: one that persists stays in the way, but loses what it cached without a wait; also after a restart, which
 * it outlives alone. */
static void persists(void **state)
{
    struct fixture *f = *state;

    for (int restarts = 0; restarts < 2; restarts++) {
        struct held_handle handle = cached(f, MAY_READ_DATA, R, C_RWH, true);
        struct held_handle other;
        struct handle_open writer = asked("x", MAY_WRITE_DATA, OPEN_EXISTING);
        struct disconnected_handle away;
        struct handle_reconnect back;

        if (restarts)
            open_epoch_begin();
        else
            assert_true(leaves(f, &handle));
        assert_int_equal(run(f, handle_open_attempt, &writer), E_SharingViolation);
        other = opened(f, "x", MAY_READ_DATA, OPEN_EXISTING);
        assert_int_equal(finds(f, handle.id, &away), OK);
        assert_true(away.persists);
        assert_int_equal(away.durable.ticks, MINUTE);
        assert_int_equal(returns(f, &away.handle, "x", &back), OK);
        assert_int_equal(back.given.holds & CACHING_WRITE, 0);
        assert_false(is_away(f, &handle));
        closed(f, &other);
        closed(f, &handle);
        assert_null(strstr(listed(f), "<Handle>"));
    }
}

static void wait_until(instant until)
{
    while (clock_now() <= until)
        ;
}

static void close_overdue(struct fixture *f, const struct held_handle *handle, bool *ret_deleted)
{
    struct handle_overdue overdue = { .close = { .tree_connect = the_mount(), .handle = handle } };

    assert_int_equal(run(f, handle_overdue_attempt, &overdue), OK);
    *ret_deleted = overdue.close.deleted;
}

/* Rule: whose time is over is not found, not listed and in nobody's way, and is closed by who looks: then what was to
 * be deleted is. */
static void time_is_over(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = cached(f, MAY_READ_DATA, 0, C_RWH, true), other;
    bool deleted;

    close_overdue(f, &handle, &deleted); /* it is there */
    assert_non_null(strstr(listed(f), "<Handle>"));
    assert_true(leaves(f, &handle));
    close_overdue(f, &handle, &deleted); /* it is not over */
    assert_true(is_away(f, &handle));
    closed(f, &handle);

    for (int looks = 0; looks < 2; looks++) {
        handle = cached(f, MAY_READ_DATA, 0, C_RWH, true);
        assert_true(leaves_for(f, &handle, 1));
        wait_until(decided_at() + 1);
        assert_false(is_away(f, &handle));
        assert_null(strstr(listed(f), "<Handle>"));
        if (looks)
            close_overdue(f, &handle, &deleted);
        other = opened(f, "x", MAY_RWD, OPEN_EXISTING);
        closed(f, &other);
    }
    handle = cached(f, MAY_READ_DATA, RWD, 0, true);
    other = opened(f, "x", MAY_DELETE, OPEN_EXISTING);
    assert_true(leaves_for(f, &handle, 1));
    wait_until(decided_at() + 1);
    assert_int_equal(sets_pending(f, &other, true), OK);
    assert_false(closed(f, &other));
    close_overdue(f, &handle, &deleted);
    assert_true(deleted);
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 404, "ResourceNotFound");
}

static void restart(struct fixture *f)
{
    assert_true(open_epoch_record(store_of(f), true));
}

/* Rule: one that persists has its whole time again after each restart, however many there are. decision: 990 */
static void time_begins_anew(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = cached(f, MAY_READ_DATA, 0, C_RWH, true);
    struct handle_reconnect back;

    for (int restarts = 0; restarts < 3; restarts++) {
        restart(f);
        clock_advance(MINUTE - TICKS_PER_SECOND);
        assert_true(is_away(f, &handle));
        assert_non_null(strstr(listed(f), "<Handle>"));
    }
    assert_int_equal(returns(f, &handle, "x", &back), OK);
    restart(f); /* and again after its client has reconnected */
    clock_advance(MINUTE - TICKS_PER_SECOND);
    assert_true(is_away(f, &handle));
    closed(f, &handle);
}

/* Rule: once its time has ended in a process it has ended in all later ones: it is not found, not listed, and blocks
 * nobody. decision: 990 */
static void ends_for_good(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = cached(f, MAY_RWD, 0, C_RWH, true), other;
    struct lock_element element = { .range = { 0, 1 }, .action = LOCK_EXCLUSIVE };
    struct handle_lock lock = {
        .tree_connect = the_mount(), .handle = &handle, .elements = &element, .count = 1
    };

    assert_int_equal(run(f, handle_lock_attempt, &lock), OK);
    restart(f);
    assert_answer(ask(f, "GET /sha/x", NULL, NULL), 409, "SharingViolation");
    clock_advance(MINUTE);
    for (int restarts = 0; restarts < 3; restarts++) {
        assert_false(is_away(f, &handle));
        assert_null(strstr(listed(f), "<Handle>"));
        assert_ok(ask(f, "GET /sha/x", NULL, NULL), 200);
        restart(f);
    }
    other = opened(f, "x", MAY_RWD, OPEN_EXISTING);
    closed(f, &other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(comes_back),    TEST(replaced_meanwhile),
        TEST(what_stays),    TEST(asked_while_it_goes),
        TEST(meets),         TEST(leaves_nothing),
        TEST(locks),         TEST(persists),
        TEST(time_is_over),  TEST(time_begins_anew),
        TEST(ends_for_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
