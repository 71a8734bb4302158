/* Commits over several partitions, by front ends that are killed at any step, over a RADOS that answers late and
 * applies ops twice: what was acknowledged is there in each partition, what was not is there in all of them or in
 * none, a reader never sees half, and in the end nothing is locked. store/rados/transaction.h, by seeds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../rados/fake.h"
#include "store/rados/transaction.h"
#include "store/rados/view.h"
#include "store/record_value.h"

/* Killed front ends leave what they had in memory. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

enum { FRONT_ENDS = 3, WORKERS = 3, ACCOUNTS = 4, STEPS = 2500, SEEDS = 120 };

/* How often an account has taken part in a transfer together with each other one; both count it. */
struct account {
    uint64_t together[ACCOUNTS];
};

enum phase { IDLE, READING, COMMITTING, DECIDED };

struct worker {
    struct transaction_owner owner; /* first */
    struct waiter waiter;
    struct front_end *end;
    enum phase phase;
    bool is_woken;
    unsigned members[3], count, at;
    struct view *views[3];
    struct account read[3];
    uint64_t floor[ACCOUNTS][ACCOUNTS]; /* what the reads must show */
    enum store_result result;
    struct arena *arena; /* of the transaction */
};

struct front_end {
    struct world *world;
    struct port *port;
    struct shards *shards;
    struct worker workers[WORKERS];
};

struct world {
    struct fake *fake;
    struct front_end *ends[FRONT_ENDS];
    uint32_t incarnations;
    uint64_t seed;
    uint64_t acked[ACCOUNTS][ACCOUNTS], unknown[ACCOUNTS][ACCOUNTS];
    uint64_t seen[ACCOUNTS][ACCOUNTS]; /* acknowledged or read, in either */
    unsigned conflicts, applied, kills;
};

static struct partition partition_of(unsigned account)
{
    static const char *const names[ACCOUNTS] = { "a", "b", "c", "d" };
    struct partition partition = { .key = bytes_from_string(names[account]) };

    partition.space.b[0] = (uint8_t)(account / 2); /* of one lane each */
    return partition;
}

static struct worker *worker_of(struct waiter *waiter)
{
    return (struct worker *)(void *)((char *)waiter - offsetof(struct worker, waiter));
}

static void wake(struct waiter *waiter)
{
    worker_of(waiter)->is_woken = true;
}

static void see(struct world *world, unsigned a, unsigned b, uint64_t count)
{
    if (count > world->seen[a][b])
        world->seen[a][b] = world->seen[b][a] = count;
}

/* ---- reading ---- */

static void drop_views(struct worker *worker)
{
    for (unsigned i = 0; i < worker->count; i++) {
        view_close(worker->views[i]);
        worker->views[i] = NULL;
    }
}

static void begin(struct world *world, struct worker *worker)
{
    unsigned first = fake_random(world->fake, ACCOUNTS);

    worker->count = 2 + fake_random(world->fake, 2);
    for (unsigned i = 0; i < worker->count; i++) {
        struct partition partition;

        worker->members[i] = (first + i) % ACCOUNTS;
        partition = partition_of(worker->members[i]);
        worker->views[i] = view_open(worker->end->shards, &partition);
    }
    memcpy(worker->floor, world->seen, sizeof worker->floor);
    worker->at = 0;
    worker->phase = READING;
    worker->is_woken = true;
}

static void take_read(struct world *world, struct worker *worker, struct bytes value)
{
    unsigned mine = worker->members[worker->at];
    struct account *account = &worker->read[worker->at];

    *account = (struct account){ { 0 } };
    if (value.len == sizeof *account)
        memcpy(account, value.ptr, sizeof *account);
    for (unsigned other = 0; other < ACCOUNTS; other++) {
        if (account->together[other] < worker->floor[mine][other])
            fail_msg("seed %llu: account %u was read with %llu transfers with %u, after %llu",
                     (unsigned long long)world->seed, mine,
                     (unsigned long long)account->together[other], other,
                     (unsigned long long)worker->floor[mine][other]);
        see(world, mine, other, account->together[other]);
    }
    /* What this one has seen must be in what it reads next. */
    memcpy(worker->floor, world->seen, sizeof worker->floor);
}

static void commit(struct world *world, struct worker *worker)
{
    worker->arena = arena_new(1u << 20);
    struct transaction *t = transaction_new(worker->end->shards, worker->arena,
                                            1 + fake_random(world->fake, 1000), &worker->owner);

    for (unsigned i = 0; i < worker->count; i++) {
        struct partition partition = partition_of(worker->members[i]);
        struct part_work *work =
            transaction_add(t, &partition, view_header(worker->views[i]), false);
        struct account after = worker->read[i];

        for (unsigned k = 0; k < worker->count; k++)
            if (k != i)
                after.together[worker->members[k]]++;
        part_work_set(
            work, worker->arena,
            row_key_record(worker->arena, RECORD_INNER, partition.key, bytes_from_string("n")),
            row_value_write(
                worker->arena,
                record_value_encode(worker->arena, bytes_of(&after, sizeof after), NULL, 0)));
    }
    worker->phase = COMMITTING;
    transaction_start(t);
}

static void read_on(struct world *world, struct worker *worker)
{
    while (worker->at < worker->count) {
        struct arena *arena = arena_new(1u << 20);
        struct record record = { .value = { NULL, 0 } };
        enum store_result result = view_get(worker->views[worker->at], RECORD_INNER,
                                            bytes_from_string("n"), arena, &record);

        if (result == STORE_WAIT) {
            worker->is_woken = false;
            arrival_wait(view_arrival(worker->views[worker->at]), &worker->waiter);
            arena_free(arena);
            return;
        }
        assert_true(result == STORE_OK || result == STORE_NOT_FOUND);
        take_read(world, worker, record.value);
        arena_free(arena);
        worker->at++;
    }
    if (fake_random(world->fake, 4) == 0) {
        drop_views(worker);
        worker->phase = IDLE;
    } else {
        commit(world, worker);
    }
}

/* ---- outcomes ---- */

static void add(struct worker *worker, uint64_t to[ACCOUNTS][ACCOUNTS])
{
    for (unsigned i = 0; i < worker->count; i++)
        for (unsigned k = 0; k < worker->count; k++)
            if (i != k)
                to[worker->members[i]][worker->members[k]]++;
}

static void decided(struct transaction_owner *owner, enum store_result result)
{
    struct worker *worker = (struct worker *)(void *)owner;
    struct world *world = worker->end->world;

    assert_int_equal(worker->phase, COMMITTING);
    worker->phase = DECIDED;
    if (result == STORE_OK) {
        add(worker, world->acked);
        world->applied++;
        for (unsigned i = 0; i < worker->count; i++)
            for (unsigned k = 0; k < worker->count; k++)
                if (i != k)
                    see(world, worker->members[i], worker->members[k],
                        worker->read[i].together[worker->members[k]] + 1);
    } else if (result == STORE_UNKNOWN) {
        add(worker, world->unknown);
    } else {
        assert_int_equal(result, STORE_CONFLICT);
        world->conflicts++;
    }
}

static void ended(struct transaction_owner *owner)
{
    struct worker *worker = (struct worker *)(void *)owner;

    assert_int_equal(worker->phase, DECIDED);
    drop_views(worker);
    arena_free(worker->arena);
    worker->phase = IDLE;
}

/* ---- front ends ---- */

static struct front_end *start(struct world *world)
{
    struct front_end *end = xcalloc(1, sizeof *end);

    end->world = world;
    end->port = fake_client(world->fake);
    end->shards = shards_new(end->port, ++world->incarnations);
    for (unsigned i = 0; i < WORKERS; i++)
        end->workers[i] =
            (struct worker){ .owner = { decided, ended }, .waiter = { .wake = wake }, .end = end };
    return end;
}

static void kill_one(struct world *world, unsigned number)
{
    struct front_end *end = world->ends[number];

    fake_client_kill(world->fake, end->port);
    for (unsigned i = 0; i < WORKERS; i++)
        if (end->workers[i].phase == COMMITTING)
            add(&end->workers[i], world->unknown);
    world->ends[number] = start(world);
    world->kills++;
}

static void work(struct world *world, struct worker *worker)
{
    if (worker->phase == IDLE)
        begin(world, worker);
    if (worker->phase == READING && worker->is_woken)
        read_on(world, worker);
}

/* ---- the end ---- */

static void run_all(struct world *world)
{
    while (fake_step(world->fake))
        for (unsigned i = 0; i < FRONT_ENDS; i++)
            for (unsigned k = 0; k < WORKERS; k++) {
                struct worker *worker = &world->ends[i]->workers[k];

                if (worker->phase == READING && worker->is_woken)
                    read_on(world, worker);
            }
}

static void sweep(struct world *world, struct shards *shards, unsigned account)
{
    struct partition partition = partition_of(account);
    struct arrival *arrival = resolve_start(shards, &partition);

    while (fake_step(world->fake))
        ;
    assert_true(arrival_has_come(arrival));
    arrival_drop(arrival);
}

static struct account judge(struct world *world, struct arena *arena, unsigned account)
{
    struct partition partition = partition_of(account);
    struct account found = { { 0 } };
    struct partition_header header;
    char object[SHARD_NAME_SIZE];
    struct record record;
    struct bytes row, slot;

    shard_name(&partition.space, 0, 0, object);
    assert_int_equal(
        partition_header_read(fake_row(world->fake, object, row_key_header(arena, partition.key)),
                              &header),
        STORE_OK);
    assert_false(partition_is_locked(&header));
    assert_null(fake_row(world->fake, object, row_key_prepared(arena, partition.key, 0)).ptr);
    slot = row_key_slot_number(arena, row_slot_of(partition.key));
    assert_int_equal(fake_row(world->fake, object, slot).len, 0);
    row = fake_row(world->fake, object,
                   row_key_record(arena, RECORD_INNER, partition.key, bytes_from_string("n")));
    if (row.ptr) {
        assert_true(row_value_read(row, &row));
        assert_int_equal(record_value_read(row, arena, &record), STORE_OK);
        memcpy(&found, record.value.ptr, sizeof found);
    }
    return found;
}

static void judge_all(struct world *world)
{
    struct arena *arena = arena_new(1u << 20);
    struct account accounts[ACCOUNTS];

    for (unsigned i = 0; i < ACCOUNTS; i++)
        sweep(world, world->ends[0]->shards, i);
    for (unsigned i = 0; i < ACCOUNTS; i++)
        accounts[i] = judge(world, arena, i);
    for (unsigned i = 0; i < ACCOUNTS; i++)
        for (unsigned k = 0; k < ACCOUNTS; k++) {
            uint64_t is = accounts[i].together[k];

            if (is != accounts[k].together[i] || is < world->acked[i][k] ||
                is > world->acked[i][k] + world->unknown[i][k] || is < world->seen[i][k])
                fail_msg("seed %llu: %u and %u: %llu and %llu transfers; %llu acknowledged, %llu "
                         "unknown, %llu seen",
                         (unsigned long long)world->seed, i, k, (unsigned long long)is,
                         (unsigned long long)accounts[k].together[i],
                         (unsigned long long)world->acked[i][k],
                         (unsigned long long)world->unknown[i][k],
                         (unsigned long long)world->seen[i][k]);
        }
    arena_free(arena);
}

static void run_seed(uint64_t seed, unsigned sums[3])
{
    struct world world = { .seed = seed };

    world.fake = fake_new((struct fake_options){ .seed = seed, .resent = 12, .late = 4 });
    for (unsigned i = 0; i < FRONT_ENDS; i++)
        world.ends[i] = start(&world);
    for (unsigned step = 0; step < STEPS; step++) {
        struct front_end *end = world.ends[fake_random(world.fake, FRONT_ENDS)];

        work(&world, &end->workers[fake_random(world.fake, WORKERS)]);
        fake_step(world.fake);
        if (seed % 4 && fake_random(world.fake, 300) == 0)
            kill_one(&world, fake_random(world.fake, FRONT_ENDS));
    }
    fake_set_faults(world.fake, 0, 0);
    run_all(&world);
    judge_all(&world);
    sums[0] += world.applied;
    sums[1] += world.conflicts;
    sums[2] += world.kills;
    fake_free(world.fake);
}

static void transfers(void **state)
{
    unsigned sums[3] = { 0, 0, 0 };

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_seed(seed, sums);
    print_message("%u transfers, %u conflicts, %u kills\n", sums[0], sums[1], sums[2]);
    assert_true(sums[0] > 10 * SEEDS && sums[1] > 5 * SEEDS && sums[2] > 2 * SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
