/* Turns of front ends at one shard: slots by the clock, and gaps for who asks for one; by a clock of the test's own, on the RADOS
 * in memory. store/rados/turn.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../rados/fake.h"
#include "base/clock.h"
#include "store/rados/row_key.h"
#include "store/rados/shard.h"
#include "store/rados/turn.h"

#define OBJECT     "shard"
#define FRONT_ENDS 2u
#define START_MS   10000u

static uint64_t now_ms;
uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void)
{
    return now_ms;
}

/* ---- slots ---- */

static const struct bytes p = BYTES("p"), q = BYTES("q");

/* One that has just lost op after op to another. */
static struct turn contended(uint32_t other)
{
    struct turn turn = { .crowded_ms = now_ms };

    for (unsigned i = 0; i < 8; i++)
        turn_after_op(&turn, true, now_ms);
    turn_met(&turn, other, p, now_ms);
    turn_after_op(&turn, false, now_ms);
    return turn;
}

/* The slots of two never meet, nor of three; each has its part of the time, and begins a slot once. */
static void slots(void **state)
{
    const uint32_t numbers[] = { 7, 3, 9 };

    (void)state;
    for (unsigned count = 2; count <= 3; count++) {
        struct turn turns[3] = { 0 };
        unsigned sent[3] = { 0 }, begun[3] = { 0 };
        const uint64_t end = START_MS + 6 * count * TURN_SLOT_MS;

        now_ms = START_MS;
        for (unsigned i = 0; i < count; i++)
            turns[i] = contended(numbers[(i + 1) % count]);
        for (now_ms = START_MS; now_ms < end; now_ms++) {
            unsigned owners = 0;

            for (unsigned i = 0; i < count; i++) {
                unsigned ms = 0;
                enum turn_slot slot;

                turns[i].took_ms = 1;
                turns[i].refusals = TURN_ALL_REFUSED;
                for (unsigned other = 0; other < count; other++)
                    if (other != i)
                        turn_met(&turns[i], numbers[other], p, now_ms);
                slot = turn_before_op(&turns[i], numbers[i], true, now_ms, 50 + now_ms, &ms);
                assert_int_equal(slot == TURN_OTHERS, ms > 0);
                assert_true(ms <= count * TURN_SLOT_MS);
                owners += slot != TURN_OTHERS;
                sent[i] += slot != TURN_OTHERS;
                begun[i] += slot == TURN_BEGINS;
            }
            assert_int_equal(owners, 1);
        }
        for (unsigned i = 0; i < count; i++) {
            assert_in_range(sent[i], 5 * TURN_SLOT_MS, 7 * TURN_SLOT_MS);
            assert_in_range(begun[i], 5, 7);
        }
    }
}

/* An op is not sent so late that it would be applied in another's slot; one that takes longer than a slot is sent all the same. */
static void slots_and_slow_ops(void **state)
{
    (void)state;
    now_ms = START_MS;
    for (unsigned took = 10; took <= 1000; took *= 10) {
        struct turn turn = contended(2);
        unsigned ms, sent = 0;

        for (uint64_t wall = 0; wall < TURN_SLOT_MS; wall++) {
            turn.took_ms = took;
            sent += turn_before_op(&turn, 1, true, now_ms, wall, &ms) != TURN_OTHERS;
        }
        assert_int_equal(sent, took == 10 ? TURN_SLOT_MS - 10 + 1 : TURN_SLOT_MS / 2 + 1);
    }
}

static enum turn_slot in_others_slot(struct turn *turn, bool is_crowded)
{
    unsigned ms;

    return turn_before_op(turn, 1, is_crowded, now_ms, TURN_SLOT_MS, &ms);
}

/* There are none where few ops were refused, of few commits, long after another was met, nor with one who does not keep to them. */
static void no_slots(void **state)
{
    struct turn turn = { .refused = 0 };

    (void)state;
    now_ms = START_MS;
    turn_after_op(&turn, true, now_ms);
    turn_met(&turn, 2, p, now_ms);
    assert_int_equal(in_others_slot(&turn, true), TURN_FREE);
    turn_asked(&turn, now_ms - TURN_GAP_MS); /* others have lost for a while */
    assert_int_equal(in_others_slot(&turn, false), TURN_BEGINS);
    turn_met(&turn, 2, p, now_ms);
    assert_int_equal(in_others_slot(&turn, false), TURN_OTHERS);
    now_ms += TURN_CROWD_MS + 1;
    turn_met(&turn, 2, p, now_ms);
    assert_int_equal(in_others_slot(&turn, false), TURN_FREE);
    assert_int_equal(in_others_slot(&turn, true), TURN_OTHERS);

    turn = contended(2);
    now_ms += TURN_MET_MS;
    assert_int_equal(in_others_slot(&turn, true), TURN_OTHERS);
    turn.refusals = 0;
    turn_met(&turn, 2, p, now_ms); /* they last */
    now_ms += TURN_MET_MS;
    assert_int_equal(in_others_slot(&turn, true), TURN_OTHERS);
    now_ms++;
    assert_int_equal(in_others_slot(&turn, true), TURN_FREE);
    turn_met(&turn, 2, p, now_ms);
    assert_int_equal(in_others_slot(&turn, true), TURN_FREE);

    turn = contended(2);
    for (unsigned i = 0; i < TURN_REFUSALS; i++) {
        assert_int_equal(in_others_slot(&turn, true), TURN_OTHERS);
        turn_after_op(&turn, true, now_ms);
        turn_met(&turn, 2, p, now_ms);
    }
    assert_int_equal(in_others_slot(&turn, true), TURN_FREE);
    turn_after_op(&turn, false, now_ms);
    assert_int_equal(in_others_slot(&turn, true), TURN_OTHERS);
}

/* ---- asking ---- */

/* Who loses for a while asks, once in a while; what is applied to the partition ends that, what is applied to another does not. */
static void asks(void **state)
{
    struct turn turn = { .refused = 0 };

    (void)state;
    now_ms = START_MS;
    assert_false(turn_asks(&turn, now_ms));
    for (unsigned i = 0; i < 3; i++) {
        turn_met(&turn, 2, p, now_ms);
        turn_came_in(&turn, q);
        now_ms += TURN_LOST_MS - 1;
        turn_met(&turn, 2, p, now_ms);
        assert_false(turn_asks(&turn, now_ms));
        now_ms++;
        turn_met(&turn, 2, p, now_ms);
        assert_true(turn_asks(&turn, now_ms));
        turn_met(&turn, 2, p, ++now_ms);
        assert_false(turn_asks(&turn, now_ms));
        turn_came_in(&turn, p);
        now_ms += TURN_ASKS_AGAIN_MS;
        assert_false(turn_asks(&turn, now_ms));
    }
    for (unsigned ms = 0; ms <= TURN_ASKS_AGAIN_MS; ms += TURN_ASKS_AGAIN_MS / 2) /* in vain */
        turn_met(&turn, 2, p, now_ms + ms);
    now_ms += TURN_ASKS_AGAIN_MS;
    assert_true(turn_asks(&turn, now_ms));
    turn_met(&turn, 2, p, now_ms + TURN_ASKS_AGAIN_MS);
    assert_true(turn_asks(&turn, now_ms + TURN_ASKS_AGAIN_MS + 1));
    now_ms += 10 * TURN_ASKS_AGAIN_MS; /* it had given up */
    turn_met(&turn, 2, p, now_ms);
    assert_false(turn_asks(&turn, now_ms));
}

/* ---- two front ends ---- */

static struct {
    struct fake *fake;
    struct arena *arena;
    struct port *ports[FRONT_ENDS];
    struct shard *shards[FRONT_ENDS];
    uint64_t attempts;
    unsigned pause_ms;
    struct waiter *pause;
} world;

struct tried {
    struct waiter waiter; /* first */
    struct shard_commit commit;
    struct shard_change change;
    bool is_over;
};

static void note_pause(struct port *port, unsigned ms, struct waiter *waiter)
{
    (void)port;
    assert_null(world.pause);
    world.pause_ms = ms;
    world.pause = waiter;
}

static void ignore(struct port_op *op)
{
    port_op_free(op);
}

static void run(void)
{
    while (fake_step(world.fake))
        ;
}

static void wake(struct waiter *waiter)
{
    ((struct tried *)(void *)waiter)->is_over = true;
}

static int set_up(void **state)
{
    const struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 1 };

    (void)state;
    now_ms = START_MS;
    world.fake = fake_new((struct fake_options){ .seed = 1 });
    world.arena = arena_new(1u << 20);
    world.pause = NULL;
    for (unsigned i = 0; i < FRONT_ENDS; i++) {
        world.ports[i] = fake_client(world.fake);
        world.ports[i]->pause = note_pause;
    }
    shard_create(world.ports[0], OBJECT, &bounds, ignore, NULL);
    run();
    for (unsigned i = 0; i < FRONT_ENDS; i++)
        assert_int_equal(shard_new(world.ports[i], OBJECT,
                                   fake_row(world.fake, OBJECT, row_key_bounds()),
                                   &world.shards[i]),
                         STORE_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < FRONT_ENDS; i++)
        shard_free(world.shards[i]);
    arena_free(world.arena);
    fake_free(world.fake);
    return 0;
}

static struct partition_header header_now(void)
{
    struct partition_header header;

    assert_int_equal(partition_header_read(
                         fake_row(world.fake, OBJECT, row_key_header(world.arena, p)), &header),
                     STORE_OK);
    return header;
}

static uint64_t epoch_now(void)
{
    struct shard_bounds bounds;

    assert_int_equal(shard_bounds_read(fake_row(world.fake, OBJECT, row_key_bounds()), &bounds),
                     STORE_OK);
    return bounds.epoch;
}

static struct tried *begin(unsigned front_end, struct partition_header seen)
{
    struct tried *tried = arena_alloc(world.arena, sizeof *tried);

    *tried = (struct tried){ .waiter.wake = wake };
    tried->change = (struct shard_change){
        .key = row_key_record(world.arena, RECORD_LISTED, p, q),
        .value = BYTES("value"),
    };
    tried->commit = (struct shard_commit){
        .partition_key = p,
        .seen = seen,
        .now = 1000,
        .attempt = { front_end + 1, ++world.attempts },
        .changes = &tried->change,
        .waiter = &tried->waiter,
    };
    shard_commit(world.shards[front_end], &tried->commit);
    run();
    return tried;
}

static enum store_result commit(unsigned front_end, struct partition_header seen)
{
    const struct tried *tried = begin(front_end, seen);

    assert_true(tried->is_over);
    return tried->commit.result;
}

/* Who comes too late for a while changes the epoch; the other's next op is refused by that, looked at, and applied; and the one after
 * that waits. Who has asked does not take its own question for another's. */
static void gap_for_who_asks(void **state)
{
    struct partition_header old = header_now();
    struct tried *waits;

    (void)state;
    assert_int_equal(commit(0, header_now()), STORE_OK);
    assert_int_equal(commit(1, old), STORE_CONFLICT);
    assert_int_equal(epoch_now(), 1);
    now_ms += TURN_LOST_MS;
    assert_int_equal(commit(1, old), STORE_CONFLICT);
    assert_int_equal(epoch_now(), 2);

    assert_int_equal(commit(0, header_now()), STORE_OK);
    assert_null(world.pause);
    waits = begin(0, header_now());
    assert_false(waits->is_over);
    assert_non_null(world.pause);
    assert_int_equal(world.pause_ms, TURN_GAP_MS);

    assert_int_equal(commit(1, header_now()), STORE_OK);
    now_ms += TURN_GAP_MS;
    world.pause->wake(world.pause);
    run();
    assert_true(waits->is_over);
    assert_int_equal(waits->commit.result, STORE_CONFLICT);
    world.pause = NULL;
    assert_int_equal(commit(0, header_now()), STORE_OK);
    assert_int_equal(epoch_now(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots),
        cmocka_unit_test(slots_and_slow_ops),
        cmocka_unit_test(no_slots),
        cmocka_unit_test(asks),
        cmocka_unit_test_setup_teardown(gap_for_who_asks, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
