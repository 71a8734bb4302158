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

/* Reads as an exchange does; *ret_ms: how long that took. */
static enum store_result get(struct fixture *f, const char *partition, uint64_t *ret_ms)
{
    struct fetch_set *set = fetch_set_open(f->store);
    const struct store_access access = { .fetches = set };
    uint64_t began = clock_monotonic_ms();
    enum store_result result = STORE_WAIT;

    while (result == STORE_WAIT) {
        struct snapshot *snapshot;
        struct sleeper sleeper;
        struct record record;

        fetch_set_begin(set);
        snapshot =
            snapshot_open(f->store, (struct partition){ f->partition.space, B(partition) }, access);
        result = snapshot_get(snapshot, RECORD_LISTED, B("k"), f->arena, &record);
        snapshot_close(snapshot);
        sleeper_init(&sleeper);
        if (result == STORE_WAIT) {
            assert_true(fetch_set_wait(set, sleeper_arm(&sleeper)));
            sleeper_wait(&sleeper);
        }
        sleeper_release(&sleeper);
    }
    fetch_set_close(set);
    *ret_ms = clock_monotonic_ms() - began;
    return result;
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
        cmocka_unit_test_setup_teardown(commits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
