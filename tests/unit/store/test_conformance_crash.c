/* Stores on disk: what was acknowledged is there after closing and after kill -9, what was not
 * committed takes no room, and a folder has one process at a time. store invariants 1 to 3 */
#include "conformance_child.h"
#include "conformance_numbers.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const struct bytes nothing = { NULL, 0 };

#define MIB (1u << 20)

/* Rule: all that was committed is there after the store was closed and opened again. */
static void records_outlive_the_process(void **state)
{
    struct fixture *f = *state;
    struct guid dropped = guid_new();
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot;

    put_text(f->store, f->partition, "a", "1");
    put_stream(f->store, f->partition, "s", 5 * MIB + 5, 3);
    put_text(f->store, f->partition, "gone", "x");
    delete_key(f->store, f->partition, "gone");
    put_text(f->store, partition_of(dropped, "p"), "k", "x");
    put_stream(f->store, partition_of(dropped, "p"), "s", 3 * MIB, 3);
    changes_drop_space(changes, dropped);
    changes_put(changes, RECORD_LISTED, bytes_from_string("b"), bytes_from_string("2"), NULL, 0);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);

    for (int i = 0; i < 3; i++) {
        fixture_reopen(f);
        snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
        assert_string_equal(scan_text(snapshot, f->arena, nothing, nothing), "a=1 b=2 s=stream");
        assert_true(stream_matches(f->store, snapshot, "s", 5 * MIB + 5, 3));
        assert_int_equal(store_durable(f->store, read_view_sequence(snapshot)), STORE_OK);
        read_view_close(snapshot);
        assert_string_equal(get_now(f->store, partition_of(dropped, "p"), f->arena, "k"), "(none)");
        assert_int_equal(usage_now(f->store).piece_bytes, 5 * MIB + 5);
    }
}

/* Rule: sequences go on rising after a start: a snapshot of now is not taken for one of before. */
static void sequences_rise_over_starts(void **state)
{
    struct fixture *f = *state;
    uint64_t before = put_text(f->store, f->partition, "k", "1");

    for (int i = 0; i < 3; i++) {
        uint64_t after;

        fixture_reopen(f);
        after = put_text(f->store, f->partition, "k", "2");
        assert_true(after > before);
        wait_durable(f->store, after);
        before = after;
    }
}

/* Rule: a start never sets the clock back before the newest instant of any commit. clock.h (2) */
static void clock_goes_on_after_a_start(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    instant ahead = clock_now() + 3600 * TICKS_PER_SECOND;
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"), nothing, NULL, 0);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1, ahead,
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    put_text(f->store, partition_of(f->partition.space, "other"), "k", "decided earlier");
    fixture_reopen(f);
    assert_true(clock_now() > ahead);
}

static void hold_the_folder(struct fixture *f, int to_parent)
{
    child_open(f);
    child_tell(to_parent, 1);
    for (;;)
        pause();
}

/* Rule: a folder that a process has open is refused to another, until that one is gone, however it
 * went. store.h, STORE_BUSY */
static void one_process_has_a_folder(void **state)
{
    struct fixture *f = *state;
    struct store *second;
    uint64_t number = 0;
    int from_child;
    pid_t child;

    assert_int_equal(f->engine->open(f->folder, &second), STORE_BUSY);
    put_text(f->store, f->partition, "k", "still fine");
    child = child_start(f, "hold_the_folder", &from_child);
    assert_true(child_hear(from_child, &number));
    assert_int_equal(f->engine->open(f->folder, &second), STORE_BUSY);
    kill(child, SIGKILL);
    assert_true(child_end(child, from_child));
    fixture_reopen(f);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "still fine");
}

static void stage_and_die(struct fixture *f, int to_parent)
{
    struct blocking_waiter blocking;
    struct stage *stage;
    char *chunk = xcalloc(1, 700000);
    size_t taken;

    (void)to_parent;
    child_open(f);
    if (stage_pattern(f->store, 10 * MIB, 1, 100000, &stage) != STORE_OK)
        abort();
    blocking_init(&blocking);
    stage = stage_open(f->store, UINT64_MAX);
    for (int i = 0; i < 10; i++)
        if (stage_write(stage, bytes_of(chunk, 700000), &blocking.waiter, &taken) == STORE_WAIT)
            blocking_wait(&blocking);
}

/* Rule: bytes that were staged and never committed are free after a crash. design: 4.1 */
static void staged_bytes_do_not_outlive_a_kill(void **state)
{
    struct fixture *f = *state;
    struct store_usage usage;
    struct read_view *snapshot;
    int from_child;
    pid_t child;

    put_stream(f->store, f->partition, "s", MIB, 2);
    child = child_start(f, "stage_and_die", &from_child);
    assert_true(child_end(child, from_child));
    fixture_reopen(f);
    usage = usage_now(f->store);
    assert_int_equal(usage.piece_bytes, MIB);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(usage.allocated_bytes <= MIB + EMPTY_ALLOCATED_MAX);
    put_stream(f->store, f->partition, "t", 3 * MIB, 4); /* the room is used again */
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "s", MIB, 2));
    assert_true(stream_matches(f->store, snapshot, "t", 3 * MIB, 4));
    read_view_close(snapshot);
}

static void drop_and_die(struct fixture *f, int to_parent)
{
    struct changes *changes = changes_new(f->arena);
    struct guid space = { { 7 } };
    uint64_t sequence = 0;

    (void)to_parent;
    child_open(f);
    for (int i = 0; i < 4; i++) {
        struct partition partition = { space, arena_printf(f->arena, "%d", i) };

        put_stream(f->store, partition, "s", 2 * MIB, 1);
    }
    put_stream(f->store, f->partition, "deleted", 2 * MIB, 1);
    delete_stream(f->store, f->partition, "deleted");
    changes_drop_space(changes, space);
    if (commit_new(f->store, f->partition, changes, &sequence) != STORE_OK)
        abort();
    wait_durable(f->store, sequence);
}

/* Rule: what was to be collected when the process was killed is collected by the next one. */
static void collection_goes_on_after_a_kill(void **state)
{
    struct fixture *f = *state;
    struct guid space = { { 7 } };
    struct store_usage usage;
    int from_child;
    pid_t child = child_start(f, "drop_and_die", &from_child);

    assert_true(child_end(child, from_child));
    fixture_reopen(f);
    usage = usage_now(f->store);
    assert_int_equal(usage.piece_bytes, 0);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(usage.allocated_bytes <= EMPTY_ALLOCATED_MAX);
    assert_string_equal(get_now(f->store, partition_of(space, "0"), f->arena, "s"), "(none)");
}

static void commit_for_ever(struct fixture *f, int to_parent)
{
    uint64_t sequence;

    child_open(f);
    for (uint64_t number = numbers_newest(f) + 1;; number++) {
        if (numbers_commit(f, number, &sequence) != STORE_OK)
            abort();
        wait_durable(f->store, sequence);
        child_tell(to_parent, number);
    }
}

/* Rule: after kill -9 at any moment, all that was acknowledged is there, and of what was under way
 * all or nothing. design: promise 1; store invariants 1 and 2 */
static void acknowledged_outlives_a_kill(void **state)
{
    struct fixture *f = *state;
    uint64_t acknowledged = 0;

    for (uint64_t round = 1; round <= 6; round++) {
        uint64_t heard, until = acknowledged + 3 * round;
        int from_child;
        pid_t child = child_start(f, "commit_for_ever", &from_child);

        while (acknowledged < until && child_hear(from_child, &heard))
            acknowledged = heard;
        usleep((useconds_t)(round * 1300)); /* into the next commits: nothing depends on it */
        kill(child, SIGKILL);
        while (child_hear(from_child, &heard))
            acknowledged = heard;
        assert_true(child_end(child, from_child));
        fixture_reopen(f);
        assert_true(numbers_check(f) >= acknowledged);
    }
}

int main(int argc, char **argv)
{
    static const struct conformance_child children[] = {
        CHILD(hold_the_folder),
        CHILD(stage_and_die),
        CHILD(drop_and_die),
        CHILD(commit_for_ever),
    };
    static const struct conformance_test tests[] = {
        TEST(records_outlive_the_process, STORES_ON_DISK),
        TEST(sequences_rise_over_starts, STORES_ON_DISK),
        TEST(clock_goes_on_after_a_start, STORES_ON_DISK),
        TEST(one_process_has_a_folder, STORES_ON_DISK),
        TEST(staged_bytes_do_not_outlive_a_kill, STORES_ON_DISK),
        TEST(collection_goes_on_after_a_kill, STORES_ON_DISK),
        TEST(acknowledged_outlives_a_kill, STORES_ON_DISK),
    };

    child_main(argc, argv, children, sizeof children / sizeof children[0]);
    return conformance_run("crash", tests, sizeof tests / sizeof tests[0]);
}
