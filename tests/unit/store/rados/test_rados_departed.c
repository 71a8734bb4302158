/* What a front end that died has left is deleted by another, and nothing that a commit names; one that only seemed dead can
 * commit nothing. store/rados/departed.h, leftovers.h, on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "../../../rados/live.h"
#include "base/clock.h"
#include "base/sleeper.h"
#include "store/piece.h"
#include "store/rados/blocking.h"
#include "store/rados/departed.h"
#include "store/rados/intents.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"

#define B(s)        bytes_from_string(s)
#define PIECE_BYTES 5000u
#define WAIT_MS     60000u
#define DEAD_MS     5000u
#define SECOND      TICKS_PER_SECOND

/* ---- a front end that dies ---- */

/* What it does: puts records with pieces, in one partition or in two at once, stages others. */
struct world {
    struct live *live;
    struct arena *arena;
    struct port *port; /* of the one that dies */
    struct store *dying;
    struct partition first, second;
};

static char bytes[PIECE_BYTES];

static struct world world_new(uint64_t seed, struct rados_options options)
{
    struct world w = { .live = live_new((struct fake_options){ .seed = seed }),
                       .arena = arena_new(64u << 20) };

    w.port = live_client(w.live);
    w.dying = live_open_with(w.port, options);
    w.first = (struct partition){ { { 8 } }, B("first") };
    w.second = (struct partition){ { { 16 } }, B("second") };
    return w;
}

static void world_free(struct world *w)
{
    if (w->dying)
        store_close(w->dying);
    live_free(w->live);
    arena_free(w->arena);
}

/* NULL: it could not be written. */
static struct stage *stage_piece(struct world *w, struct partition partition)
{
    struct stage *stage = stage_open(w->dying, partition, PIECE_BYTES);
    size_t taken;

    if (!stage_write(stage, bytes_of(bytes, PIECE_BYTES), NULL, &taken) &&
        !stage_finish(stage, NULL))
        return stage;
    stage_close(stage);
    return NULL;
}

/* A commit that puts a record with a staged piece into each of some partitions. */
struct putting {
    struct commit_part parts[2];
    size_t count;
    instant now;
};

static struct putting prepare_put(struct world *w, const struct partition *partitions,
                                  struct stage *const *stages, size_t count, const char *key)
{
    struct putting putting = { .count = count, .now = clock_now() };

    for (size_t i = 0; i < count; i++) {
        struct changes *changes = changes_new(w->arena);
        const struct piece *pieces;
        size_t piece_count;
        struct snapshot *snapshot = snapshot_open(w->dying, partitions[i], STORE_MAY_BLOCK);

        pieces = stage_pieces(stages[i], &piece_count);
        changes_put(changes, RECORD_LISTED, B(key), B("v"), pieces, piece_count);
        (void)snapshot_hold(snapshot);
        putting.parts[i] = (struct commit_part){ snapshot, changes };
        if (snapshot_instant(snapshot) >= putting.now)
            putting.now = snapshot_instant(snapshot) + 1;
    }
    return putting;
}

/* returns as store_commit() of a thread that does not wait */
static enum store_result begin_put(struct world *w, struct putting *putting, uint64_t *ret_sequence)
{
    enum store_result result = store_commit(w->dying, putting->parts, putting->count, putting->now,
                                            STORE_NO_WAIT, ret_sequence);

    for (size_t i = 0; i < putting->count; i++)
        snapshot_close(putting->parts[i].snapshot);
    return result;
}

static void put_one(struct world *w, struct partition partition, const char *key)
{
    struct stage *stage = stage_piece(w, partition);
    struct putting putting = prepare_put(w, &partition, &stage, 1, key);
    uint64_t sequence;

    assert_int_equal(begin_put(w, &putting, &sequence), STORE_OK);
    assert_int_equal(store_await(w->dying, sequence), STORE_OK);
    stage_close(stage);
}

/* ---- what is there ---- */

static void note_piece(void *context, const char *object)
{
    *(unsigned *)context += strncmp(object, "p.", 2) == 0;
}

static unsigned count_pieces(struct port *port)
{
    unsigned count = 0;

    assert_true(port_each_object(port, note_piece, &count));
    return count;
}

/* Rows that the front ends have of one incarnation. */
static unsigned count_rows(struct port *port, uint32_t incarnation)
{
    struct port_op *op = arrival_op();
    struct port_step *list =
        port_list(op, (struct bytes){ NULL, 0 }, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
    struct bytes number = arena_printf(op->arena, "%08x", incarnation);
    struct arrival *arrival = send_block(port, BEAT_OBJECT, op);
    unsigned count = 0;

    assert_int_equal(op->result, PORT_OK);
    for (uint32_t i = 0; i < list->row_count; i++)
        count += bytes_has_prefix(bytes_from(list->rows[i].key, 1), number);
    arrival_drop(arrival);
    return count;
}

/* The record's piece can be read, or neither is there. Returns whether they are. */
static bool is_whole(struct world *w, struct store *store, struct partition partition,
                     const char *key)
{
    struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);
    static char buffer[PIECE_BYTES];
    struct record record;
    enum store_result result = snapshot_get(snapshot, RECORD_LISTED, B(key), w->arena, &record);

    assert_true(result == STORE_OK || result == STORE_NOT_FOUND);
    if (!result) {
        assert_int_equal(record.piece_count, 1);
        assert_int_equal(piece_read(store, record.pieces, 0, PIECE_BYTES, buffer, NULL), STORE_OK);
    }
    snapshot_close(snapshot);
    return result == STORE_OK;
}

/* ---- a front end that seemed dead ---- */

static void wait_for(unsigned (*count)(struct port *port, uint32_t incarnation), struct port *port,
                     uint32_t incarnation, unsigned wanted)
{
    const struct timespec step = { .tv_nsec = 20000000 };
    uint64_t end = clock_monotonic_ms() + WAIT_MS;

    while (count(port, incarnation) != wanted && clock_monotonic_ms() < end)
        nanosleep(&step, NULL);
    assert_int_equal(count(port, incarnation), wanted);
}

static unsigned pieces_of_all(struct port *port, uint32_t incarnation)
{
    (void)incarnation;
    return count_pieces(port);
}

static atomic_uint ended;

static void note_end(void)
{
    ended++;
}

/* Rule: a front end that was stopped, and taken for dead, commits no piece when it goes on: not where its pieces were to be,
 * and nowhere else; and it ends. What it has committed before stays, what it then still writes goes by the second look. */
static void zombie(void **state)
{
    struct world w = world_new(11, (struct rados_options){ .grace_ticks = 1, .failed = note_end });
    const struct rados_options quick = { .grace_ticks = 1,
                                         .dead_ms = DEAD_MS,
                                         .again_ticks = 4 * SECOND };
    uint32_t incarnation = shards_incarnation(rados_of(w.dying)->shards);
    struct port *port = live_client(w.live);
    struct store *other = live_open_with(port, quick);
    struct stage *stages[3];
    struct putting here, there;
    uint64_t sequences[2];
    size_t taken;

    (void)state;
    put_one(&w, w.first, "before");
    put_one(&w, w.second, "before");
    for (unsigned i = 0; i < 2; i++)
        stages[i] = stage_piece(&w, w.first);
    here = prepare_put(&w, &w.first, &stages[0], 1, "late");
    there = prepare_put(&w, &w.second, &stages[1], 1, "late");
    stages[2] = stage_open(w.dying, w.first, PIECE_BYTES);
    assert_int_equal(stage_write(stages[2], bytes_of(bytes, PIECE_BYTES), NULL, &taken), STORE_OK);
    assert_int_equal(count_pieces(port), 4);
    live_stop(w.live, w.port);
    assert_int_equal(begin_put(&w, &here, &sequences[0]), STORE_OK);
    assert_int_equal(begin_put(&w, &there, &sequences[1]), STORE_OK);
    wait_for(pieces_of_all, port, 0, 2);
    live_continue(w.live, w.port);
    assert_int_equal(stage_finish(stages[2], NULL), STORE_OK); /* its number was reserved before */
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(store_await(w.dying, sequences[i]), STORE_IO);
    assert_true(is_whole(&w, other, w.first, "before") && is_whole(&w, other, w.second, "before"));
    assert_false(is_whole(&w, other, w.first, "late") || is_whole(&w, other, w.second, "late"));
    wait_for(count_rows, port, incarnation, 0);
    wait_for(pieces_of_all, port, 0, 2);
    assert_false(store_healthy(w.dying));
    assert_int_equal(ended, 1);
    for (unsigned i = 0; i < 3; i++)
        stage_close(stages[i]);
    store_close(w.dying);
    w.dying = NULL;
    store_close(other);
    world_free(&w);
}

/* ---- one that dies at any op, and a collector that does ---- */

static void kill_and_put(struct world *w, unsigned after, bool is_first_applied)
{
    const struct partition both[2] = { w->first, w->second };
    struct stage *stages[2], *unused;
    uint64_t sequence;

    put_one(w, w->first, "before");
    live_cut(w->live, w->port, after, is_first_applied);
    unused = stage_piece(w, w->first);
    for (unsigned i = 0; i < 2; i++)
        stages[i] = stage_piece(w, both[i]);
    if (stages[0] && stages[1]) {
        struct putting putting = prepare_put(w, both, stages, 2, "both");

        if (begin_put(w, &putting, &sequence) == STORE_OK)
            (void)store_await(w->dying, sequence);
    }
    if (unused)
        stage_close(unused);
    for (unsigned i = 0; i < 2; i++)
        if (stages[i])
            stage_close(stages[i]);
    store_close(w->dying);
    w->dying = NULL;
}

/* Takes it for dead, and looks twice, until nothing is to be done any more, or nothing can be. */
static void collect(struct port *port, uint32_t incarnation, uint32_t collector)
{
    struct shards *shards = shards_new(port, collector);
    const struct departed departed = {
        .leftovers = { port, shards, 1, true },
        .records = port,
        .again = 1,
    };
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, beat_key(op->arena, incarnation));
    struct arrival *arrival = send_block(port, BEAT_OBJECT, op);
    struct sleeper sleeper;
    struct beat_row beat;
    uint32_t same;

    if (!op->result && row->row_count > 0 && beat_read(&row->rows[0], &same, &beat))
        (void)departed_retire(port, incarnation, &beat);
    arrival_drop(arrival);
    while (departed_step(&departed, INSTANT_MAX))
        continue;
    sleeper_init(&sleeper);
    shards_wait_idle(shards, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    shards_free(shards);
}

/* Of what is left of one that died there, and was collected by one that died at another op, then by a third, all that is
 * referred to is there, and nothing else. */
static void check_deaths(uint64_t seed, unsigned after, unsigned collected, bool is_first_applied)
{
    struct world w = world_new(seed, (struct rados_options){ .grace_ticks = 1 });
    uint32_t incarnation = shards_incarnation(rados_of(w.dying)->shards);
    struct port *collector = live_client(w.live), *port = live_client(w.live);
    struct store_usage usage;
    struct store *store;
    bool is_first, is_second;

    kill_and_put(&w, after, is_first_applied);
    live_cut(w.live, collector, collected, is_first_applied);
    collect(collector, incarnation, 100);
    collect(port, incarnation, 101);
    store = live_open(port, 1);
    assert_true(is_whole(&w, store, w.first, "before"));
    is_first = is_whole(&w, store, w.first, "both");
    is_second = is_whole(&w, store, w.second, "both");
    assert_int_equal(is_first, is_second);
    store_collect_now(store, &usage);
    assert_int_equal(count_pieces(port), is_first ? 3 : 1);
    assert_int_equal(count_rows(port, incarnation), 0);
    store_close(store);
    world_free(&w);
}

/* Rule: a front end may die at any op: what no commit names is deleted, and what one names stays. */
static void deaths(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 40; after++)
        check_deaths(after + 1, after, UINT32_MAX, after % 2);
}

/* Rule: so may the one that collects. */
static void deaths_of_collectors(void **state)
{
    (void)state;
    for (unsigned collected = 0; collected < 2300; collected += collected < 100 ? 1 : 47)
        check_deaths(collected + 1, 12 + collected % 11, collected, collected % 2);
}

/* ---- a piece that has moved ---- */

/* Moves the record of the first partition, and its piece, to the second. */
static void move(struct world *w, struct store *store)
{
    struct changes *from = changes_new(w->arena), *to = changes_new(w->arena);
    struct commit_part parts[2] = { { snapshot_open(store, w->first, STORE_MAY_BLOCK), from },
                                    { snapshot_open(store, w->second, STORE_MAY_BLOCK), to } };
    struct record record;
    uint64_t sequence;

    assert_int_equal(snapshot_get(parts[0].snapshot, RECORD_LISTED, B("k"), w->arena, &record),
                     STORE_OK);
    changes_delete(from, RECORD_LISTED, B("k"));
    changes_release(from, record.pieces, record.piece_count);
    changes_put(to, RECORD_LISTED, B("k"), B("v"), record.pieces, record.piece_count);
    assert_int_equal(store_commit(store, parts, 2, clock_above(snapshot_instant(parts[0].snapshot)),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    assert_int_equal(store_await(store, sequence), STORE_OK);
    for (unsigned i = 0; i < 2; i++)
        snapshot_close(parts[i].snapshot);
}

static unsigned count_rows_of_pieces(struct port *port, const struct partition *partition)
{
    struct port_op *op = arrival_op();
    struct port_step *list = port_list(op, (struct bytes){ NULL, 0 }, B("P"), PORT_ROWS_MAX);
    char object[SHARD_NAME_SIZE];
    struct arrival *arrival;
    struct row_name name;
    unsigned count = 0;

    shard_name(&partition->space, 0, 0, object);
    arrival = send_block(port, object, op);
    assert_int_equal(op->result, PORT_OK);
    for (uint32_t i = 0; i < list->row_count; i++)
        count += row_key_read(list->rows[i].key, op->arena, &name) && name.kind == ROW_PIECE;
    arrival_drop(arrival);
    return count;
}

/* Rule: a piece that has moved away from where it was committed first is not taken for one that nothing refers to. What says
 * so there goes when nobody looks for its number any more. */
static void moved(void **state)
{
    struct world w = world_new(17, (struct rados_options){ .grace_ticks = 1 });
    uint32_t incarnation = shards_incarnation(rados_of(w.dying)->shards);
    struct port *port = live_client(w.live);
    struct store *store = live_open(port, 1);
    struct store_usage usage;

    (void)state;
    put_one(&w, w.first, "k");
    move(&w, store);
    live_cut(w.live, w.port, 0, false);
    store_close(w.dying);
    w.dying = NULL;
    store_collect_now(store, &usage);
    assert_int_equal(count_rows_of_pieces(port, &w.first), 1);
    collect(port, incarnation, 100);
    store_collect_now(store, &usage);
    assert_true(is_whole(&w, store, w.second, "k"));
    assert_int_equal(count_pieces(port), 1);
    assert_int_equal(count_rows_of_pieces(port, &w.first), 0);
    store_close(store);
    world_free(&w);
}

/* ---- ends ---- */

/* Rule: who ends well leaves nothing to look for: no intent, and nothing that it has staged. */
static void clean_end(void **state)
{
    struct world w = world_new(5, (struct rados_options){ .grace_ticks = 1 });
    uint32_t incarnation = shards_incarnation(rados_of(w.dying)->shards);
    struct port *port = live_client(w.live);
    struct stage *unused;

    (void)state;
    put_one(&w, w.first, "k");
    unused = stage_piece(&w, w.first);
    assert_int_equal(count_rows(port, incarnation), 4);
    stage_close(unused);
    store_close(w.dying);
    w.dying = NULL;
    assert_int_equal(count_rows(port, incarnation), 0);
    assert_int_equal(count_pieces(port), 1);
    world_free(&w);
}

/* Rule: numbers are reserved before they are used, and an intent goes once all of its numbers are settled. */
static void intents(void **state)
{
    struct live *live = live_new((struct fake_options){ .seed = 2 });
    struct port *port = live_port(live);
    struct port_op *op = arrival_op();
    struct intents *numbers;
    bool *seen = calloc(4 * INTENT_NUMBERS + 1, sizeof seen[0]);

    (void)state;
    port_set(op, living_key(op->arena, 7), living_value());
    assert_int_equal(run_block(port, BEAT_OBJECT, op), PORT_OK);
    numbers = intents_new(port, 7);
    for (unsigned i = 0; i < 3 * INTENT_NUMBERS; i++) {
        struct arrival *arrival;
        uint64_t number;
        enum store_result result;

        while ((result = intents_take(numbers, &number, &arrival)) == STORE_WAIT) {
            arrival_block(arrival);
            arrival_drop(arrival);
        }
        assert_int_equal(result, STORE_OK);
        assert_true(number <= 4 * INTENT_NUMBERS && !seen[number]);
        seen[number] = true;
    }
    for (uint64_t number = 1; number <= 4 * INTENT_NUMBERS; number++)
        if (seen[number] && number != 5)
            intents_settle(numbers, number);
    intents_wait(numbers);
    assert_true(count_rows(port, 7) >= 2 && count_rows(port, 7) <= 3); /* of 5, and the next */
    op = arrival_op();
    port_remove(op, living_key(op->arena, 7));
    assert_int_equal(run_block(port, BEAT_OBJECT, op), PORT_OK);
    for (unsigned i = 0; i < 2 * INTENT_NUMBERS; i++) {
        struct arrival *arrival;
        uint64_t number;
        enum store_result result = intents_take(numbers, &number, &arrival);

        if (result == STORE_WAIT) {
            arrival_block(arrival);
            arrival_drop(arrival);
        } else if (result) {
            assert_int_equal(result, STORE_IO);
            assert_true(i > 0);
            break;
        }
        assert_true(i < 2 * INTENT_NUMBERS - 1);
    }
    intents_wait(numbers);
    intents_free(numbers);
    free(seen);
    live_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_end), cmocka_unit_test(intents),
        cmocka_unit_test(deaths),    cmocka_unit_test(deaths_of_collectors),
        cmocka_unit_test(zombie),    cmocka_unit_test(moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
