/* Pieces that another front end may still read. store/rados/beat.h, own_tasks.h; two front ends on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "../../../rados/live.h"
#include "base/clock.h"
#include "store/piece.h"
#include "store/rados/beat.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"
#include "store/rados/root.h"

#define B(s)        bytes_from_string(s)
#define PIECE_BYTES 5000u
#define WAIT_MS     20000u

struct fixture {
    struct live *live;
    struct store *reader, *writer;
    struct arena *arena;
    struct partition partition;
    char buffer[PIECE_BYTES];
    struct snapshot *reading; /* or NULL */
};

static struct fixture *fixture_new(uint64_t grace)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->live = live_new((struct fake_options){ .seed = 9 });
    f->writer = live_open(live_port(f->live), grace);
    f->reader = live_open(live_client(f->live), grace);
    f->arena = arena_new(64u << 20);
    f->partition = (struct partition){ guid_new(), B("partition") };
    return f;
}

static int set_up(void **state)
{
    *state = fixture_new(1);
    return 0;
}

/* Pieces stay as long as they do on a cluster. */
static int set_up_patient(void **state)
{
    *state = fixture_new(0);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    if (f->reading)
        snapshot_close(f->reading);
    store_close(f->reader);
    store_close(f->writer);
    live_free(f->live);
    arena_free(f->arena);
    free(f);
    return 0;
}

static void commit(struct fixture *f, struct changes *changes)
{
    struct snapshot *snapshot = snapshot_open(f->writer, f->partition, STORE_MAY_BLOCK);
    uint64_t sequence;

    assert_int_equal(store_commit(f->writer, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_above(snapshot_instant(snapshot)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    snapshot_close(snapshot);
}

static void put_with_piece(struct fixture *f)
{
    struct stage *stage = stage_open(f->writer, f->partition, PIECE_BYTES);
    struct changes *changes = changes_new(f->arena);
    const struct piece *pieces;
    size_t taken, count;

    assert_int_equal(stage_write(stage, bytes_of(f->buffer, PIECE_BYTES), NULL, &taken), STORE_OK);
    assert_int_equal(stage_finish(stage, NULL), STORE_OK);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, B("k"), B("v"), pieces, count);
    commit(f, changes);
    stage_close(stage);
}

static void delete_with_piece(struct fixture *f, const struct record *record)
{
    struct changes *changes = changes_new(f->arena);

    changes_delete(changes, RECORD_LISTED, B("k"));
    changes_release(changes, record->pieces, record->piece_count);
    commit(f, changes);
}

/* Until the writer has learned whether the reader has a snapshot open. */
static void wait_until_known(struct fixture *f, bool is_open)
{
    const struct timespec step = { .tv_nsec = 20000000 };
    uint64_t end = clock_monotonic_ms() + WAIT_MS;
    struct beat *beat = rados_of(f->writer)->beat;

    while ((beat_oldest_of_others(beat) != INSTANT_MAX) != is_open && clock_monotonic_ms() < end)
        nanosleep(&step, NULL);
    assert_int_equal(beat_oldest_of_others(beat) != INSTANT_MAX, is_open);
}

static enum store_result read_piece(struct fixture *f, const struct record *record)
{
    return piece_read(f->reader, record->pieces, 0, PIECE_BYTES, f->buffer, NULL);
}

/* Rule: a piece stays while a snapshot is open that may have seen it, on whatever front end. store invariant 4 */
static void held(void **state)
{
    struct fixture *f = *state;
    struct snapshot *snapshot;
    struct store_usage usage;
    struct record record;
    uint64_t end = clock_monotonic_ms() + WAIT_MS;

    put_with_piece(f);
    snapshot = snapshot_open(f->reader, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, B("k"), f->arena, &record), STORE_OK);
    assert_int_equal(record.piece_count, 1);
    wait_until_known(f, true);
    delete_with_piece(f, &record);
    store_collect_now(f->writer, &usage);
    assert_int_equal(read_piece(f, &record), STORE_OK);
    snapshot_close(snapshot);
    wait_until_known(f, false);
    do
        store_collect_now(f->writer, &usage); /* the other front end may be at it */
    while (read_piece(f, &record) == STORE_OK && clock_monotonic_ms() < end);
    assert_int_equal(read_piece(f, &record), STORE_CORRUPT);
}

/* Rule: also while one is open that was opened after that commit was decided, and before it was applied. Found by
 * tests/isolation, reader-overwrite. */
static void opened_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct snapshot *writing;
    struct changes *changes = changes_new(f->arena);
    struct store_usage usage;
    struct record record;
    uint64_t sequence;
    instant decided;

    put_with_piece(f);
    writing = snapshot_open(f->writer, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(snapshot_get(writing, RECORD_LISTED, B("k"), f->arena, &record), STORE_OK);
    decided = clock_above(snapshot_instant(writing));
    f->reading = snapshot_open(f->writer, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(snapshot_get(f->reading, RECORD_LISTED, B("k"), f->arena, &record), STORE_OK);
    changes_delete(changes, RECORD_LISTED, B("k"));
    changes_release(changes, record.pieces, record.piece_count);
    assert_int_equal(store_commit(f->writer, &(struct commit_part){ writing, changes }, 1, decided,
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(writing);
    store_collect_now(f->writer, &usage);
    assert_int_equal(read_piece(f, &record), STORE_OK);
    snapshot_close(f->reading);
    f->reading = NULL;
    store_collect_now(f->writer, &usage);
    assert_int_equal(read_piece(f, &record), STORE_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(opened_meanwhile, set_up_patient, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
