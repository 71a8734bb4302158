/* Heartbeats: whose clock differs from most others' commits nothing, and a front end that is ahead of two is not believed by
 * them. store/rados/beat.h; the engine on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "../../../rados/live.h"
#include "base/clock.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/open.h"
#include "store/rados/root.h"

#define B(s)    bytes_from_string(s)
#define SECOND  TICKS_PER_SECOND
#define STEP    (2 * SECOND)
#define HOUR    (3600 * SECOND)
#define BASE    (100 * HOUR)
#define WAIT_MS 10000u

/* Front ends that beat once between two looks, each half a second before the look, by clocks that are so much ahead. */
struct others {
    int64_t ahead[3];
    size_t count;
    uint64_t delay; /* of what they write */
};

#define NONE           ((struct others){ .count = 0 })
#define OTHERS(n, ...) ((struct others){ { __VA_ARGS__ }, (n), 0 })

static struct beat_look look_at(const struct others *others, unsigned number)
{
    struct beat_look look = { .begun = BASE + number * STEP, .count = others->count };

    look.ended = look.begun + SECOND / 100;
    for (size_t i = 0; i < others->count; i++)
        look.peers[i] = (struct beat_peer){
            .incarnation = (uint32_t)i + 2,
            .at = (instant)((int64_t)(look.begun - SECOND / 2 - others->delay) + others->ahead[i]),
        };
    return look;
}

/* What a front end with the right clock makes of them, after so many looks. */
static bool agrees(struct others others, unsigned looks)
{
    struct beat_look before = look_at(&others, 0);
    bool agrees = true;

    for (unsigned number = 1; number <= looks; number++) {
        struct beat_look now = look_at(&others, number);

        agrees = beat_judge(&before, &now).agrees;
        before = now;
    }
    return agrees;
}

/* Rule: who is of the smaller part commits nothing; of two halves, who is behind. decision: 523 */
static void majority(void **state)
{
    (void)state;
    assert_true(agrees(NONE, 5));
    assert_true(agrees(OTHERS(1, SECOND / 2), 5));
    assert_false(agrees(OTHERS(1, HOUR), 1));
    assert_true(agrees(OTHERS(1, -(int64_t)HOUR), 5));
    assert_true(agrees(OTHERS(2, HOUR, 0), 5));
    assert_true(agrees(OTHERS(2, -(int64_t)HOUR, 0), 5));
    assert_false(agrees(OTHERS(2, HOUR, HOUR), 1));
    assert_false(agrees(OTHERS(2, -(int64_t)HOUR, -(int64_t)HOUR), 5));
    assert_false(agrees(OTHERS(3, 2 * SECOND, 2 * SECOND, 0), 1));
    assert_true(agrees(OTHERS(3, -(int64_t)HOUR, -(int64_t)HOUR, 0), 5));
}

/* Rule: a heartbeat that took long to be written is no clock that is behind. */
static void slow_beats(void **state)
{
    const struct others others = { { 0, 0 }, 2, 10 * SECOND };

    (void)state;
    assert_true(agrees(others, 1));
    assert_true(agrees(others, 2));
    assert_false(agrees(others, 3)); /* again and again: it may be one */
}

/* Rule: who does not beat has no clock. */
static void dead(void **state)
{
    struct beat_look before = look_at(&OTHERS(1, HOUR), 0), now = before;

    (void)state;
    now.begun += STEP;
    now.ended += STEP;
    assert_true(beat_judge(&before, &now).agrees);
}

/* Counts how long one has been quiet, seen at these moments by a monotonic clock, each with this heartbeat. */
static unsigned quiet_after(const uint64_t *seen_ms, const instant *at, size_t count)
{
    static struct beat_look looks[2];

    looks[0] = (struct beat_look){ .ended_ms = 0 };
    for (size_t i = 0; i < count; i++) {
        struct beat_look *now = &looks[1 - i % 2];

        *now = (struct beat_look){ .ended_ms = seen_ms[i], .all_count = 1 };
        now->all[0] = (struct beat_quiet){ .incarnation = 3, .row = { at[i], INSTANT_MAX } };
        beat_count_quiet(&looks[i % 2], now);
    }
    return looks[count % 2].all[0].quiet_ms;
}

/* Rule: a front end is quiet as long as looks that follow each other show the same heartbeat; a cluster that does not
 * answer for a while makes nobody quiet. */
static void quiet(void **state)
{
    const uint64_t steady[] = { 90000, 92000, 94000, 96000 };
    const uint64_t interrupted[] = { 90000, 92000, 192000, 194000 };
    const instant same[] = { 5, 5, 5, 5 }, beats[] = { 5, 5, 6, 6 };

    (void)state;
    assert_int_equal(quiet_after(steady, same, 4), 6000);
    assert_int_equal(quiet_after(steady, beats, 4), 2000);
    assert_int_equal(quiet_after(steady, beats, 3), 0);
    assert_int_equal(quiet_after(interrupted, same, 4), 2000);
    assert_int_equal(quiet_after(interrupted, same, 3), 0);
}

static void beat_as(struct port *port, uint32_t incarnation, instant at)
{
    struct port_op *op = arrival_op();

    port_set(op, beat_key(op->arena, incarnation),
             beat_write(op->arena, &(struct beat_row){ at, INSTANT_MAX }));
    assert_int_equal(run_block(port, BEAT_OBJECT, op), PORT_OK);
}

static enum store_result commit(struct store *store)
{
    const struct partition partition = { .key = B("p") };
    struct arena *arena = arena_new(1u << 20);
    struct changes *changes = changes_new(arena);
    struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);
    uint64_t sequence;
    enum store_result result;

    changes_put(changes, RECORD_LISTED, B("k"), B("v"), NULL, 0);
    result = store_commit(store, &(struct commit_part){ snapshot, changes }, 1,
                          snapshot_instant(snapshot) + HOUR, STORE_MAY_BLOCK, &sequence);
    snapshot_close(snapshot);
    arena_free(arena);
    return result;
}

/* Beats for another, whose clock is ahead, until the store finds it so, or not so. */
static void beat_until(struct store *store, struct port *port, uint64_t ahead, bool has_trouble)
{
    uint64_t end = clock_monotonic_ms() + WAIT_MS;

    while ((store_trouble(store) != NULL) != has_trouble && clock_monotonic_ms() < end)
        beat_as(port, 77, clock_now() + ahead);
    assert_int_equal(store_trouble(store) != NULL, has_trouble);
}

/* Rule: a front end that is behind says so, commits nothing, and goes on once it is not. */
static void behind(void **state)
{
    struct live *live = live_new((struct fake_options){ .seed = 3 });
    struct port *other = live_client(live);
    struct store *store = live_open(live_port(live), 0);

    (void)state;
    assert_null(store_trouble(store));
    assert_int_equal(commit(store), STORE_OK);
    beat_until(store, other, HOUR, true);
    assert_int_equal(commit(store), STORE_SHORTAGE);
    beat_until(store, other, 0, false);
    assert_int_equal(commit(store), STORE_OK);
    store_close(store);
    live_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(majority), cmocka_unit_test(slow_beats), cmocka_unit_test(dead),
        cmocka_unit_test(quiet),    cmocka_unit_test(behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
