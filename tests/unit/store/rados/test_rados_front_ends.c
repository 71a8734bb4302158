/* Front ends that read by views and commit by shards, over one RADOS that answers late, applies ops twice, and
 * loses clients: each counts up in the same partitions. What was acknowledged or read is in every later
 * read, and in the end. store invariants 3 and 6, by seeds */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../rados/fake.h"
#include "store/rados/row_key.h"
#include "store/rados/shard.h"
#include "store/rados/view.h"
#include "store/record_value.h"

enum { FRONT_ENDS = 3, WORKERS = 4, PARTITIONS = 3, STEPS = 1500, SEEDS = 150 };

enum phase { IDLE, READING, COMMITTING };

/* One exchange at a time, as a state machine that is woken. */
struct worker {
    struct waiter waiter; /* first */
    struct front_end *end;
    enum phase phase;
    bool is_woken;
    unsigned partition;
    unsigned floor; /* what the read must show at least */
    unsigned value; /* to be */
    struct view *view;
    struct shard_commit commit;
    struct shard_change change;
    struct arena *arena;
};

struct front_end {
    struct port *port;
    struct shards *shards;
    struct shard *shard;
    bool is_dead;
    struct worker workers[WORKERS];
};

struct world {
    struct fake *fake;
    struct arena *arena;
    struct guid space; /* of one lane */
    char object[SHARD_NAME_SIZE];
    struct front_end ends[FRONT_ENDS];
    unsigned seen[PARTITIONS];    /* the greatest that was acknowledged or read */
    unsigned applied[PARTITIONS]; /* acknowledged */
    unsigned unknown[PARTITIONS]; /* may have been applied */
    unsigned conflicts, gone;
    uint64_t seed;
};

static const char *const names[PARTITIONS] = { "a", "b", "c" };
static struct front_end lost[SEEDS + 1]; /* what dead ones leave in memory */

static void wake(struct waiter *waiter)
{
    struct worker *worker = (struct worker *)(void *)waiter;

    assert_false(worker->is_woken);
    worker->is_woken = true;
}

static void see(struct world *world, unsigned partition, unsigned value)
{
    if (value > world->seen[partition])
        world->seen[partition] = value;
}

static void go_idle(struct worker *worker)
{
    if (worker->view)
        view_close(worker->view);
    worker->view = NULL;
    worker->phase = IDLE;
    arena_free(worker->arena);
    worker->arena = arena_new(1u << 20);
}

static void begin_read(struct world *world, struct worker *worker)
{
    worker->partition = fake_random(world->fake, PARTITIONS);
    worker->floor = world->seen[worker->partition];
    worker->view =
        view_open(worker->end->shards,
                  &(struct partition){ world->space, bytes_from_string(names[worker->partition]) });
    worker->phase = READING;
    worker->is_woken = true;
}

static void begin_commit(struct worker *worker)
{
    struct front_end *end = worker->end;
    struct bytes partition = bytes_from_string(names[worker->partition]);

    worker->change = (struct shard_change){
        .key = row_key_record(worker->arena, RECORD_INNER, partition, bytes_from_string("n")),
        .value = row_value_write(
            worker->arena,
            record_value_encode(worker->arena, arena_printf(worker->arena, "%u", worker->value),
                                NULL, 0)),
    };
    worker->commit = (struct shard_commit){
        .partition_key = partition,
        .seen = *view_header(worker->view),
        .now = worker->value,
        .attempt = shards_next_attempt(end->shards),
        .changes = &worker->change,
        .waiter = &worker->waiter,
    };
    worker->phase = COMMITTING;
    worker->is_woken = false;
    shard_commit(end->shard, &worker->commit);
}

static void go_on_reading(struct world *world, struct worker *worker)
{
    struct record record;
    enum store_result result =
        view_get(worker->view, RECORD_INNER, bytes_from_string("n"), worker->arena, &record);
    uint64_t value = 0;

    if (result == STORE_WAIT) {
        worker->is_woken = false;
        arrival_wait(view_arrival(worker->view), &worker->waiter);
        return;
    }
    assert_true(result == STORE_OK || result == STORE_NOT_FOUND);
    if (!result)
        assert_true(bytes_parse_u64(record.value, UINT32_MAX, &value));
    if (value < worker->floor)
        fail_msg("seed %llu: %s was read as %u, after %u", (unsigned long long)world->seed,
                 names[worker->partition], (unsigned)value, worker->floor);
    see(world, worker->partition, (unsigned)value);
    worker->value = (unsigned)value + 1;
    begin_commit(worker);
}

static void end_commit(struct world *world, struct worker *worker)
{
    enum store_result result = worker->commit.result;

    if (result == STORE_OK) {
        world->applied[worker->partition]++;
        see(world, worker->partition, worker->value);
    } else if (result == STORE_UNKNOWN) {
        world->unknown[worker->partition]++;
    } else {
        assert_int_equal(result, STORE_CONFLICT);
        world->conflicts++;
    }
    go_idle(worker);
}

static void work(struct world *world, struct worker *worker)
{
    if (worker->phase == IDLE)
        begin_read(world, worker);
    else if (worker->phase == READING && worker->is_woken)
        go_on_reading(world, worker);
    else if (worker->phase == COMMITTING && worker->is_woken)
        end_commit(world, worker);
}

static void kill_front_end(struct world *world, struct front_end *end)
{
    end->is_dead = true;
    fake_client_kill(world->fake, end->port);
    for (unsigned i = 0; i < WORKERS; i++)
        if (end->workers[i].phase == COMMITTING)
            world->unknown[end->workers[i].partition]++;
    world->gone++;
}

static void start(struct world *world, struct front_end *end, uint32_t incarnation)
{
    *end = (struct front_end){ .port = fake_client(world->fake) };
    end->shards = shards_new(end->port, incarnation);
    end->shard = shards_take(end->shards, world->object);
    for (unsigned i = 0; i < WORKERS; i++)
        end->workers[i] =
            (struct worker){ .waiter = { .wake = wake }, .end = end, .arena = arena_new(1u << 20) };
}

static void finish(struct world *world, struct front_end *end)
{
    if (end->is_dead) {
        lost[world->seed] = *end;
        return;
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        struct worker *worker = &end->workers[i];

        if (worker->phase == COMMITTING)
            end_commit(world, worker);
        else if (worker->phase == READING)
            go_idle(worker);
        arena_free(worker->arena);
    }
    shards_give(end->shards, world->object);
    shards_free(end->shards);
}

static void expect_count(struct world *world, unsigned partition)
{
    struct bytes key = row_key_record(world->arena, RECORD_INNER,
                                      bytes_from_string(names[partition]), bytes_from_string("n"));
    struct bytes row = fake_row(world->fake, world->object, key);
    struct record record;
    uint64_t value = 0;

    if (row.ptr) {
        assert_true(row_value_read(row, &row));
        assert_int_equal(record_value_read(row, world->arena, &record), STORE_OK);
        assert_true(bytes_parse_u64(record.value, UINT32_MAX, &value));
    }
    if (value < world->applied[partition] ||
        value > world->applied[partition] + world->unknown[partition] ||
        value < world->seen[partition])
        fail_msg("seed %llu: %s is %u: %u acknowledged, %u unknown, %u seen",
                 (unsigned long long)world->seed, names[partition], (unsigned)value,
                 world->applied[partition], world->unknown[partition], world->seen[partition]);
}

static void run_seed(uint64_t seed, unsigned *applied, unsigned *conflicts)
{
    struct world world = { .seed = seed, .arena = arena_new(1u << 20) };

    world.fake = fake_new((struct fake_options){ .seed = seed });
    shard_name(&world.space, 0, 0, world.object);
    fake_set_faults(world.fake, 8, 3);
    for (uint32_t i = 0; i < FRONT_ENDS; i++)
        start(&world, &world.ends[i], i + 1);
    for (unsigned step = 0; step < STEPS; step++) {
        struct front_end *end = &world.ends[fake_random(world.fake, FRONT_ENDS)];

        if (!end->is_dead)
            work(&world, &end->workers[fake_random(world.fake, WORKERS)]);
        if (step == STEPS / 2 && seed % 2)
            kill_front_end(&world, &world.ends[0]);
        fake_step(world.fake);
    }
    while (fake_step(world.fake))
        ;
    for (unsigned i = 0; i < FRONT_ENDS; i++)
        finish(&world, &world.ends[i]);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        expect_count(&world, i);
        *applied += world.applied[i];
    }
    *conflicts += world.conflicts;
    fake_free(world.fake);
    arena_free(world.arena);
}

static void counters(void **state)
{
    unsigned applied = 0, conflicts = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_seed(seed, &applied, &conflicts);
    assert_true(applied > 20 * SEEDS && conflicts > 10 * SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
