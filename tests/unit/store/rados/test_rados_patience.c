/* A cluster that does not answer: who waits gives up after a while, and what was begun goes on. store/rados/patience.h, on a
 * RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "../../../rados/live.h"
#include "base/clock.h"
#include "base/sleeper.h"
#include "store/piece.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"

#define B(s)        bytes_from_string(s)
#define PIECE_BYTES 5000u
#define PATIENCE    300u
#define MANY        200u

struct fixture {
    struct live *live;
    struct port *port;
    struct store *store;
    struct arena *arena;
    struct partition partition;
    char buffer[PIECE_BYTES];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->live = live_new((struct fake_options){ .seed = 4 });
    f->port = live_port(f->live);
    f->store = live_open_with(f->port,
                              (struct rados_options){ .grace_ticks = 1, .patience_ms = PATIENCE });
    f->arena = arena_new(64u << 20);
    f->partition = (struct partition){ guid_new(), B("partition") };
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

/* A commit that is sent, and that nobody has waited for. */
static uint64_t begin_put(struct fixture *f, struct snapshot *snapshot, const char *key,
                          const struct piece *pieces, size_t count)
{
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, B(key), B("v"), pieces, count);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_above(snapshot_instant(snapshot)), STORE_NO_WAIT,
                                  &sequence),
                     STORE_OK);
    snapshot_close(snapshot);
    return sequence;
}

static struct snapshot *held(struct fixture *f, const char *partition)
{
    struct snapshot *snapshot = snapshot_open(
        f->store, (struct partition){ f->partition.space, B(partition) }, STORE_MAY_BLOCK);

    assert_int_equal(snapshot_hold(snapshot), STORE_OK);
    return snapshot;
}

typedef enum store_result read_fn(struct fixture *f, struct partition at,
                                  struct store_access access);

static enum store_result read_record(struct fixture *f, struct partition at,
                                     struct store_access access)
{
    struct snapshot *snapshot = snapshot_open(f->store, at, access);
    struct record record;
    enum store_result result = snapshot_get(snapshot, RECORD_LISTED, B("k"), f->arena, &record);

    snapshot_close(snapshot);
    return result;
}

static enum store_result read_scan(struct fixture *f, struct partition at,
                                   struct store_access access)
{
    struct snapshot *snapshot = snapshot_open(f->store, at, access);
    struct scan *scan = scan_open(snapshot, RECORD_LISTED, B(""), B(""));
    struct record record;
    enum store_result result = scan_next(scan, f->arena, &record);

    scan_close(scan);
    snapshot_close(snapshot);
    return result;
}

static enum store_result read_space(struct fixture *f, struct partition at,
                                    struct store_access access)
{
    struct space_iterator *iterator = space_iterator_open(f->store, at.space, B(""), B(""), access);
    struct space_record record;
    enum store_result result = space_iterator_next(iterator, &record);

    space_iterator_close(iterator);
    return result;
}

static enum store_result read_count(struct fixture *f, struct partition at,
                                    struct store_access access)
{
    uint64_t sequence;
    int64_t sum;

    return store_count(f->store, at.space, B("c"), access, &sum, &sequence);
}

static void wait_for(struct fetch_set *set)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    assert_true(fetch_set_wait(set, sleeper_arm(&sleeper)));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

/* Reads as an exchange does; *ret_ms: how long that took. */
static enum store_result read_so(struct fixture *f, read_fn *read, const char *partition,
                                 uint64_t *ret_ms)
{
    struct fetch_set *set = fetch_set_open(f->store);
    uint64_t began = clock_monotonic_ms();
    enum store_result result;

    for (;;) {
        fetch_set_begin(set);
        result = read(f, (struct partition){ f->partition.space, B(partition) },
                      (struct store_access){ .fetches = set });
        if (result != STORE_WAIT)
            break;
        wait_for(set);
    }
    fetch_set_close(set);
    *ret_ms = clock_monotonic_ms() - began;
    return result;
}

static enum store_result get(struct fixture *f, const char *partition, uint64_t *ret_ms)
{
    return read_so(f, read_record, partition, ret_ms);
}

/* Rule: a read gives up, and says that nothing was changed; once the cluster answers the next one is done. */
static void reads(void **state)
{
    struct fixture *f = *state;
    uint64_t ms;

    live_stop(f->live, f->port);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(get(f, "partition", &ms), STORE_SHORTAGE);
        assert_true(ms >= PATIENCE);
    }
    live_continue(f->live, f->port);
    assert_int_equal(get(f, "partition", &ms), STORE_NOT_FOUND);
}

/* Rule: so do lists, scans and sums, and never on a thread that would wait on. */
static void lists(void **state)
{
    static read_fn *const reads_of[] = { read_scan, read_space, read_count };
    struct fixture *f = *state;
    uint64_t ms;

    live_stop(f->live, f->port);
    for (unsigned i = 0; i < sizeof reads_of / sizeof reads_of[0]; i++) {
        assert_int_equal(read_so(f, reads_of[i], "partition", &ms), STORE_SHORTAGE);
        assert_true(ms >= PATIENCE);
    }
    live_continue(f->live, f->port);
    assert_int_equal(read_so(f, read_scan, "partition", &ms), STORE_NOT_FOUND);
    assert_int_equal(read_so(f, read_space, "partition", &ms), STORE_NOT_FOUND);
    assert_int_equal(read_so(f, read_count, "partition", &ms), STORE_OK);
}

/* A commit over partitions that nobody has read: it reads one after another. *ret_waits: how often it had to wait */
static enum store_result commit_unread(struct fixture *f, struct fetch_set *set,
                                       unsigned *ret_waits)
{
    const struct store_access access = { .fetches = set };
    struct commit_part parts[3];
    uint64_t sequence;
    enum store_result result;

    fetch_set_begin(set);
    for (unsigned i = 0; i < 3; i++) {
        struct bytes key = arena_printf(f->arena, "unread%u", i);

        parts[i] = (struct commit_part){
            snapshot_open(f->store, (struct partition){ f->partition.space, key }, access),
            changes_new(f->arena)
        };
        changes_put((struct changes *)(uintptr_t)parts[i].changes, RECORD_LISTED, B("k"), B("v"),
                    NULL, 0);
    }
    *ret_waits = 0;
    while ((result = store_commit(f->store, parts, 3, clock_now(), access, &sequence)) ==
           STORE_WAIT) {
        wait_for(set);
        ++*ret_waits;
    }
    for (unsigned i = 0; i < 3; i++)
        snapshot_close(parts[i].snapshot);
    return result ? result : store_await(f->store, sequence);
}

/* Rule: a commit that has to read first gives up too, and nothing was changed; else it waits as often as it has to, and
 * what it has waited for is not looked at again by the reader after it. */
static void reading_commits(void **state)
{
    struct fixture *f = *state;
    struct fetch_set *set = fetch_set_open(f->store);
    unsigned waits, most = 0;
    uint64_t ms;

    live_stop(f->live, f->port);
    assert_int_equal(commit_unread(f, set, &waits), STORE_SHORTAGE);
    assert_int_equal(waits, 1);
    fetch_set_close(set);
    live_continue(f->live, f->port);
    set = fetch_set_open(f->store);
    live_set_pause(f->live, 1000);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(commit_unread(f, set, &waits), STORE_OK);
        most = waits > most ? waits : most;
    }
    live_set_pause(f->live, 0);
    assert_true(most > 1);
    fetch_set_close(set);
    assert_int_equal(get(f, "unread2", &ms), STORE_OK);
}

/* Rule: commits that are not answered in time are unknown, never acknowledged; and are done once the cluster answers. */
static void commits(void **state)
{
    struct fixture *f = *state;
    struct snapshot *snapshots[MANY];
    uint64_t sequences[MANY], began, ms;
    struct store_usage usage;

    for (unsigned i = 0; i < MANY; i++)
        snapshots[i] = held(f, arena_string(f->arena, arena_printf(f->arena, "p%u", i)));
    live_stop(f->live, f->port);
    began = clock_monotonic_ms();
    for (unsigned i = 0; i < MANY; i++)
        sequences[i] = begin_put(f, snapshots[i], "k", NULL, 0);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(store_await(f->store, sequences[i]), STORE_UNKNOWN);
    assert_true(clock_monotonic_ms() - began >= PATIENCE);
    live_continue(f->live, f->port);
    store_collect_now(f->store, &usage); /* what goes on has ended then */
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(get(f, arena_string(f->arena, arena_printf(f->arena, "p%u", i)), &ms),
                         STORE_OK);
}

/* Ends it as an exchange does. */
static enum store_result finish(struct stage *stage)
{
    enum store_result result;

    do {
        struct sleeper sleeper;

        sleeper_init(&sleeper);
        result = stage_finish(stage, sleeper_arm(&sleeper));
        if (result == STORE_WAIT)
            sleeper_wait(&sleeper);
        sleeper_release(&sleeper);
    } while (result == STORE_WAIT);
    return result;
}

static struct stage *begin_piece(struct fixture *f)
{
    struct stage *stage = stage_open(f->store, f->partition, PIECE_BYTES);
    size_t taken;

    assert_int_equal(stage_write(stage, bytes_of(f->buffer, PIECE_BYTES), NULL, &taken), STORE_OK);
    return stage;
}

static void note_piece(void *context, const char *object)
{
    *(unsigned *)context += strncmp(object, "p.", 2) == 0;
}

/* Rule: so does what sends bytes, and nothing of it is left; and what reads them. */
static void pieces(void **state)
{
    struct fixture *f = *state;
    struct stage *stages[2] = { begin_piece(f), begin_piece(f) };
    enum store_result result;
    const struct piece *piece;
    struct store_usage usage;
    struct sleeper sleeper;
    unsigned there = 0;
    size_t count;

    live_stop(f->live, f->port);
    assert_int_equal(finish(stages[0]), STORE_SHORTAGE); /* for its number */
    live_continue(f->live, f->port);
    assert_int_equal(finish(stages[1]), STORE_OK);
    stage_close(stages[0]);
    stages[0] = begin_piece(f);
    live_stop(f->live, f->port);
    assert_int_equal(finish(stages[0]), STORE_SHORTAGE); /* for its bytes */
    stage_close(stages[0]);
    piece = stage_pieces(stages[1], &count);
    sleeper_init(&sleeper);
    result = piece_read(f->store, piece, 0, PIECE_BYTES, f->buffer, sleeper_arm(&sleeper));
    assert_int_equal(result, STORE_WAIT);
    sleeper_wait(&sleeper);
    /* The same waiter: that is what tells. */
    result = piece_read(f->store, piece, 0, PIECE_BYTES, f->buffer, sleeper_arm(&sleeper));
    assert_int_equal(result, STORE_IO);
    live_continue(f->live, f->port);
    assert_int_equal(piece_read(f->store, piece, 0, PIECE_BYTES, f->buffer, NULL), STORE_OK);
    stage_close(stages[1]);
    store_collect_now(f->store, &usage);
    assert_true(port_each_object(f->port, note_piece, &there));
    assert_int_equal(there, 0);
    sleeper_release(&sleeper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_commits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(commits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
