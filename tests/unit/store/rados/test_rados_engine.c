/* The engine on RADOS as others do not show it: outcomes that are learned late, a full pool, and two front ends on one
 * pool, of which one is killed. store/rados/open.h, on a RADOS in memory */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../../rados/live.h"
#include "base/endian.h"
#include "base/sleeper.h"
#include "store/piece.h"
#include "store/rados/blocking.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"
#include "store/rados/root.h"
#include "store/rados/staged.h"
#include "store/rados/task_row.h"
#include "store/rados/todo_look.h"

#define B(s) bytes_from_string(s)

/* A front end that was killed is never closed. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

struct fixture {
    struct live *live;
    struct store *store;
    struct arena *arena;
    struct guid space;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->live = live_new((struct fake_options){ .seed = 11, .resent = 15, .late = 5 });
    f->store = live_open(live_port(f->live), 0);
    f->arena = arena_new(256u << 20);
    f->space = guid_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    store_close(f->store);
    live_free(f->live);
    arena_free(f->arena);
    free(f);
    return 0;
}

static struct partition named(struct fixture *f, const char *key)
{
    return (struct partition){ f->space, B(key) };
}

static void wait_for(struct fetch_set *set)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    assert(fetch_set_wait(set, sleeper_arm(&sleeper)));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

/* Puts a record as an exchange does: without blocking, again and again; *ret_sequence: of the commit. */
static enum store_result put(struct fixture *f, struct store *store, struct partition partition,
                             const char *key, struct bytes value, uint64_t *ret_sequence)
{
    struct fetch_set *set = fetch_set_open(store);
    const struct store_access access = { .fetches = set };
    struct changes *changes = changes_new(f->arena);
    enum store_result result;

    changes_put(changes, RECORD_LISTED, B(key), value, NULL, 0);
    for (;;) {
        struct snapshot *snapshot;

        fetch_set_begin(set);
        snapshot = snapshot_open(store, partition, access);
        result = store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                              access, ret_sequence);
        snapshot_close(snapshot);
        if (result != STORE_WAIT)
            break;
        wait_for(set);
    }
    fetch_set_close(set);
    return result;
}

static const char *get(struct fixture *f, struct store *store, struct partition partition,
                       const char *key)
{
    struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);
    struct record record;
    enum store_result result = snapshot_get(snapshot, RECORD_LISTED, B(key), f->arena, &record);

    snapshot_close(snapshot);
    return result ? store_result_text(result) : arena_string(f->arena, record.value);
}

/* Reads until it is there, without waiting. Returns whether it was not there at once. */
static bool read_on(struct fixture *f, struct snapshot *snapshot)
{
    unsigned waits = 0;
    struct record record;
    enum store_result result;

    while ((result = snapshot_get(snapshot, RECORD_LISTED, B("k"), f->arena, &record)) ==
           STORE_WAIT)
        waits++;
    assert_int_equal(result, STORE_OK);
    return waits > 0;
}

/* Rule: what one read of a reader waits for may have come before its next, which then has it; the reader that waits
 * nevertheless, for what its first read wanted, is woken. */
static void come_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct fetch_set *set = fetch_set_open(f->store);
    bool has_waited = false;
    uint64_t sequence;

    assert_int_equal(put(f, f->store, named(f, "p"), "k", B("1"), &sequence), STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_OK);
    while (!has_waited) {
        struct snapshot *snapshot;

        fetch_set_begin(set);
        snapshot = snapshot_open(f->store, named(f, "p"), (struct store_access){ .fetches = set });
        has_waited = read_on(f, snapshot);
        if (has_waited)
            wait_for(set);
        snapshot_close(snapshot);
    }
    fetch_set_close(set);
}

/* Rule: whoever releases a piece while the commit that put it is not answered yet asks how often it is referred to, since
 * that may have been applied. */
static void released_before_it_is_answered(void **state)
{
    struct fixture *f = *state;
    struct staged *staged = rados_of(f->store)->staged;
    struct stage *stage = stage_open(f->store, named(f, "p"), 4);
    const struct piece *piece;
    struct piece_change change;
    size_t taken, count;

    assert_int_equal(stage_write(stage, B("data"), NULL, &taken), STORE_OK);
    assert_int_equal(stage_finish(stage, NULL), STORE_OK);
    piece = stage_pieces(stage, &count);
    change = (struct piece_change){
        .extent = piece->extent, .length = piece->length, .offset = piece->offset, .references = 1
    };
    assert_true(staged_is_fresh(staged, piece->offset));
    staged_committing(staged, &change, 1);
    assert_true(staged_is_fresh(staged, piece->offset)); /* to that commit */
    staged_committing(staged, &change, 1);
    assert_false(staged_is_fresh(staged, piece->offset));
    for (unsigned i = 0; i < 2; i++)
        staged_committed(staged, &change, 1, STORE_CONFLICT);
    stage_close(stage);
}

/* Reads `length` bytes at `offset` as a worker does: again, once it is woken. */
static void read_part(struct fixture *f, const struct piece *piece, uint32_t offset,
                      uint32_t length, char *to)
{
    struct sleeper sleeper;
    enum store_result result;

    sleeper_init(&sleeper);
    while ((result = piece_read(f->store, piece, offset, length, to, sleeper_arm(&sleeper))) ==
           STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    assert_int_equal(result, STORE_OK);
}

/* Rule: who reads a piece in its order goes to the cluster for each MiB, and not for each part; small parts are read alone. */
static void read_in_order(void **state)
{
    enum { LENGTH = 2500000, PART = 128 << 10, SMALL = 4096 };
    struct fixture *f = *state;
    char *bytes = xmalloc(LENGTH), *read = xmalloc(LENGTH);
    struct stage *stage = stage_open(f->store, named(f, "p"), LENGTH);
    size_t taken = 0, count;
    const struct piece *piece;
    uint64_t before;

    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (char)(i * 7 + i / 4099);
    assert_int_equal(stage_write(stage, bytes_of(bytes, LENGTH), NULL, &taken), STORE_OK);
    assert_int_equal(taken, LENGTH);
    assert_int_equal(stage_finish(stage, NULL), STORE_OK);
    piece = stage_pieces(stage, &count);
    assert_int_equal(count, 1);
    before = live_piece_ops(f->live);
    for (uint32_t at = 0; at < LENGTH; at += PART)
        read_part(f, piece, at, LENGTH - at < PART ? LENGTH - at : PART, read + at);
    assert_memory_equal(bytes, read, LENGTH);
    assert_int_equal(live_piece_ops(f->live) - before, 3);
    for (uint32_t at = 0; at < 4 * SMALL; at += SMALL)
        read_part(f, piece, at, SMALL, read + at);
    assert_int_equal(live_piece_ops(f->live) - before, 3 + 4);
    stage_close(stage);
    free(bytes);
    free(read);
}

/* Rule: a pool that is full refuses what grows, and nothing was changed; once there is room it goes on. */
static void full_pool(void **state)
{
    struct fixture *f = *state;
    struct partition partition = named(f, "p");
    uint64_t sequence;

    assert_int_equal(put(f, f->store, partition, "k", B("1"), &sequence), STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_OK);
    live_set_full(f->live, true);
    assert_int_equal(put(f, f->store, partition, "other", B("2"), &sequence), STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_FULL);
    assert_int_equal(store_settled(f->store, sequence), STORE_FULL);
    live_set_full(f->live, false);
    assert_string_equal(get(f, f->store, partition, "other"), "not found");
    assert_int_equal(put(f, f->store, partition, "other", B("3"), &sequence), STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_OK);
    assert_string_equal(get(f, f->store, partition, "other"), "3");
}

/* Rule: a commit to a space that was dropped meanwhile is decided again, which then finds it gone. */
static void dropped_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct fetch_set *set = fetch_set_open(f->store);
    const struct store_access access = { .fetches = set };
    struct changes *changes = changes_new(f->arena), *drop = changes_new(f->arena);
    struct snapshot *seen, *registry;
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, B("k"), B("v"), NULL, 0);
    changes_drop_space(drop, f->space);
    fetch_set_begin(set);
    seen = snapshot_open(f->store, named(f, "p"), STORE_MAY_BLOCK);
    assert_int_equal(snapshot_hold(seen), STORE_OK);
    registry = snapshot_open(f->store, (struct partition){ guid_new(), B("r") }, STORE_MAY_BLOCK);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ registry, drop }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(registry);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ seen, changes }, 1, clock_now(),
                                  access, &sequence),
                     STORE_OK);
    assert_int_equal(store_await(f->store, sequence), STORE_CONFLICT);
    snapshot_close(seen);
    fetch_set_close(set);
    seen = snapshot_open(f->store, named(f, "p"), STORE_MAY_BLOCK);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ seen, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_NOT_FOUND);
    snapshot_close(seen);
}

static void write_row(struct fixture *f, const char *object, struct bytes key, struct bytes value)
{
    struct port_op *op = arrival_op();

    port_set(op, key, value);
    assert_int_equal(run_block(live_port(f->live), object, op), PORT_OK);
}

/* Rule: a pool is opened only if it holds a store that has its pieces there, and in which it can be read who has come
 * up: no number may come twice. A store that is there is not made anew. */
static void damaged_root(void **state)
{
    struct fixture *f = *state;
    struct port *port = live_client(f->live);
    struct rados_options options = { .records = port, .pieces = port, .pool_of_pieces = "other" };
    struct port_op *removal = arrival_op(), *number = arrival_op(), *all = arrival_op();
    struct port_step *newest = port_get(number, B("incarnation"));
    struct arrival *arrival;
    struct store *store;
    const char *problem;
    enum port_result gone;

    assert_int_equal(store_open_rados(&options, &store, &problem), STORE_IO);
    assert_string_equal(problem, "the store has its pieces in another pool");
    assert_int_equal(root_make(port, "other", &problem), STORE_IO);
    assert_int_equal(root_make(port, LIVE_POOL, &problem), STORE_OK);
    arrival = send_block(port, "lagra", number);
    assert_int_equal(be32_get(port_value(newest).ptr), 1); /* the fixture's */
    arrival_drop(arrival);
    options.pool_of_pieces = LIVE_POOL;
    write_row(f, "lagra", B("incarnation"), B("1"));
    assert_int_equal(store_open_rados(&options, &store, &problem), STORE_IO);
    port_remove(removal, B("incarnation"));
    assert_int_equal(run_block(port, "lagra", removal), PORT_OK);
    assert_int_equal(store_open_rados(&options, &store, &problem), STORE_IO);
    assert_string_equal(problem, "the pool holds something else, or a store of another version");
    assert_int_equal(root_make(port, LIVE_POOL, &problem), STORE_IO);
    port_delete_object(all);
    gone = run_block(port, "lagra", all);
    assert_true(gone == PORT_OK || gone == PORT_ABSENT); /* it was resent: port.h (6) */
    assert_int_equal(store_open_rados(&options, &store, &problem), STORE_IO);
    assert_string_equal(problem, "the pool holds no store: lagra rados init makes one");
}

/* A shard with a task that cannot be read, one that is due, and one that is due later; and the hint of them. */
static void make_tasks(struct fixture *f, const struct guid *space, instant due, instant later)
{
    const struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 1 };
    const struct task_row task = { .kind = 1, .partition_key = B("p") };
    const struct guid id = guid_new(), last = guid_new();
    struct bytes row = row_value_write(f->arena, task_row_write(f->arena, &task));
    char object[SHARD_NAME_SIZE], todo[TODO_NAME_SIZE];

    shard_name(space, 0, 0, object);
    todo_name(todo_of_shard(object), todo);
    write_row(f, object, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    write_row(f, object, row_key_task(f->arena, due - 1, &id), B("not summed up"));
    write_row(f, object, row_key_task(f->arena, due, &id), row);
    write_row(f, object, row_key_task(f->arena, later, &last), row);
    write_row(f, todo, todo_key(f->arena, due / SHARD_MINUTE, object), B("1"));
}

static unsigned look_at_tasks(struct fixture *f, instant now)
{
    struct todo_list list = { NULL };
    unsigned count = 0;
    bool is_complete;

    assert_int_equal(todo_look(live_port(f->live), now + TODO_AHEAD_TICKS, &list, &is_complete),
                     STORE_OK);
    for (const struct todo_entry *entry = list.first; entry; entry = entry->next)
        count++;
    todo_list_clear(&list);
    return count;
}

/* Rule: a task that is due keeps its hint, whatever is damaged before it. todo.h */
static void damaged_task(void **state)
{
    struct fixture *f = *state;
    const struct guid spaces[2] = { { { 1 } }, { { 2 } } };
    const instant due = 100 * SHARD_MINUTE + 1, now = 200 * SHARD_MINUTE;

    for (unsigned i = 0; i < 2; i++)
        make_tasks(f, &spaces[i], due, now + SHARD_MINUTE);
    assert_int_equal(look_at_tasks(f, now), 4);
    assert_int_equal(look_at_tasks(f, now), 4);
}

/* Rule: also behind more damaged tasks than a look reads at once. */
static void many_damaged_tasks(void **state)
{
    struct fixture *f = *state;
    const struct guid space = { { 3 } };
    const instant due = 100 * SHARD_MINUTE + 1, now = 200 * SHARD_MINUTE;
    struct port_op *op = arrival_op(), *look = arrival_op();
    struct port_step *hint;
    struct arrival *arrival;
    char object[SHARD_NAME_SIZE], todo[TODO_NAME_SIZE];

    make_tasks(f, &space, due + TODO_ROWS, now + SHARD_MINUTE);
    shard_name(&space, 0, 0, object);
    todo_name(todo_of_shard(object), todo);
    for (unsigned i = 0; i < TODO_ROWS; i++) {
        const struct guid id = guid_new();

        port_set(op, row_key_task(op->arena, due - 1, &id), B("not summed up"));
    }
    assert_int_equal(run_block(live_port(f->live), object, op), PORT_OK);
    assert_int_equal(look_at_tasks(f, now), 0);
    hint = port_get(look, todo_key(look->arena, due / SHARD_MINUTE, object));
    arrival = send_block(live_port(f->live), todo, look);
    assert_int_equal(hint->row_count, 1);
    arrival_drop(arrival);
}

/* ---- two front ends; cmocka's asserts are for the first thread only ---- */

enum { INCREMENTS = 40 };

struct adder {
    struct fixture *f;
    struct store *store;
    unsigned applied, unknown;
};

static unsigned read_number(struct snapshot *snapshot, struct arena *arena,
                            enum store_result *ret_result)
{
    struct record record;
    uint64_t value = 0;

    *ret_result = snapshot_get(snapshot, RECORD_LISTED, B("n"), arena, &record);
    if (*ret_result == STORE_NOT_FOUND)
        *ret_result = STORE_OK;
    else if (*ret_result == STORE_OK)
        assert(bytes_parse_u64(record.value, UINT32_MAX, &value));
    return (unsigned)value;
}

/* Adds one in two partitions of different spaces, in one commit. */
static enum store_result add_once(struct adder *adder, struct arena *arena)
{
    struct partition places[2] = { named(adder->f, "sum"), { { { 0 } }, B("sum") } };
    struct commit_part parts[2];
    enum store_result result = STORE_OK;
    uint64_t sequence = 0;
    instant newest = 0;

    for (unsigned i = 0; i < 2; i++) {
        struct changes *changes = changes_new(arena);

        parts[i] = (struct commit_part){ snapshot_open(adder->store, places[i], STORE_MAY_BLOCK),
                                         changes };
        if (snapshot_instant(parts[i].snapshot) > newest)
            newest = snapshot_instant(parts[i].snapshot);
        if (!result)
            changes_put(
                changes, RECORD_LISTED, B("n"),
                arena_printf(arena, "%u", read_number(parts[i].snapshot, arena, &result) + 1), NULL,
                0);
    }
    if (!result)
        result =
            store_commit(adder->store, parts, 2, clock_above(newest), STORE_MAY_BLOCK, &sequence);
    for (unsigned i = 0; i < 2; i++)
        snapshot_close(parts[i].snapshot);
    return result ? result : store_await(adder->store, sequence);
}

static void *add_often(void *argument)
{
    struct adder *adder = argument;

    for (unsigned i = 0; i < INCREMENTS; i++) {
        enum store_result result;

        do {
            struct arena *arena = arena_new(1u << 20);

            result = add_once(adder, arena);
            arena_free(arena);
        } while (result == STORE_CONFLICT);
        assert(result == STORE_OK || result == STORE_UNKNOWN);
        adder->applied += result == STORE_OK;
        adder->unknown += result == STORE_UNKNOWN;
    }
    return NULL;
}

/* Rule: commits of two front ends over the same partitions are as if of one: none is lost or halved. */
static void two_front_ends(void **state)
{
    struct fixture *f = *state;
    struct store *other = live_open(live_client(f->live), 0);
    struct adder adders[3] = { { f, f->store, 0, 0 }, { f, other, 0, 0 }, { f, other, 0, 0 } };
    unsigned applied = 0, unknown = 0, sums[2];
    pthread_t threads[3];

    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_often, &adders[i]), 0);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        applied += adders[i].applied;
        unknown += adders[i].unknown;
    }
    sums[0] = (unsigned)strtoul(get(f, f->store, named(f, "sum"), "n"), NULL, 10);
    sums[1] =
        (unsigned)strtoul(get(f, other, (struct partition){ { { 0 } }, B("sum") }, "n"), NULL, 10);
    assert_int_equal(sums[0], sums[1]);
    assert_in_range(sums[0], applied, applied + unknown);
    store_close(other);
}

enum { PAIRS = 60 };

/* A commit over two partitions, with a task in one, that nobody waits for. */
static void begin_pair(struct fixture *f, struct store *store, unsigned number)
{
    struct partition a = { f->space, arena_printf(f->arena, "a%u", number) };
    struct partition b = { { { 9 } }, arena_printf(f->arena, "b%u", number) };
    struct changes *changes[2] = { changes_new(f->arena), changes_new(f->arena) };
    struct commit_part parts[2] = { { snapshot_open(store, a, STORE_MAY_BLOCK), changes[0] },
                                    { snapshot_open(store, b, STORE_MAY_BLOCK), changes[1] } };
    uint64_t sequence;

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(snapshot_hold(parts[i].snapshot), STORE_OK);
        changes_put(changes[i], RECORD_LISTED, B("k"), B("v"), NULL, 0);
        changes_count(changes[i], B("pairs"), 1);
    }
    (void)changes_defer(changes[number % 2], 1, number, (struct bytes){ NULL, 0 });
    assert_int_equal(store_commit(store, parts, 2, clock_now(), STORE_NO_WAIT, &sequence),
                     STORE_OK);
    snapshot_close(parts[0].snapshot);
    snapshot_close(parts[1].snapshot);
}

/* Rule: what a front end has left when it is killed is whole or not there, with its counts and tasks, for all others. */
static void killed_front_end(void **state)
{
    struct fixture *f = *state;
    struct port *port = live_client(f->live);
    struct store *dying = live_open(port, 0);
    struct store_usage usage;
    struct deferred_task task, after;
    int64_t counted[2];
    uint64_t sequence;
    unsigned whole = 0, tasks = 0;
    instant due;

    for (unsigned i = 0; i < PAIRS; i++)
        begin_pair(f, dying, i);
    live_kill(f->live, port);
    for (unsigned i = 0; i < PAIRS; i++) {
        struct partition a = { f->space, arena_printf(f->arena, "a%u", i) };
        struct partition b = { { { 9 } }, arena_printf(f->arena, "b%u", i) };
        const char *first = get(f, f->store, a, "k");

        assert_string_equal(get(f, f->store, b, "k"), first);
        whole += strcmp(first, "v") == 0;
    }
    assert_true(whole > 0);
    store_collect_now(f->store, &usage);
    assert_int_equal(
        store_count(f->store, f->space, B("pairs"), STORE_MAY_BLOCK, &counted[0], &sequence),
        STORE_OK);
    assert_int_equal(store_count(f->store, (struct guid){ { 9 } }, B("pairs"), STORE_MAY_BLOCK,
                                 &counted[1], &sequence),
                     STORE_OK);
    assert_int_equal(counted[0], whole);
    assert_int_equal(counted[1], whole);
    for (const struct deferred_task *from = NULL;
         store_task_next(f->store, clock_now(), from, f->arena, &task, &due) == STORE_OK;
         from = &after) {
        after = task;
        tasks++;
    }
    assert_int_equal(tasks, whole);
}

/* Rule: a task that two front ends run and both move to later stays one. decision: 844 */
static void moved_by_two(void **state)
{
    struct fixture *f = *state;
    struct store *stores[2] = { f->store, live_open(live_client(f->live), 0) }, *third;
    struct changes *changes = changes_new(f->arena);
    struct commit_part part = { snapshot_open(f->store, named(f, "p"), STORE_MAY_BLOCK), changes };
    struct deferred_task task, tasks[2];
    uint64_t sequence;
    instant due;

    (void)changes_defer(changes, 1, 7, B("first"));
    assert_int_equal(store_commit(f->store, &part, 1, clock_above(snapshot_instant(part.snapshot)),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(part.snapshot);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(store_task_next(stores[i], clock_now(), NULL, f->arena, &tasks[i], &due),
                         STORE_OK);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(store_task_move(stores[i], &tasks[i], 2, 8, B("later"), f->arena),
                         STORE_OK);
        assert_int_equal(store_task_move(stores[i], &tasks[i], 2, 8, B("later"), f->arena),
                         STORE_OK);
    }
    third = live_open(live_client(f->live), 0);
    assert_int_equal(store_task_next(third, clock_now(), NULL, f->arena, &task, &due), STORE_OK);
    assert_int_equal(task.kind, 8);
    assert_true(bytes_is(task.payload, "later"));
    assert_int_equal(store_task_next(third, clock_now(), &task, f->arena, &task, &due),
                     STORE_NOT_FOUND);
    store_close(third);
    store_close(stores[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moved_by_two, set_up, tear_down),
        cmocka_unit_test_setup_teardown(come_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(released_before_it_is_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(read_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_pool, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropped_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_task, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_damaged_tasks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_front_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_front_end, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
