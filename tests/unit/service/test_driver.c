/* The driver of decisions: what it does between an attempt and the end, and when it returns to its host.
 * service/driver.h */
#include "../request/fixture.h"

#include "base/sleeper.h"
#include "base/tenure.h"
#include "base/thread.h"
#include "store/failure.h"

static const struct partition partition = { .space = { { 1 } }, .key = BYTES("p") };
static const struct partition owner = { .space = { { 2 } }, .key = BYTES("o") };
static const struct waiter_key key = { .space = { { 1 } }, .node = 7 };

/* What happens in the attempts of a decision, one after the other. */
enum act {
    CHANGES,      /* changes are left to commit */
    CHANGES_LATE, /* so too, but another writer commits before */
    DROPPED,      /* so too, but the space is dropped before */
    REFUSES,
    FINDS,  /* nothing is left to commit */
    BLOCKS, /* a record is not in memory, unless the attempt may block */
    ASKS,   /* waits for others, of whom it asks something by a change */
    WAITS,  /* waits for others */
    FAILS,  /* the store fails */
    MISSES, /* waits for others, who change something before it waits */
};

struct script {
    struct decision d;
    struct problem problem;
    const enum act *acts;
    unsigned attempts;
};

static void commit_to(struct store *store, struct partition to, bool drops)
{
    struct arena *arena = arena_new(1u << 16);
    struct changes *changes = changes_new(arena);
    struct read_view *snapshot = read_view_open(store, to, STORE_MAY_BLOCK);
    uint64_t sequence;

    if (drops)
        changes_drop_space(changes, partition.space);
    else
        changes_put(changes, RECORD_INNER, bytes_from_string("other"), bytes_from_string("1"), NULL,
                    0);
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

static enum error wait_until(struct decision *d, instant until)
{
    d->waits_for = key;
    d->waits_until = until;
    return DECIDE_WAITS;
}

static enum error attempt(struct decision *d, void *of)
{
    struct script *script = of;
    enum act act = script->acts[script->attempts];

    if (act == BLOCKS && !d->access.may_block)
        return DECIDE_BLOCKING;
    script->attempts++;
    if (act == FAILS)
        return decision_fail_store(d, STORE_IO);
    decision_open_subject(d, partition);
    decision_read_clock(d);
    if (act != FINDS && act != WAITS && act != MISSES && act != REFUSES)
        changes_put(d->changes, RECORD_INNER, bytes_from_string("k"), bytes_from_string("v"), NULL,
                    0);
    if (act == CHANGES_LATE || act == DROPPED)
        commit_to(d->store, act == DROPPED ? owner : partition, act == DROPPED);
    if (act == MISSES)
        waiters_wake(&key);
    if (act == ASKS || act == WAITS || act == MISSES)
        return wait_until(d, INSTANT_MAX);
    return act == REFUSES ? E_ResourceNotFound : OK;
}

static void begin(struct fixture *f, struct script *script, const enum act *acts,
                  struct store_access access)
{
    struct arena *arena = f->arena;

    *script = (struct script){ .acts = acts };
    script->d = (struct decision){ .input = &f->work.call.input,
                                   .arena = arena,
                                   .store = store_open_memory(),
                                   .access = access,
                                   .problem = &script->problem,
                                   .attempt = arena_mark(arena) };
}

static struct driver driver_of(struct script *script)
{
    struct driver driver = { .gate = NULL };

    driver_begin(&driver, &script->d, attempt, script);
    return driver;
}

static void end(struct script *script)
{
    deciding_end(&script->d);
    store_close(script->d.store);
}

/* Rule: after a conflict it decides again, until its changes are committed. */
static void decides_again_after_a_conflict(void **state)
{
    static const enum act acts[] = { CHANGES_LATE, CHANGES_LATE, CHANGES };
    struct script script;
    struct driver driver;

    begin(*state, &script, acts, STORE_MAY_BLOCK);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_APPLIED);
    assert_int_equal(driver.error, OK);
    assert_int_equal(script.attempts, 3);
    assert_true(script.d.seen > driver.seen); /* its own commit is newer than what it rested on */
    end(&script);
}

/* Rule: what is refused, or changes nothing, is done without a commit. */
static void is_done_without_changes(void **state)
{
    static const enum act refuses[] = { REFUSES }, reads[] = { FINDS };
    struct script script;
    struct driver driver;

    begin(*state, &script, refuses, STORE_MAY_BLOCK);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_DONE);
    assert_int_equal(driver.error, E_ResourceNotFound);
    end(&script);
    begin(*state, &script, reads, STORE_MAY_BLOCK);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_DONE);
    assert_int_equal(driver.error, OK);
    end(&script);
}

static void on_wake(struct waiter *waiter)
{
    struct driver *driver =
        (struct driver *)(void *)((char *)waiter - offsetof(struct driver, pause));

    (void)pause_end(&driver->pause);
}

/* Rule: a failure of data that another process may have taken over is reported only after a renewal
 * of the tenure that is later than the failure. base/tenure.h */
static void failures_wait_for_the_tenure(void **state)
{
    static const enum act acts[] = { FAILS };
    struct tenure tenure;
    struct script script;
    struct driver driver;

    begin(*state, &script, acts, STORE_NO_WAIT);
    tenure_start(&tenure, clock_boot_ns(), clock_boot_ns() + 60000 * NS_PER_MS);
    store_use_tenure(script.d.store, &tenure);
    driver = driver_of(&script);
    pause_init(&driver.pause, on_wake);
    assert_int_equal(driver_run(&driver), DRIVE_DONE);
    assert_int_equal(driver.error, E_InternalError);
    assert_int_equal(driver_durable(&driver, 0), STORE_WAIT);
    assert_int_equal(atomic_load(&driver.pause.state), PAUSE_IDLE);
    tenure_renew(&tenure, script.d.failed_ns, clock_boot_ns() + 60000 * NS_PER_MS);
    assert_int_equal(atomic_load(&driver.pause.state), PAUSE_WOKEN);
    assert_int_equal(driver_durable(&driver, 0), STORE_WAIT);
    tenure_renew(&tenure, script.d.failed_ns + 1, clock_boot_ns() + 60000 * NS_PER_MS);
    assert_int_equal(driver_durable(&driver, 0), STORE_OK);
    tenure_give_up(&tenure);
    end(&script);
}

static void *renew_later(void *argument)
{
    struct tenure *tenure = argument;

    thread_sleep_ns(50 * NS_PER_MS);
    tenure_renew(tenure, clock_boot_ns(), clock_boot_ns() + 60000 * NS_PER_MS);
    return NULL;
}

/* Rule: so too on a thread that may block, which waits. */
static void threads_wait_for_the_tenure(void **state)
{
    static const enum act acts[] = { FAILS };
    struct tenure tenure;
    struct thread thread;
    struct script script;

    begin(*state, &script, acts, STORE_MAY_BLOCK);
    tenure_start(&tenure, clock_boot_ns(), clock_boot_ns() + 60000 * NS_PER_MS);
    store_use_tenure(script.d.store, &tenure);
    assert_true(thread_start(&thread, renew_later, &tenure));
    assert_int_equal(deciding_run(&script.d, attempt, &script), E_InternalError);
    assert_true(atomic_load(&tenure.renewed_ns) > script.d.failed_ns);
    thread_join(&thread);
    tenure_give_up(&tenure);
    end(&script);
}

/* Rule: a failure is reported at once if nobody else can have the data, and a success at all times. */
static void without_a_tenure_nothing_waits(void **state)
{
    static const enum act fails[] = { FAILS }, reads[] = { FINDS };
    struct tenure tenure;
    struct script script;
    struct driver driver;

    begin(*state, &script, fails, STORE_NO_WAIT);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_DONE);
    assert_int_equal(driver_durable(&driver, 0), STORE_OK);
    end(&script);
    begin(*state, &script, reads, STORE_NO_WAIT);
    tenure_start(&tenure, 1, 2);
    store_use_tenure(script.d.store, &tenure);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_DONE);
    assert_int_equal(driver_durable(&driver, 0), STORE_OK);
    end(&script);
}

/* Rule: a step that would block is repeated in the pool, with the commit that follows it. */
static void blocked_steps_are_repeated(void **state)
{
    static const enum act acts[] = { BLOCKS };
    struct script script;
    struct driver driver;

    begin(*state, &script, acts, STORE_NO_WAIT);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_BLOCKED);
    assert_int_equal(driver_run(&driver), DRIVE_BLOCKED);
    script.d.access = STORE_MAY_BLOCK;
    assert_int_equal(driver_step(&driver), DRIVE_APPLIED);
    script.d.access = STORE_NO_WAIT;
    assert_int_equal(driver_run(&driver), DRIVE_APPLIED);
    assert_int_equal(script.attempts, 1);
    end(&script);
}

/* Rule: what it asks of others is committed before it waits, and it waits with nothing open. When they have changed
 * something it decides again. */
static void asks_others_and_waits(void **state)
{
    static const enum act acts[] = { ASKS, WAITS, CHANGES };
    struct script script;
    struct driver driver;
    struct sleeper sleeper;

    begin(*state, &script, acts, STORE_MAY_BLOCK);
    driver = driver_of(&script);
    sleeper_init(&sleeper);
    assert_int_equal(driver_run(&driver), DRIVE_OTHERS);
    assert_int_equal(script.d.part_count, 0);
    assert_true(script.d.seen > 0); /* that commit */
    for (unsigned i = 0; i < 2; i++) {
        assert_true(driver_wait(&driver, sleeper_arm(&sleeper)));
        assert_int_equal(driver.state, DRIVE_AWAITED);
        waiters_wake(&key);
        sleeper_wait(&sleeper);
        assert_int_equal(driver_run(&driver), i == 0 ? DRIVE_OTHERS : DRIVE_APPLIED);
    }
    sleeper_release(&sleeper);
    end(&script);
}

/* Rule: what others have changed since the attempt is not missed. */
static void changes_before_the_wait_are_seen(void **state)
{
    static const enum act acts[] = { MISSES, CHANGES };
    struct script script;
    struct driver driver;
    struct sleeper sleeper;

    begin(*state, &script, acts, STORE_MAY_BLOCK);
    driver = driver_of(&script);
    sleeper_init(&sleeper);
    assert_int_equal(driver_run(&driver), DRIVE_OTHERS);
    assert_false(driver_wait(&driver, sleeper_arm(&sleeper)));
    assert_int_equal(driver_run(&driver), DRIVE_APPLIED);
    sleeper_release(&sleeper);
    end(&script);
}

/* Rule: a thread that may block goes all the way; and where the space is gone it says so, while a request decides again. */
static void threads_go_all_the_way(void **state)
{
    static const enum act acts[] = { CHANGES_LATE, MISSES, CHANGES },
                          dropped[] = { DROPPED, FINDS };
    struct script script;
    struct driver driver;

    begin(*state, &script, acts, STORE_MAY_BLOCK);
    assert_int_equal(deciding_run_unawaited(&script.d, attempt, &script), OK);
    assert_int_equal(script.attempts, 3);
    end(&script);
    begin(*state, &script, dropped, STORE_MAY_BLOCK);
    commit_to(script.d.store, partition, false);
    assert_int_equal(deciding_run_unawaited(&script.d, attempt, &script), DECIDE_GONE);
    assert_int_equal(script.attempts, 1);
    end(&script);
    begin(*state, &script, dropped, STORE_MAY_BLOCK);
    commit_to(script.d.store, partition, false);
    driver = driver_of(&script);
    assert_int_equal(driver_run(&driver), DRIVE_DONE);
    assert_int_equal(script.attempts, 2);
    end(&script);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(failures_wait_for_the_tenure),   TEST(threads_wait_for_the_tenure),
        TEST(without_a_tenure_nothing_waits), TEST(decides_again_after_a_conflict),
        TEST(is_done_without_changes),        TEST(blocked_steps_are_repeated),
        TEST(asks_others_and_waits),          TEST(changes_before_the_wait_are_seen),
        TEST(threads_go_all_the_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
