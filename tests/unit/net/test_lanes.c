/* Whose turn is next on a worker: net/lanes.h. decision: 711 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/net_private.h"

#define MANY 40

struct world {
    struct lanes lanes;
    struct connection all[2 * MANY];
};

/* Connections with numbers from..to are ready, in a lane. */
static void ready(struct world *w, unsigned from, unsigned to, uint8_t lane)
{
    for (unsigned i = from; i < to; i++) {
        w->all[i].lane = lane;
        lanes_add(&w->lanes, &w->all[i]);
    }
}

/* The number of the next one; -1: the round is over. */
static int take(struct world *w)
{
    const struct connection *c = lanes_take(&w->lanes);

    return c ? (int)(c - w->all) : -1;
}

static unsigned take_all(struct world *w)
{
    unsigned count = 0;

    while (take(w) >= 0)
        count++;
    return count;
}

static struct world *new_world(void)
{
    struct world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    return w;
}

/* Rule: of one lane all that are ready have their turns in their order, and those that come meanwhile wait for the next round. */
static void one_lane(void **state)
{
    struct world *w = new_world();

    (void)state;
    ready(w, 0, MANY, 5);
    lanes_begin_round(&w->lanes);
    for (int i = 0; i < MANY; i++) {
        assert_false(lanes_is_last(&w->lanes));
        assert_int_equal(take(w), i);
        if (i < 3)
            ready(w, (unsigned)i, (unsigned)i + 1, 5);
    }
    assert_true(lanes_is_last(&w->lanes));
    assert_int_equal(take(w), -1);
    lanes_begin_round(&w->lanes);
    assert_int_equal(take(w), 0);
    assert_int_equal(take_all(w), 2);
    lanes_begin_round(&w->lanes);
    assert_int_equal(take(w), -1);
    free(w);
}

/* Rule: lanes take turns, so one connection waits for one turn of each other lane, however many are ready there. */
static void lanes_take_turns(void **state)
{
    struct world *w = new_world();
    int turns = 0;

    (void)state;
    ready(w, 0, MANY, 3);
    ready(w, MANY, MANY + 2, 63);
    ready(w, MANY + 2, MANY + 3, 0);
    lanes_begin_round(&w->lanes);
    for (int got; (got = take(w)) >= 0; turns++)
        if (turns < 5) /* 0 and 63 have nobody more then */
            assert_int_equal(got, ((int[]){ MANY + 2, 0, MANY, 1, MANY + 1 })[turns]);
        else
            assert_true(got < MANY);
    assert_int_equal(turns, LANES_ROUND_MOST);
    assert_int_equal(w->lanes.count, MANY + 3 - LANES_ROUND_MOST);
    free(w);
}

/* Rule: who comes while another lane has many waiting has the next turn but one, also when he was away for some rounds. */
static void who_comes_is_next(void **state)
{
    struct world *w = new_world();

    (void)state;
    ready(w, 0, MANY, 3);
    ready(w, MANY, MANY + 1, 9);
    for (unsigned round = 0; round < 50; round++) {
        unsigned begun = w->lanes.count;
        unsigned turns = 0;
        int got;

        lanes_begin_round(&w->lanes);
        while ((got = take(w)) >= 0) {
            turns++;
            if (got < MANY) /* he asks again at once, the other one now and then */
                ready(w, (unsigned)got, (unsigned)got + 1, 3);
            else
                assert_true(turns <= 2);
        }
        assert_int_equal(turns, LANES_ROUND_MOST);
        assert_true(begun >= MANY);
        assert_true(lanes_are_several(&w->lanes));
        if (round % 3 == 0)
            ready(w, MANY, MANY + 1, 9);
    }
    free(w);
}

/* Rule: rounds are as long as ever once one lane alone has had turns for a while. */
static void the_others_are_forgotten(void **state)
{
    struct world *w = new_world();
    unsigned rounds = 0, turns = 0;

    (void)state;
    ready(w, MANY, MANY + 1, 9);
    ready(w, 0, MANY, 3);
    while (turns != MANY && rounds++ < 1000) {
        int got;

        lanes_begin_round(&w->lanes);
        for (turns = 0; (got = take(w)) >= 0; turns++)
            if (got < MANY)
                ready(w, (unsigned)got, (unsigned)got + 1, 3);
    }
    assert_in_range(rounds, 2, 200);
    assert_false(lanes_are_several(&w->lanes));
    free(w);
}

/* Rule: nobody who is known shares the lane of those who are not. */
static void numbers(void **state)
{
    static const char places[1000];
    unsigned seen = 0;
    bool used[LANES] = { false };

    (void)state;
    assert_int_equal(lanes_number(NULL), 0);
    for (size_t i = 0; i < sizeof places; i++) {
        uint8_t lane = lanes_number(places + i);

        assert_in_range(lane, 1, LANES - 1);
        seen += !used[lane];
        used[lane] = true;
    }
    assert_int_equal(seen, LANES - 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lane),          cmocka_unit_test(lanes_take_turns),
        cmocka_unit_test(who_comes_is_next), cmocka_unit_test(the_others_are_forgotten),
        cmocka_unit_test(numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
