/* Decisions on the state that commits in flight will leave: they go together, in their order; and what rests on a
 * commit that did not come to be is neither applied nor told. decision: 561; on a RADOS in memory */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "decider.h"
#include "store/rados/outcomes.h"

static int64_t count_of(struct fixture *f)
{
    int64_t count;
    uint64_t sequence;

    assert_int_equal(
        store_count(f->store, f->space, B("added"), STORE_MAY_BLOCK, &count, &sequence), STORE_OK);
    return count;
}

/* ---- sequences ---- */

/* Rule: who keeps the greatest sequence that he saw keeps the one that may be lost; and what rests on a commit settles
 * as a conflict when that fails, whatever its failure is. */
static void sequences(void **state)
{
    static const enum store_result failures[] = { STORE_CONFLICT, STORE_FULL, STORE_IO,
                                                  STORE_NOT_FOUND, STORE_UNKNOWN };
    struct outcomes *outcomes = outcomes_new();
    uint64_t base = outcomes_begin(outcomes, false), resting = outcomes_begin(outcomes, true);
    uint64_t later = outcomes_begin(outcomes, false);

    (void)state;
    outcomes_end(outcomes, later, STORE_OK);
    assert_true(outcomes_durable(later) > later && later > base);
    assert_true(outcomes_read(base) > outcomes_durable(later));
    assert_true(resting > outcomes_read(base));
    assert_int_equal(outcomes_of(outcomes, outcomes_durable(later)), STORE_OK);
    assert_int_equal(outcomes_of(outcomes, outcomes_read(base)), STORE_WAIT);
    outcomes_end(outcomes, base, STORE_OK);
    assert_int_equal(outcomes_of(outcomes, outcomes_read(base)), STORE_OK);
    assert_int_equal(outcomes_of(outcomes, resting), STORE_WAIT);
    outcomes_end(outcomes, resting, STORE_OK);
    assert_int_equal(outcomes_of(outcomes, resting), STORE_OK);
    for (unsigned i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        base = outcomes_begin(outcomes, i % 2);
        outcomes_end(outcomes, base, failures[i]);
        assert_int_equal(outcomes_of(outcomes, base), failures[i]);
        assert_int_equal(outcomes_of(outcomes, outcomes_read(base)), STORE_CONFLICT);
    }
    outcomes_free(outcomes);
}

/* ---- one after another ---- */

enum { RESTING = 20 };

/* Rule: while an op is in flight decisions are made on what it will leave, all go together in the next, and none is
 * settled before. */
static void one_op_for_many(void **state)
{
    struct fixture *f = *state;
    struct decider *first, *deciders[RESTING], *reader;
    uint64_t ops;

    make_busy(f);
    first = decider_new(f, f->store);
    reader = decider_new(f, f->store);
    assert_int_equal(read_number(first), STORE_OK);
    live_hold(f->live, true);
    ops = live_shard_ops(f->live);
    assert_int_equal(add_one(first, NULL), STORE_OK);
    for (unsigned i = 0; i < RESTING; i++) {
        deciders[i] = decider_new(f, f->store);
        assert_int_equal(decide(deciders[i]), STORE_OK);
        assert_int_equal(deciders[i]->value, 2 + i);
        assert_int_equal(store_settled(f->store, deciders[i]->seen), STORE_WAIT);
    }
    assert_int_equal(read_number(reader), STORE_OK);
    assert_int_equal(reader->value, 2 + RESTING);
    assert_int_equal(store_settled(f->store, reader->seen), STORE_WAIT);
    live_hold(f->live, false);
    assert_int_equal(store_await(f->store, reader->seen), STORE_OK);
    assert_int_equal(store_settled(f->store, first->seen), STORE_OK);
    for (unsigned i = 0; i < RESTING; i++)
        assert_int_equal(store_await(f->store, deciders[i]->seen), STORE_OK);
    assert_int_equal(live_shard_ops(f->live) - ops, 2);
    assert_int_equal(number_of(f), 2 + RESTING);
    assert_int_equal(count_of(f), 2 + RESTING);
}

/* ---- what is lost ---- */

/* A commit in flight, one that rests on it, one of two partitions that does, and a reader of what they left. */
static void begin_all(struct fixture *f, struct decider *d[4], struct snapshot *other)
{
    live_hold(f->live, true);
    assert_int_equal(add_one(d[0], NULL), STORE_OK);
    assert_int_equal(decide(d[1]), STORE_OK);
    assert_int_equal(read_number(d[2]), STORE_OK);
    assert_int_equal(read_number(d[3]), STORE_OK);
    assert_int_equal(d[2]->value, d[0]->value + 2);
    assert_int_equal(d[3]->value, d[0]->value + 2);
    assert_int_equal(add_one(d[2], other), STORE_OK);
    live_hold(f->live, false);
}

/* The first one ended so: nothing that rests on it came to be. */
static void expect_lost(struct fixture *f, struct decider *d[4], enum store_result first)
{
    assert_int_equal(store_await(f->store, d[0]->seen), first);
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(store_await(f->store, d[i]->seen), STORE_CONFLICT);
}

static void new_all(struct fixture *f, struct decider *d[4])
{
    for (unsigned i = 0; i < 4; i++)
        d[i] = decider_new(f, f->store);
    assert_int_equal(read_number(d[0]), STORE_OK);
}

/* Rule: what rests on a commit that the cluster refused is decided again, whatever the refusal was, and so is what was
 * read of it. */
static void refused_base(void **state)
{
    struct fixture *f = *state;
    struct decider *d[4];
    struct snapshot *other = open_other(f);

    make_busy(f);
    new_all(f, d);
    d[0]->grows = true;
    live_set_full(f->live, true);
    begin_all(f, d, other);
    expect_lost(f, d, STORE_FULL);
    live_set_full(f->live, false);
    assert_int_equal(number_of(f), 1);
    assert_int_equal(count_of(f), 1);
}

/* Rule: the same where another front end came first. */
static void overtaken_base(void **state)
{
    struct fixture *f = *state;
    struct decider *d[4], *fast;
    struct snapshot *other = open_other(f);

    f->faster = live_open(live_client(f->live), 0);
    fast = decider_new(f, f->faster);
    make_busy(f);
    new_all(f, d);
    assert_int_equal(decide(fast), STORE_OK);
    assert_int_equal(store_await(f->faster, fast->seen), STORE_OK);
    begin_all(f, d, other);
    expect_lost(f, d, STORE_CONFLICT);
    assert_int_equal(number_of(f), 2);
    assert_int_equal(count_of(f), 2);
}

/* Rule: what a commit leaves that may have been applied already is not reported by itself: another front end may have
 * committed since, and have been answered. Who was shown it decides again, on what the cluster has. */
static void overtaken_reader(void **state)
{
    struct fixture *f = *state;
    struct decider *slow, *fast, *reader;

    f->faster = live_open(live_client(f->live), 0);
    fast = decider_new(f, f->faster);
    slow = decider_new(f, f->store);
    reader = decider_new(f, f->store);
    make_busy(f);
    assert_int_equal(read_number(slow), STORE_OK);
    live_hold(f->live, true);
    assert_int_equal(add_one(slow, NULL), STORE_OK);
    live_stop(f->live, live_port(f->live)); /* it is applied, and not answered */
    live_hold(f->live, false);
    while (fast->value < 2)
        assert_int_equal(read_number(fast), STORE_OK);
    assert_int_equal(add_one(fast, NULL), STORE_OK);
    assert_int_equal(store_await(f->faster, fast->seen), STORE_OK);
    assert_int_equal(begin_read(reader), STORE_OK);
    assert_int_equal(reader->value, 2);
    live_continue(f->live, live_port(f->live));
    assert_int_equal(store_await(f->store, slow->seen), STORE_OK);
    assert_int_equal(store_await(f->store, reader->seen), STORE_CONFLICT);
    assert_int_equal(read_number(reader), STORE_OK);
    assert_int_equal(reader->value, 3);
}

/* Rule: the instant of a snapshot is not below what it will read, also where another front end has committed since it was
 * opened, by a clock that is ahead. store.h snapshot_instant() */
static void instant_of_another(void **state)
{
    struct fixture *f = *state;
    struct snapshot *snapshot =
        snapshot_open(f->store, (struct partition){ f->space, B("p") }, STORE_MAY_BLOCK);
    struct decider *fast;
    instant now;

    f->faster = live_open(live_client(f->live), 0);
    fast = decider_new(f, f->faster);
    fast->ahead = TICKS_PER_SECOND / 2;
    assert_int_equal(decide(fast), STORE_OK);
    assert_int_equal(store_await(f->faster, fast->seen), STORE_OK);
    now = snapshot_instant(snapshot);
    snapshot_close(snapshot);
    assert_true(now > clock_now());
}

/* ---- many, on two front ends, with faults; cmocka's asserts are for the first thread only ---- */

enum { CLIENTS = 16, INCREMENTS = 60 };

struct client {
    struct fixture *f;
    struct store *store;
    atomic_uint *told; /* the greatest number that anybody was told */
    unsigned applied, unknown, again;
    bool only_reads;
};

static void tell(atomic_uint *told, unsigned number)
{
    unsigned seen = atomic_load(told);

    while (seen < number && !atomic_compare_exchange_weak(told, &seen, number))
        continue;
}

/* Once, until it is settled; what is told was there to stay, and nothing that was told is missing. */
static void do_once(struct client *client, struct decider *d)
{
    enum store_result result;

    do {
        unsigned floor = atomic_load(client->told);

        result = read_number(d);
        if (!result && !client->only_reads)
            result = add_one(d, NULL);
        snapshot_close(d->snapshot);
        d->snapshot = NULL;
        if (!result)
            result = store_await(client->store, d->seen);
        client->again += result == STORE_CONFLICT;
        assert(result || d->value >= floor);
    } while (result == STORE_CONFLICT);
    assert(result == STORE_OK || (result == STORE_UNKNOWN && !client->only_reads));
    client->unknown += result == STORE_UNKNOWN;
    client->applied += result == STORE_OK && !client->only_reads;
    if (!result)
        tell(client->told, (unsigned)d->value + !client->only_reads);
}

static void *add_often(void *argument)
{
    struct client *client = argument;
    struct decider d;

    decider_init(&d, client->f->space, client->store);
    for (unsigned i = 0; i < INCREMENTS; i++)
        do_once(client, &d);
    decider_release(&d);
    return NULL;
}

/* Returns how many ops an increment took, in hundredths. */
static unsigned run_clients(struct fixture *f, struct store *const stores[], unsigned store_count)
{
    struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    unsigned applied = 0, unknown = 0;
    uint64_t before = number_of(f), ops = live_shard_ops(f->live);
    atomic_uint told;

    atomic_init(&told, (unsigned)before);
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){
            .f = f, .store = stores[i % store_count], .told = &told, .only_reads = i % 8 >= 6
        };
        assert_int_equal(pthread_create(&threads[i], NULL, add_often, &clients[i]), 0);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        applied += clients[i].applied;
        unknown += clients[i].unknown;
    }
    ops = live_shard_ops(f->live) - ops;
    assert_in_range(number_of(f) - before, applied, applied + unknown);
    assert_true(number_of(f) >= atomic_load(&told));
    assert_true(count_of(f) >= (int64_t)(before + applied));
    return (unsigned)(100 * ops / applied);
}

/* Rule: many clients of one partition share ops: each increment read and wrote on its own before, 2 ops and more. */
static void many_clients(void **state)
{
    struct fixture *f = *state;

    make_busy(f);
    live_set_pause(f->live, 200);
    assert_in_range(run_clients(f, &f->store, 1), 1, 100);
}

/* Rule: so do those of one with hundreds of records, as a queue that 128 clients use has. decision: 651 */
static void many_records(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct commit_part part = {
        snapshot_open(f->store, (struct partition){ f->space, B("p") }, STORE_MAY_BLOCK), changes
    };
    uint64_t sequence;

    for (unsigned i = 0; i < 600; i++)
        changes_put(changes, RECORD_INNER, arena_printf(f->arena, "m%u", i), B("m"), NULL, 0);
    assert_int_equal(snapshot_hold(part.snapshot), STORE_OK);
    assert_int_equal(store_commit(f->store, &part, 1, clock_above(snapshot_instant(part.snapshot)),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(part.snapshot);
    make_busy(f);
    live_set_pause(f->live, 200);
    assert_in_range(run_clients(f, &f->store, 1), 1, 100);
}

/* Rule: none is lost or done twice where ops are applied twice, and two front ends get in each other's way. */
static void two_front_ends(void **state)
{
    struct fixture *f = *state;
    struct live *live = live_new((struct fake_options){ .seed = 77, .resent = 12, .late = 4 });
    struct fixture with_faults = {
        .live = live, .store = live_open(live_port(live), 0), .arena = f->arena, .space = f->space
    };
    struct store *stores[2] = { with_faults.store, live_open(live_client(live), 0) };

    live_set_pause(live, 50);
    (void)run_clients(&with_faults, stores, 2);
    store_close(stores[1]);
    store_close(stores[0]);
    live_free(live);
}

/* ---- what is kept ---- */

/* Decides, and leaves a state that is kept. */
static void leave_kept(struct fixture *f)
{
    struct decider *d = decider_new(f, f->store);

    make_busy(f);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(store_await(f->store, d->seen), STORE_OK);
}

/* Rule: a change of what was changed just now is one op, without a read; what is only read is read. decision: 813 */
static void kept_state(void **state)
{
    struct fixture *f = *state;
    struct decider *d, *reader;
    uint64_t ops;

    leave_kept(f);
    d = decider_new(f, f->store);
    reader = decider_new(f, f->store);
    ops = live_shard_ops(f->live);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(store_await(f->store, d->seen), STORE_OK);
    assert_int_equal(live_shard_ops(f->live) - ops, 1);
    assert_int_equal(read_number(reader), STORE_OK);
    assert_int_equal(store_await(f->store, reader->seen), STORE_CONFLICT);
    fetch_set_begin(
        reader->set); /* the request reads something else in between, as rules for CORS */
    assert_int_equal(read_number(reader), STORE_OK);
    assert_int_equal(reader->value, 3);
    assert_int_equal(store_await(f->store, reader->seen), STORE_OK);
    assert_int_equal(number_of(f), 3);
    assert_int_equal(count_of(f), 3);
}

/* Rule: where another front end has changed it since, nothing that was decided on it is applied or told. */
static void kept_and_changed(void **state)
{
    struct fixture *f = *state;
    struct decider *d, *reader, *fast;

    leave_kept(f);
    f->faster = live_open(live_client(f->live), 0);
    fast = decider_new(f, f->faster);
    d = decider_new(f, f->store);
    reader = decider_new(f, f->store);
    assert_int_equal(decide(fast), STORE_OK);
    assert_int_equal(store_await(f->faster, fast->seen), STORE_OK);
    assert_int_equal(read_number(reader), STORE_OK);
    assert_int_equal(reader->value, 2);
    assert_int_equal(store_await(f->store, reader->seen), STORE_CONFLICT);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(store_await(f->store, d->seen), STORE_CONFLICT);
    assert_int_equal(read_number(reader), STORE_OK);
    assert_int_equal(reader->value, 3);
    assert_int_equal(store_await(f->store, reader->seen), STORE_OK);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(store_await(f->store, d->seen), STORE_OK);
    assert_int_equal(number_of(f), 4);
    assert_int_equal(count_of(f), 4);
}

/* Rule: it is enough that one client changes something twice in a row. */
static void kept_of_one(void **state)
{
    struct fixture *f = *state;
    struct decider *d = decider_new(f, f->store);
    uint64_t ops;

    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(decide(d), STORE_OK);
        assert_int_equal(store_await(f->store, d->seen), STORE_OK);
    }
    ops = live_shard_ops(f->live);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(store_await(f->store, d->seen), STORE_OK);
    assert_int_equal(live_shard_ops(f->live) - ops, 1);
    assert_int_equal(number_of(f), 4);
}

/* ---- beside it ---- */

/* Rule: a counter has no states ahead, so who reads one beside a view ahead would see it older than that: it reads both as they
 * are. */
static void counter_beside_a_view(void **state)
{
    struct fixture *f = *state;
    struct decider *d, *reader;
    enum store_result result;
    uint64_t sequence;
    int64_t count;

    leave_kept(f);
    d = decider_new(f, f->store);
    reader = decider_new(f, f->store);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(begin_read(reader), STORE_OK);
    assert_int_equal(reader->value, 3); /* the commit is on its way */
    assert_int_equal(store_count(f->store, f->space, B("added"),
                                 (struct store_access){ .fetches = reader->set }, &count,
                                 &sequence),
                     STORE_CONFLICT);
    fetch_set_begin(reader->set);
    assert_int_equal(read_number(reader), STORE_OK);
    while ((result = store_count(f->store, f->space, B("added"),
                                 (struct store_access){ .fetches = reader->set }, &count,
                                 &sequence)) == STORE_WAIT)
        wait_for(reader->set);
    assert_int_equal(result, STORE_OK);
    assert_in_range(reader->value, 2, 3);
    assert_in_range(count, reader->value, 3);
    assert_int_equal(store_await(f->store, d->seen), STORE_OK);
    assert_int_equal(store_await(f->store, reader->seen), STORE_OK);
}

static enum store_result list_first(struct decider *reader)
{
    struct space_iterator *iterator =
        space_iterator_open(reader->store, reader->partition.space, B(""), B(""),
                            (struct store_access){ .fetches = reader->set });
    struct space_record first;
    enum store_result result = space_iterator_next(iterator, &first);

    space_iterator_close(iterator);
    return result;
}

/* Nor have the records of a space. decision: 841 */
static void iterator_beside_a_view(void **state)
{
    struct fixture *f = *state;
    struct decider *d, *reader;
    enum store_result result;

    leave_kept(f);
    d = decider_new(f, f->store);
    reader = decider_new(f, f->store);
    assert_int_equal(decide(d), STORE_OK);
    assert_int_equal(begin_read(reader), STORE_OK);
    assert_int_equal(reader->value, 3); /* the commit is on its way */
    assert_int_equal(list_first(reader), STORE_CONFLICT);
    fetch_set_begin(reader->set);
    assert_int_equal(read_number(reader), STORE_OK);
    while ((result = list_first(reader)) == STORE_WAIT)
        wait_for(reader->set);
    assert_int_equal(result, STORE_NOT_FOUND); /* the records here are not listed */
    assert_in_range(reader->value, 2, 3);
    assert_int_equal(store_await(f->store, d->seen), STORE_OK);
    assert_int_equal(store_await(f->store, reader->seen), STORE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(iterator_beside_a_view, set_up, tear_down),
        cmocka_unit_test(sequences),
        cmocka_unit_test_setup_teardown(counter_beside_a_view, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_op_for_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused_base, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overtaken_base, set_up, tear_down),
        cmocka_unit_test_setup_teardown(overtaken_reader, set_up, tear_down),
        cmocka_unit_test_setup_teardown(instant_of_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_clients, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_records, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_front_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kept_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kept_and_changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kept_of_one, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
