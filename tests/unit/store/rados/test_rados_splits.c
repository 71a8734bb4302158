/* Splits of shards: what is there is there afterwards, wherever the front end dies that moves it, whoever does it at the
 * same time, and whatever else goes on. store/rados/split.h, move.h, on a RADOS in memory */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../../rados/live.h"
#include "store/inspect.h"
#include "store/rados/blocking.h"
#include "store/rados/move.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"
#include "store/rados/split_shard.h"

#define B(s) bytes_from_string(s)

/* Front ends that are cut off leave what they had in memory. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

enum { PARTITIONS = 12, ROWS = 8 /* that a shard may have */ };

struct fixture {
    struct live *live;
    struct port *port;
    struct store *store;
    struct arena *arena;
    struct guid space; /* of one lane */
    char object[SHARD_NAME_SIZE];
    unsigned large; /* the large partition is behind that one */
    unsigned said;
};

/* No shard is split unless the test says so. */
static struct store *open_store(struct port *port)
{
    return live_open_with(port, (struct rados_options){ .grace_ticks = 1 });
}

static struct fixture *fixture_new(uint64_t seed)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->live = live_new((struct fake_options){ .seed = seed, .resent = 12, .late = 6 });
    f->port = live_port(f->live);
    f->store = open_store(f->port);
    f->arena = arena_new(256u << 20);
    f->space = (struct guid){ { (uint8_t)seed, (uint8_t)(seed >> 8) } };
    shard_name(&f->space, 0, 0, f->object);
    f->large = 5;
    return f;
}

static void fixture_free(struct fixture *f)
{
    if (f->store)
        store_close(f->store);
    live_free(f->live);
    arena_free(f->arena);
    free(f);
}

static int set_up(void **state)
{
    *state = fixture_new(3);
    return 0;
}

static int tear_down(void **state)
{
    fixture_free(*state);
    return 0;
}

/* ---- what is there ---- */

static struct partition partition_of(const struct fixture *f, unsigned number)
{
    return (struct partition){ f->space, arena_printf(f->arena, "p%02u", number) };
}

/* returns as store_await(); the last of as many tries as it takes */
static enum store_result change(struct store *store, struct partition partition,
                                const struct changes *changes)
{
    enum store_result result;
    uint64_t sequence;

    do {
        struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);

        result = store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now() + 1,
                              STORE_MAY_BLOCK, &sequence);
        snapshot_close(snapshot);
        if (!result)
            result = store_await(store, sequence);
    } while (result == STORE_CONFLICT);
    return result;
}

/* Each has a LISTED and an INNER record, one of an index, and a count of one. */
static void put(struct fixture *f, struct store *store, unsigned number, const char *value)
{
    struct changes *changes = changes_new(f->arena);

    changes_put(changes, RECORD_LISTED, B("r"), B(value), NULL, 0);
    changes_put(changes, RECORD_INNER, B("s"), B(value), NULL, 0);
    changes_index_put(changes, arena_printf(f->arena, "i%02u", 99 - number), B(value));
    changes_count(changes, B("n"), 1);
    assert_int_equal(change(store, partition_of(f, number), changes), STORE_OK);
}

static void fill(struct fixture *f)
{
    for (unsigned i = 0; i < PARTITIONS; i++)
        put(f, f->store, i, "v");
}

static void expect_records(struct fixture *f, struct store *store, unsigned number,
                           const char *value)
{
    struct snapshot *snapshot = snapshot_open(store, partition_of(f, number), STORE_MAY_BLOCK);
    struct record record;

    assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("r"), f->arena, &record), STORE_OK);
    assert_true(bytes_is(record.value, value));
    assert_int_equal(snapshot_get(snapshot, RECORD_INNER, B("s"), f->arena, &record), STORE_OK);
    assert_true(bytes_is(record.value, value));
    snapshot_close(snapshot);
}

static void expect_listed(struct fixture *f, struct store *store)
{
    const struct bytes none = { NULL, 0 };
    struct space_iterator *iterator =
        space_iterator_open(store, f->space, none, none, STORE_MAY_BLOCK);
    struct space_record record;
    unsigned count = 0;

    for (; space_iterator_next(iterator, &record) == STORE_OK; count++)
        assert_true(bytes_equal(record.partition_key, partition_of(f, count).key));
    assert_int_equal(count, PARTITIONS);
    space_iterator_close(iterator);
}

static void expect_index(struct fixture *f, struct store *store)
{
    const struct bytes none = { NULL, 0 };
    struct index_iterator *iterator =
        index_iterator_open(store, f->space, B("i"), B("i"), none, STORE_MAY_BLOCK);
    struct index_record record;
    unsigned count = 0;

    for (; index_iterator_next(iterator, &record) == STORE_OK; count++)
        assert_true(bytes_equal(record.partition_key, partition_of(f, PARTITIONS - 1 - count).key));
    assert_int_equal(count, PARTITIONS);
    index_iterator_close(iterator);
}

/* Once each, in order, as they were put last. */
static void expect_all(struct fixture *f, struct store *store, const char *value, int64_t count)
{
    uint64_t sequence;
    int64_t sum;

    for (unsigned i = 0; i < PARTITIONS; i++)
        expect_records(f, store, i, value);
    expect_listed(f, store);
    expect_index(f, store);
    assert_int_equal(store_count(store, f->space, B("n"), STORE_MAY_BLOCK, &sum, &sequence),
                     STORE_OK);
    assert_int_equal(sum, count);
}

static void count_shard(void *context, const char *object)
{
    struct guid space;

    if (shard_name_space(object, &space))
        ++*(unsigned *)context;
}

static unsigned count_shards(struct fixture *f)
{
    unsigned count = 0;

    assert_true(port_each_object(f->port, count_shard, &count));
    return count;
}

static void visit(void *context, const struct record_place *place, const struct record *record)
{
    (void)context;
    (void)place;
    (void)record;
}

static void say(void *context, const char *sentence)
{
    print_message("%s\n", sentence);
    ((struct fixture *)context)->said++;
}

static struct shards *shards_of(struct store *store)
{
    return rados_of(store)->shards;
}

/* ---- tests ---- */

/* Everything is there after a split, for who made it, and for one who knows nothing of it; and can be changed. */
static void split(void **state)
{
    struct fixture *f = *state;
    struct store *other;

    fill(f);
    assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
    assert_true(count_shards(f) > 4);
    expect_all(f, f->store, "v", PARTITIONS);
    store_close(f->store);
    other = f->store = open_store(live_client(f->live));
    expect_all(f, other, "v", PARTITIONS);
    for (unsigned i = 0; i < PARTITIONS; i++)
        put(f, other, i, "w");
    expect_all(f, other, "w", 2 * PARTITIONS);
    assert_int_equal(store_inspect(other, visit, say, f), STORE_OK);
    assert_int_equal(f->said, 0);
}

/* A partition that is larger than what goes at once stays, and a shard that has no more than it may. */
static void not_split(void **state)
{
    struct fixture *f = *state;

    put(f, f->store, 0, "v");
    assert_true(split_shard(shards_of(f->store), f->object, 2, 0));
    put(f, f->store, 1, "v");
    assert_true(split_shard(shards_of(f->store), f->object, 100, 0));
    assert_int_equal(count_shards(f), 1);
}

/* A partition that fills its ops to the last row moves as a whole. */
static void full_ops(void **state)
{
    enum { RECORDS = MOVE_OP_ROWS - 1 /* and a header */ };
    struct fixture *f = *state;
    const struct partition large = { f->space, B("z") };
    struct changes *changes = changes_new(f->arena);
    struct snapshot *snapshot;
    struct record record;

    fill(f);
    for (unsigned i = 0; i < RECORDS; i++)
        changes_put(changes, RECORD_LISTED, arena_printf(f->arena, "r%04u", i), B("v"), NULL, 0);
    assert_int_equal(change(f->store, large, changes), STORE_OK);
    assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
    assert_true(count_shards(f) > 4);
    snapshot = snapshot_open(f->store, large, STORE_MAY_BLOCK);
    for (unsigned i = 0; i < RECORDS; i++)
        assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, arena_printf(f->arena, "r%04u", i),
                                      f->arena, &record),
                         STORE_OK);
    snapshot_close(snapshot);
}

/* ---- partitions that are large ---- */

static struct partition large_of(const struct fixture *f)
{
    return (struct partition){ f->space, arena_printf(f->arena, "p%02ux", f->large) };
}

static struct bytes large_key(const struct fixture *f, unsigned number)
{
    return arena_printf(f->arena, "r%05u", number);
}

/* As many records, by several commits. */
static void fill_family(struct fixture *f, enum record_family family, unsigned records)
{
    enum { AT_ONCE = 1500 };

    for (unsigned begin = 0; begin < records; begin += AT_ONCE) {
        struct changes *changes = changes_new(f->arena);

        for (unsigned i = begin; i < records && i < begin + AT_ONCE; i++)
            changes_put(changes, family, large_key(f, i), large_key(f, i), NULL, 0);
        assert_int_equal(change(f->store, large_of(f), changes), STORE_OK);
    }
}

static void fill_large(struct fixture *f, unsigned records)
{
    fill_family(f, RECORD_INNER, records);
}

static void expect_large(struct fixture *f, struct store *store, unsigned records)
{
    const struct bytes none = { NULL, 0 };
    struct snapshot *snapshot = snapshot_open(store, large_of(f), STORE_MAY_BLOCK);
    struct scan *scan = scan_open(snapshot, RECORD_INNER, B("r"), none);
    struct record record;
    unsigned count = 0;

    for (; scan_next(scan, NULL, &record) == STORE_OK; count++)
        assert_true(bytes_equal(record.key, large_key(f, count)) &&
                    bytes_equal(record.value, record.key));
    assert_int_equal(count, records);
    scan_close(scan);
    snapshot_close(snapshot);
}

/* What is before it in its shard, and behind it. */
static void expect_alone(struct fixture *f, struct store *store)
{
    const struct partition large = large_of(f);
    struct shard_bounds bounds;
    char object[SHARD_NAME_SIZE];
    struct arrival *arrival;
    struct port_step *row;
    struct port_op *op = arrival_op();
    struct snapshot *snapshot = snapshot_open(store, large, STORE_MAY_BLOCK);

    (void)snapshot_instant(snapshot); /* so that it is known where it is */
    snapshot_close(snapshot);
    shards_place(shards_of(store), &large, object);
    row = port_get(op, row_key_bounds());
    arrival = send_block(f->port, object, op);
    assert_int_equal(op->result, PORT_OK);
    assert_int_equal(shard_bounds_read(port_value(row), &bounds), STORE_OK);
    assert_true(bytes_equal(bounds.lo, large.key));
    assert_true(bytes_equal(bounds.hi, partition_of(f, f->large + 1).key));
    arrival_drop(arrival);
}

/* A large partition comes to be alone in a shard, wherever it lay. */
static void large_alone(void **state)
{
    enum { RECORDS = 20000 };
    struct fixture *f = *state;

    fill(f);
    fill_large(f, RECORDS);
    assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
    expect_large(f, f->store, RECORDS);
    expect_alone(f, f->store);
    expect_records(f, f->store, 5, "v");
    expect_records(f, f->store, 6, "v");
    assert_int_equal(store_inspect(f->store, visit, say, f), STORE_OK);
    assert_int_equal(f->said, 0);
}

/* Two of them, and each is alone. */
static void large_two(void **state)
{
    enum { RECORDS = 3000, MANY = 4000 };
    struct fixture *f = *state;

    fill(f);
    for (f->large = 3; f->large <= 7; f->large += 4)
        fill_large(f, RECORDS);
    assert_true(split_shard(shards_of(f->store), f->object, MANY, 0));
    assert_true(split_shard(shards_of(f->store), f->object, RECORDS, 0));
    for (f->large = 3; f->large <= 7; f->large += 4) {
        expect_large(f, f->store, RECORDS);
        expect_alone(f, f->store);
    }
}

/* Also where those before it are too few to be cut by themselves. */
static void large_behind_few(void **state)
{
    enum { RECORDS = 3000, MANY = 1000 /* rows that a shard may have */ };
    struct fixture *f = *state;

    fill(f);
    fill_large(f, RECORDS);
    assert_true(split_shard(shards_of(f->store), f->object, MANY, 0));
    expect_large(f, f->store, RECORDS);
    expect_alone(f, f->store);
}

/* And where those before it have no LISTED records, and it has no other: the first that a kind has is not the first of all. */
static void large_listed(void **state)
{
    enum { RECORDS = 3000, MANY = 1000 };
    struct fixture *f = *state;

    for (unsigned i = 0; i < 6; i++) {
        struct changes *changes = changes_new(f->arena);

        changes_put(changes, RECORD_INNER, B("s"), B("v"), NULL, 0);
        assert_int_equal(change(f->store, partition_of(f, i), changes), STORE_OK);
    }
    fill_family(f, RECORD_LISTED, RECORDS);
    put(f, f->store, 6, "v");
    assert_true(split_shard(shards_of(f->store), f->object, MANY, 0));
    assert_int_equal(count_shards(f), 3);
    expect_alone(f, f->store);
}

/* The front end dies at any op of its move, which is of more than one. */
static void large_killed(void **state)
{
    enum { RECORDS = 5000 };
    unsigned dead = 0;

    (void)state;
    for (unsigned after = 0; after < 40; after++) {
        struct fixture *f = fixture_new(900 + after);
        struct port *port = live_client(f->live);
        struct store *dying = open_store(port);

        fill(f);
        fill_large(f, RECORDS);
        live_cut(f->live, port, 10 + after, after % 2 == 1);
        dead += !split_shard(shards_of(dying), f->object, ROWS, 0);
        expect_large(f, f->store, RECORDS);
        for (unsigned i = PARTITIONS; i > 0; i--)
            put(f, f->store, i - 1, "w");
        fill_large(f, RECORDS);
        expect_large(f, f->store, RECORDS);
        store_close(dying);
        assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
        expect_large(f, f->store, RECORDS);
        fixture_free(f);
    }
    assert_true(dead > 20);
}

/* Many wait for one move, which another began: the front end copies the partition once. */
static void large_shared(void **state)
{
    enum { RECORDS = 5000, WAITERS = 16 };
    struct fixture *f = *state;
    struct port *port = live_client(f->live);
    struct store *dying = open_store(port);
    struct arrival *finished[WAITERS];
    uint64_t before, sent;

    fill_large(f, RECORDS);
    put(f, f->store, 0, "v");
    live_cut(f->live, port, 14, false);
    assert_false(split_shard(shards_of(dying), f->object, ROWS, 0));
    store_close(dying);
    live_hold(f->live, true);
    before = live_shard_ops(f->live);
    for (unsigned i = 0; i < WAITERS; i++)
        finished[i] = move_finish(shards_of(f->store), f->object);
    sent = live_shard_ops(f->live) - before;
    live_hold(f->live, false);
    for (unsigned i = 0; i < WAITERS; i++) {
        arrival_block(finished[i]);
        arrival_drop(finished[i]);
    }
    assert_int_equal(sent, 1);
    expect_large(f, f->store, RECORDS);
    assert_int_equal(count_shards(f), 2);
}

/* How often a piece is referred to is asked where its partition is, by a front end that did not know of the split. */
static void released(void **state)
{
    struct fixture *f = *state;
    struct store *other = open_store(live_client(f->live));
    const struct partition last = partition_of(f, PARTITIONS - 1);
    struct changes *put_it = changes_new(f->arena), *release = changes_new(f->arena);
    struct snapshot *snapshot;
    struct record record;
    size_t taken, count;
    uint64_t sequence;
    struct stage *stage;

    fill(f);
    stage = stage_open(f->store, last, 4);
    assert_int_equal(stage_write(stage, B("data"), NULL, &taken), STORE_OK);
    assert_int_equal(stage_finish(stage, NULL), STORE_OK);
    changes_put(put_it, RECORD_LISTED, B("with"), B("v"), stage_pieces(stage, &count), 1);
    assert_int_equal(change(f->store, last, put_it), STORE_OK);
    stage_close(stage);
    snapshot = snapshot_open(f->store, last, STORE_MAY_BLOCK);
    assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("with"), f->arena, &record), STORE_OK);
    assert_true(split_shard(shards_of(other), f->object, ROWS, 0));
    changes_delete(release, RECORD_LISTED, B("with"));
    changes_release(release, record.pieces, record.piece_count);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, release }, 1,
                                  clock_now() + 1, STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_OK);
    snapshot_close(snapshot);
    store_close(other);
}

/* The front end dies at any op of a split: another finds all, and finishes what it needs to write. */
static void killed(void **state)
{
    unsigned dead = 0;

    (void)state;
    for (unsigned after = 0; after < 60; after++) {
        struct fixture *f = fixture_new(100 + after);
        struct port *port = live_client(f->live);
        struct store *other = open_store(live_client(f->live)), *dying = open_store(port);

        fill(f);
        live_cut(f->live, port, after, after % 2 == 1);
        dead += !split_shard(shards_of(dying), f->object, ROWS, 0);
        expect_all(f, other, "v", PARTITIONS);
        for (unsigned i = PARTITIONS; i > 0; i--)
            put(f, other, i - 1, "w");
        expect_all(f, other, "w", 2 * PARTITIONS);
        expect_all(f, f->store, "w", 2 * PARTITIONS);
        store_close(dying);
        (void)split_shard(shards_of(other), f->object, ROWS, 0);
        expect_all(f, f->store, "w", 2 * PARTITIONS);
        store_close(other);
        fixture_free(f);
    }
    assert_true(dead > 20);
}

/* The pool runs full at any op of a split: what is there can be read, and once there is room again all goes on. */
static void full_pool(void **state)
{
    unsigned stopped = 0;

    (void)state;
    for (unsigned after = 0; after < 60; after++) {
        struct fixture *f = fixture_new(800 + after);
        struct port *port = live_client(f->live);
        struct store *other = open_store(port);

        fill(f);
        live_fill_after(f->live, port, after);
        stopped += !split_shard(shards_of(other), f->object, ROWS, 0);
        expect_all(f, f->store, "v", PARTITIONS);
        live_set_full(f->live, false);
        for (unsigned i = 0; i < PARTITIONS; i++)
            put(f, f->store, i, "w");
        expect_all(f, other, "w", 2 * PARTITIONS);
        assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
        expect_all(f, other, "w", 2 * PARTITIONS);
        store_close(other);
        fixture_free(f);
    }
    assert_true(stopped > 20);
}

struct worker {
    struct fixture *f;
    struct store *store;
    pthread_t thread;
    unsigned rounds, number;
};

static atomic_uint writing; /* threads */

static void *split_again(void *argument)
{
    struct worker *w = argument;

    for (unsigned i = 0; i < w->rounds || atomic_load(&writing) > 0; i++) {
        struct arrival *finished = move_finish(shards_of(w->store), w->f->object);

        arrival_block(finished);
        arrival_drop(finished);
        (void)split_shard(shards_of(w->store), w->f->object, ROWS - i % 2 * 4, 0);
    }
    return NULL;
}

/* Adds one to the number in one partition; the arena of the fixture is not its own. */
static enum store_result increment(struct store *store, struct partition partition,
                                   struct arena *arena)
{
    struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct record record;
    unsigned long number = 0;
    uint64_t sequence;
    enum store_result result = snapshot_get(snapshot, RECORD_LISTED, B("r"), arena, &record);

    if (!result)
        number = strtoul(arena_string(arena, record.value), NULL, 10);
    if (!result || result == STORE_NOT_FOUND) {
        changes_put(changes, RECORD_LISTED, B("r"), arena_printf(arena, "%lu", number + 1), NULL,
                    0);
        changes_count(changes, B("n"), 1);
        result = store_commit(store, &(struct commit_part){ snapshot, changes }, 1,
                              snapshot_instant(snapshot) + 1, STORE_MAY_BLOCK, &sequence);
        if (!result)
            result = store_await(store, sequence);
    }
    snapshot_close(snapshot);
    return result;
}

static atomic_uint unknown;

static void *write_all(void *argument)
{
    struct worker *w = argument;

    for (unsigned i = 0; i < w->rounds; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct partition partition = { w->f->space, arena_printf(arena, "p%02u", i % PARTITIONS) };
        enum store_result result;

        do
            result = increment(w->store, partition, arena);
        while (result == STORE_CONFLICT);
        if (result == STORE_UNKNOWN)
            atomic_fetch_add(&unknown, 1);
        else
            assert_int_equal(result, STORE_OK);
        arena_free(arena);
    }
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static void start(struct worker *worker, struct worker with, void *run(void *))
{
    *worker = with;
    assert_int_equal(pthread_create(&worker->thread, NULL, run, worker), 0);
}

static unsigned long number_of(struct fixture *f, struct store *store, unsigned number)
{
    struct snapshot *snapshot = snapshot_open(store, partition_of(f, number), STORE_MAY_BLOCK);
    struct record record;

    assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("r"), f->arena, &record), STORE_OK);
    snapshot_close(snapshot);
    return strtoul(arena_string(f->arena, record.value), NULL, 10);
}

/* Two front ends split the same shard at once, again and again, while both write to all of its partitions: each
 * acknowledged increment counts once. */
static void at_once(void **state)
{
    enum { ROUNDS = 60, THREADS = 6, SEEDS = 8 };
    unsigned shards = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fixture *f = fixture_new(seed);
        struct store *stores[2] = { f->store, open_store(live_client(f->live)) };
        struct worker workers[THREADS];
        unsigned long sum = 0;
        uint64_t sequence;
        int64_t count;

        atomic_store(&unknown, 0);
        atomic_store(&writing, 4);
        for (unsigned i = 0; i < THREADS; i++)
            start(&workers[i],
                  (struct worker){ .f = f, .store = stores[i % 2], .rounds = i < 4 ? ROUNDS : 10 },
                  i < 4 ? write_all : split_again);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(workers[i].thread, NULL);
        for (unsigned i = 0; i < PARTITIONS; i++)
            sum += number_of(f, stores[i % 2], i);
        assert_in_range(sum, 4 * ROUNDS - atomic_load(&unknown), 4 * ROUNDS);
        assert_int_equal(
            store_count(f->store, f->space, B("n"), STORE_MAY_BLOCK, &count, &sequence), STORE_OK);
        assert_int_equal(count, sum);
        shards += count_shards(f);
        store_close(stores[1]);
        fixture_free(f);
    }
    assert_true(shards > SEEDS + SEEDS / 2); /* in some they may have been in each other's way */
}

/* ---- what is dropped, due, locked or fenced ---- */

static void drop(struct fixture *f, struct store *store)
{
    struct changes *changes = changes_new(f->arena);
    const struct partition owner = { { { 0xee } }, B("owner") };

    changes_drop_space(changes, f->space);
    assert_int_equal(change(store, owner, changes), STORE_OK);
}

struct shards_seen {
    struct fixture *f;
    unsigned count, live, rows;
};

/* Of the space of the fixture. */
static void look_at_shard(void *context, const char *object)
{
    struct shards_seen *seen = context;
    struct shard_bounds bounds;
    struct port_step *rows, *row;
    struct port_op *op;
    struct arrival *arrival;
    struct guid space;

    if (!shard_name_space(object, &space) || !guid_equal(&space, &seen->f->space))
        return;
    op = arrival_op();
    row = port_get(op, row_key_bounds());
    rows = port_list(op, (struct bytes){ NULL, 0 }, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
    arrival = send_block(seen->f->port, object, op);
    assert_int_equal(op->result, PORT_OK);
    assert_int_equal(shard_bounds_read(port_value(row), &bounds), STORE_OK);
    seen->count++;
    seen->live += bounds.state != SHARD_SEALED || bounds.is_moving;
    for (uint32_t i = 0; i < rows->row_count; i++)
        seen->rows += rows->rows[i].key.ptr[0] == 'L' || rows->rows[i].key.ptr[0] == 'I';
    arrival_drop(arrival);
}

struct object_names {
    struct object_names *next;
    char name[SHARD_NAME_SIZE];
};

static void keep_name(void *context, const char *object)
{
    struct object_names **names = context, *kept;
    struct guid space;

    if (!shard_name_space(object, &space))
        return;
    kept = calloc(1, sizeof *kept);
    memcpy(kept->name, object, strlen(object) + 1);
    kept->next = *names;
    *names = kept;
}

static struct shards_seen look_at_shards(struct fixture *f)
{
    struct shards_seen seen = { .f = f };
    struct object_names *names = NULL;

    assert_true(port_each_object(f->port, keep_name, &names));
    while (names) {
        struct object_names *next = names->next;

        look_at_shard(&seen, names->name);
        free(names);
        names = next;
    }
    return seen;
}

static void expect_gone(struct fixture *f, struct store *store)
{
    const struct bytes none = { NULL, 0 };
    struct space_iterator *iterator;
    struct space_record record;

    for (unsigned i = 0; i < PARTITIONS; i++) {
        struct snapshot *snapshot = snapshot_open(store, partition_of(f, i), STORE_MAY_BLOCK);
        struct changes *changes = changes_new(f->arena);
        struct record old;

        assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("r"), f->arena, &old),
                         STORE_NOT_FOUND);
        snapshot_close(snapshot);
        changes_put(changes, RECORD_LISTED, B("r"), B("late"), NULL, 0);
        assert_int_equal(change(store, partition_of(f, i), changes), STORE_NOT_FOUND);
    }
    iterator = space_iterator_open(store, f->space, none, none, STORE_MAY_BLOCK);
    assert_int_equal(space_iterator_next(iterator, &record), STORE_NOT_FOUND);
    space_iterator_close(iterator);
}

/* A space is dropped at any moment of a split: all of its shards are sealed, and emptied. */
static void dropped(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 40; after++) {
        struct fixture *f = fixture_new(300 + after);
        struct port *port = live_client(f->live);
        struct store *dying = open_store(port);
        struct store_usage usage;
        struct shards_seen seen;

        fill(f);
        live_cut(f->live, port, after, after % 2 == 1);
        (void)split_shard(shards_of(dying), f->object, ROWS, 0);
        drop(f, f->store);
        expect_gone(f, f->store);
        seen = look_at_shards(f);
        assert_int_equal(seen.live, 0);
        store_close(dying);
        store_collect_now(f->store, &usage);
        seen = look_at_shards(f);
        assert_int_equal(seen.live, 0);
        assert_int_equal(seen.rows, 0);
        fixture_free(f);
    }
}

/* The same while both go on. */
static void *drop_it(void *argument)
{
    struct worker *w = argument;

    drop(w->f, w->store);
    return NULL;
}

static void *split_once(void *argument)
{
    struct worker *w = argument;

    (void)split_shard(shards_of(w->store), w->f->object, ROWS, 0);
    return NULL;
}

static void dropped_meanwhile(void **state)
{
    (void)state;
    for (uint64_t seed = 400; seed < 420; seed++) {
        struct fixture *f = fixture_new(seed);
        struct store *other = open_store(live_client(f->live));
        struct worker workers[2];
        struct store_usage usage;
        struct shards_seen seen;

        fill(f);
        start(&workers[0], (struct worker){ .f = f, .store = other }, split_once);
        start(&workers[1], (struct worker){ .f = f, .store = f->store }, drop_it);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(workers[i].thread, NULL);
        expect_gone(f, other);
        store_collect_now(f->store, &usage);
        seen = look_at_shards(f);
        assert_int_equal(seen.live, 0);
        assert_int_equal(seen.rows, 0);
        store_close(other);
        fixture_free(f);
    }
}

static unsigned run_tasks(struct fixture *f, struct store *store, instant now)
{
    struct deferred_task task;
    unsigned count = 0;
    instant due;

    while (store_task_next(store, now, NULL, f->arena, &task, &due) == STORE_OK) {
        struct changes *changes = changes_new(f->arena);

        changes_task_done(changes, &task);
        assert_int_equal(change(store, task.partition, changes), STORE_OK);
        count++;
    }
    return count;
}

/* Each task is found after its partition has moved, by a front end that learns of it by hints alone; also where the front
 * end died that moved it. Once it is done it is gone. */
static void tasks(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 44; after += 4) {
        struct fixture *f = fixture_new(500 + after);
        struct port *port = live_client(f->live);
        struct store *dying = open_store(port), *other;
        instant now = clock_now();
        unsigned count;

        for (unsigned i = 0; i < PARTITIONS; i++) {
            struct changes *changes = changes_new(f->arena);

            changes_put(changes, RECORD_LISTED, B("r"), B("v"), NULL, 0);
            (void)changes_defer(changes, now + i * SHARD_MINUTE / 4, 7, B("do"));
            assert_int_equal(change(f->store, partition_of(f, i), changes), STORE_OK);
        }
        live_cut(f->live, port, after, false);
        (void)split_shard(shards_of(dying), f->object, ROWS, 0);
        store_close(dying);
        other = open_store(live_client(f->live));
        count = run_tasks(f, other, now + PARTITIONS * SHARD_MINUTE);
        assert_int_equal(count, PARTITIONS);
        store_close(f->store);
        f->store = open_store(live_client(f->live));
        /* One that was looked for while it was on its way is due later there, and so comes again. */
        assert_in_range(run_tasks(f, f->store, now + 2 * PARTITIONS * SHARD_MINUTE), 0, PARTITIONS);
        assert_int_equal(run_tasks(f, other, now + 3 * PARTITIONS * SHARD_MINUTE), 0);
        store_close(other);
        fixture_free(f);
    }
}

/* Locks that a front end has left are got out of the way before their partitions move: what was decided is there, whole, and
 * what was not is not. */
static void locks(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 14; after++) {
        struct fixture *f = fixture_new(600 + after);
        struct port *port = live_client(f->live);
        struct store *dying = open_store(port);
        struct changes *changes = changes_new(f->arena);
        const struct partition two[2] = { partition_of(f, PARTITIONS - 2),
                                          partition_of(f, PARTITIONS - 1) };
        struct commit_part parts[2];
        struct snapshot *snapshots[2];
        unsigned changed = 0;
        uint64_t sequence;

        fill(f);
        changes_put(changes, RECORD_LISTED, B("r"), B("both"), NULL, 0);
        for (unsigned i = 0; i < 2; i++) {
            snapshots[i] = snapshot_open(dying, two[i], STORE_MAY_BLOCK);
            (void)snapshot_instant(snapshots[i]);
            parts[i] = (struct commit_part){ snapshots[i], changes };
        }
        live_cut(f->live, port, after, after % 2 == 1);
        if (store_commit(dying, parts, 2, clock_now() + 1, STORE_MAY_BLOCK, &sequence) == STORE_OK)
            (void)store_await(dying, sequence);
        for (unsigned i = 0; i < 2; i++)
            snapshot_close(snapshots[i]);
        store_close(dying);
        assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
        assert_true(count_shards(f) > 4);
        for (unsigned i = 0; i < 2; i++) {
            struct snapshot *snapshot = snapshot_open(f->store, two[i], STORE_MAY_BLOCK);
            struct record record;

            assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("r"), f->arena, &record),
                             STORE_OK);
            changed += bytes_is(record.value, "both");
            snapshot_close(snapshot);
        }
        assert_true(changed == 0 || changed == 2);
        fixture_free(f);
    }
}

/* A fence goes along: a front end that was taken for dead commits no pieces to a partition that has moved since. */
static void fences(void **state)
{
    struct fixture *f = *state;
    const struct partition last = partition_of(f, PARTITIONS - 1);
    const struct attempt attempt = { .incarnation = 0xdead, .number = 1 };
    struct shard_change set = { .key = row_key_fence(f->arena, attempt.incarnation),
                                .value = row_value_write(f->arena, B("1")) };
    char object[SHARD_NAME_SIZE];
    struct port_op *op;
    struct port_step *row;
    struct arrival *arrival;

    fill(f);
    assert_int_equal(
        change_block(shards_of(f->store), &last, (struct shard_commit){ .changes = &set }),
        STORE_OK);
    assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
    expect_records(f, f->store, PARTITIONS - 1, "v");
    shards_place(shards_of(f->store), &last, object);
    assert_string_not_equal(object, f->object);
    op = arrival_op();
    row = port_get(op, set.key);
    arrival = send_block(f->port, object, op);
    assert_int_equal(row->row_count, 1);
    arrival_drop(arrival);
}

/* An iterator that is open while partitions move shows each once, of the kinds that lie in any shard too; and a snapshot goes
 * on where its partition went. */
static void readers(void **state)
{
    const struct bytes none = { NULL, 0 };

    (void)state;
    for (unsigned read = 0; read < PARTITIONS; read += 3) {
        struct fixture *f = fixture_new(700 + read);
        struct space_iterator *listed;
        struct index_iterator *index;
        struct snapshot *snapshot;
        struct space_record record;
        struct index_record entry;
        struct record one;
        unsigned count;

        fill(f);
        listed = space_iterator_open(f->store, f->space, none, none, STORE_MAY_BLOCK);
        index = index_iterator_open(f->store, f->space, B("i"), B("i"), none, STORE_MAY_BLOCK);
        snapshot = snapshot_open(f->store, partition_of(f, PARTITIONS - 1), STORE_MAY_BLOCK);
        assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("r"), f->arena, &one), STORE_OK);
        for (count = 0; count < read; count++) {
            assert_int_equal(space_iterator_next(listed, &record), STORE_OK);
            assert_int_equal(index_iterator_next(index, &entry), STORE_OK);
        }
        assert_true(split_shard(shards_of(f->store), f->object, ROWS, 0));
        for (; count < PARTITIONS; count++) {
            assert_int_equal(space_iterator_next(listed, &record), STORE_OK);
            assert_true(bytes_equal(record.partition_key, partition_of(f, count).key));
            assert_int_equal(index_iterator_next(index, &entry), STORE_OK);
            assert_true(
                bytes_equal(entry.partition_key, partition_of(f, PARTITIONS - 1 - count).key));
        }
        assert_int_equal(space_iterator_next(listed, &record), STORE_NOT_FOUND);
        assert_int_equal(index_iterator_next(index, &entry), STORE_NOT_FOUND);
        assert_int_equal(snapshot_get(snapshot, RECORD_INNER, B("none"), f->arena, &one),
                         STORE_NOT_FOUND);
        snapshot_close(snapshot);
        space_iterator_close(listed);
        index_iterator_close(index);
        fixture_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_ops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_two, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_behind_few, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_listed, set_up, tear_down),
        cmocka_unit_test(large_killed),
        cmocka_unit_test_setup_teardown(large_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(released, set_up, tear_down),
        cmocka_unit_test(killed),
        cmocka_unit_test(full_pool),
        cmocka_unit_test(at_once),
        cmocka_unit_test(dropped),
        cmocka_unit_test(dropped_meanwhile),
        cmocka_unit_test(tasks),
        cmocka_unit_test(locks),
        cmocka_unit_test_setup_teardown(fences, set_up, tear_down),
        cmocka_unit_test(readers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
