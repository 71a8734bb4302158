/* A caller that follows store.h, on a store that does all that store.h allows a remote engine: it
 * waits, loses reads and commits, and settles late. The caller's rules hold all the same. */
#include "conformance.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/sleeper.h"
#include "late.h"

#define LOST_READS   10
#define LOST_COMMITS 20
#define PARTITIONS   4
#define THREADS      4
#define ROUNDS       60

struct world {
    struct store *store;
    struct guid space;
};

static int setup(void **state)
{
    struct world *world = xcalloc(1, sizeof *world);

    world->store = store_open_late(
        store_open_memory(), (struct late_options){ LOST_READS, LOST_COMMITS, .fetches = 30 });
    world->space = guid_new();
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    store_close(world->store);
    free(world);
    return 0;
}

static struct partition numbered(const struct world *world, struct arena *arena, unsigned number)
{
    return (struct partition){ world->space, arena_printf(arena, "p%u", number) };
}

/* ---- a caller, as an exchange is one ---- */

static atomic_uint runs;

struct decision {
    struct world *world;
    struct arena *arena;
    struct store_access access;
    struct snapshot *snapshots[PARTITIONS];
    struct commit_part parts[PARTITIONS];
    size_t count;
    uint64_t seen;
};
/* Opens parts, reads, collects changes. Pure. STORE_NOT_FOUND: there is nothing to commit. */
typedef enum store_result decide_fn(struct decision *d, void *context);

static struct changes *open_part(struct decision *d, unsigned number, bool is_guard)
{
    struct snapshot *snapshot =
        snapshot_open(d->world->store, numbered(d->world, d->arena, number), d->access);
    struct changes *changes = is_guard ? NULL : changes_new(d->arena);

    d->snapshots[number] = snapshot;
    d->parts[d->count++] = (struct commit_part){ snapshot, changes };
    if (snapshot_sequence(snapshot) > d->seen)
        d->seen = snapshot_sequence(snapshot);
    return changes;
}

static enum store_result read_number(struct decision *d, unsigned number, uint64_t *ret_value)
{
    struct record record;
    enum store_result result = snapshot_get(d->snapshots[number], RECORD_LISTED,
                                            bytes_from_string("k"), d->arena, &record);

    *ret_value = 0;
    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (!result)
        assert(bytes_parse_u64(record.value, UINT64_MAX, ret_value));
    return result;
}

static void write_number(struct decision *d, struct changes *changes, uint64_t value)
{
    changes_put(changes, RECORD_LISTED, bytes_from_string("k"),
                arena_printf(d->arena, "%llu", (unsigned long long)value), NULL, 0);
}

static enum store_result attempt(struct decision *d, decide_fn *decide, void *context)
{
    enum store_result result = decide(d, context);
    uint64_t sequence = 0;

    if (!result)
        result =
            store_commit(d->world->store, d->parts, d->count, clock_now(), d->access, &sequence);
    if (sequence > d->seen)
        d->seen = sequence;
    for (size_t i = 0; i < d->count; i++)
        snapshot_close(d->parts[i].snapshot);
    d->count = 0;
    if (result && result != STORE_NOT_FOUND)
        return result;
    wait_durable(d->world->store, d->seen);
    return store_settled(d->world->store, d->seen);
}

/* Until what was asked for has come; false: it is not coming. */
static bool await_fetch(struct fetch_set *fetches)
{
    struct sleeper sleeper;
    bool does;

    sleeper_init(&sleeper);
    does = fetch_set_wait(fetches, sleeper_arm(&sleeper));
    if (does)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    return does;
}

/* Until it has come to be: every other one without blocking. */
static void run(struct world *world, decide_fn *decide, void *context)
{
    struct fetch_set *fetches =
        atomic_fetch_add(&runs, 1) % 2 ? fetch_set_open(world->store) : NULL;
    struct store_access access = { .fetches = fetches };
    enum store_result result;

    do {
        fetch_set_begin(fetches);
        struct decision d = { .world = world, .arena = arena_new(1u << 20), .access = access };

        result = attempt(&d, decide, context);
        arena_free(d.arena);
        assert(result == STORE_OK || result == STORE_WAIT || result == STORE_CONFLICT);
        if (result == STORE_WAIT) {
            assert(!access.may_block);
            access.may_block = !await_fetch(fetches);
            assert(access.may_block == !fetches);
        }
    } while (result);
    fetch_set_close(fetches);
}

/* ---- what it does ---- */

static enum store_result decide_add(struct decision *d, void *context)
{
    const unsigned *number = context;
    struct changes *changes = open_part(d, *number, false);
    uint64_t value;
    enum store_result result = read_number(d, *number, &value);

    if (!result)
        write_number(d, changes, value + 1);
    return result;
}

struct transfer {
    unsigned from, to;
};

static enum store_result decide_transfer(struct decision *d, void *context)
{
    const struct transfer *transfer = context;
    struct changes *less = open_part(d, transfer->from, false);
    struct changes *more = open_part(d, transfer->to, false);
    uint64_t from, to;
    enum store_result result = read_number(d, transfer->from, &from);

    if (!result)
        result = read_number(d, transfer->to, &to);
    if (result)
        return result;
    if (from == 0)
        return STORE_NOT_FOUND;
    write_number(d, less, from - 1);
    write_number(d, more, to + 1);
    return STORE_OK;
}

struct look {
    unsigned number;
    uint64_t value;
};

static enum store_result decide_look(struct decision *d, void *context)
{
    struct look *look = context;
    enum store_result result;

    open_part(d, look->number, true);
    result = read_number(d, look->number, &look->value);
    return result ? result : STORE_NOT_FOUND;
}

static uint64_t number_at(struct world *world, unsigned number)
{
    struct look look = { .number = number };

    run(world, decide_look, &look);
    return look.value;
}

/* Rule: nothing that may not wait gets anything from a store that must ask others for all it
 * knows. */
static void everything_waits(void **state)
{
    struct world *world = *state;
    struct arena *arena = arena_new(1u << 20);
    struct partition partition = numbered(world, arena, 0);
    struct snapshot *snapshot = snapshot_open(world->store, partition, STORE_NO_WAIT);
    struct bytes nothing = { NULL, 0 };
    struct space_iterator *iterator;
    struct space_record found;
    struct record record;
    struct scan *scan;
    uint64_t sequence;
    int64_t sum;

    assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, nothing, arena, &record), STORE_WAIT);
    assert_int_equal(snapshot_hold(snapshot), STORE_WAIT);
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    assert_int_equal(scan_next(scan, NULL, &record), STORE_WAIT);
    scan_close(scan);
    snapshot_close(snapshot);
    iterator = space_iterator_open(world->store, world->space, nothing, nothing, STORE_NO_WAIT);
    assert_int_equal(space_iterator_next(iterator, &found), STORE_WAIT);
    space_iterator_close(iterator);
    assert_int_equal(
        store_count(world->store, world->space, nothing, STORE_NO_WAIT, &sum, &sequence),
        STORE_WAIT);
    arena_free(arena);
}

/* Rule: from snapshot_hold() on no read is lost. */
static void held_snapshots_are_not_lost(void **state)
{
    struct world *world = *state;
    unsigned number = 0;

    run(world, decide_add, &number);
    for (int i = 0; i < 20; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct snapshot *snapshot;
        struct record record;
        enum store_result result;

        do {
            snapshot = snapshot_open(world->store, numbered(world, arena, 0), STORE_MAY_BLOCK);
            result = snapshot_hold(snapshot);
            if (result)
                snapshot_close(snapshot);
        } while (result == STORE_CONFLICT);
        assert_int_equal(result, STORE_OK);
        for (int k = 0; k < 100; k++)
            assert_int_equal(
                snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("k"), arena, &record),
                STORE_OK);
        snapshot_close(snapshot);
        arena_free(arena);
    }
}

struct job {
    struct world *world;
    unsigned number;
};

static void *add_and_transfer(void *argument)
{
    struct job *job = argument;
    struct random random = { job->number };

    for (int i = 0; i < ROUNDS; i++) {
        unsigned from = (unsigned)random_below(&random, PARTITIONS);
        struct transfer transfer = { from, (from + 1) % PARTITIONS };

        run(job->world, decide_add, &from);
        run(job->world, decide_transfer, &transfer);
    }
    return NULL;
}

/* Rule: what has settled as done is done once, what has not is not, whoever races. */
static void each_addition_counts_once(void **state)
{
    struct world *world = *state;
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    uint64_t sum = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){ world, i };
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_transfer, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < PARTITIONS; i++)
        sum += number_at(world, i);
    assert_int_equal(sum, THREADS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(held_snapshots_are_not_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(each_addition_counts_once, setup, teardown),
    };

    return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
