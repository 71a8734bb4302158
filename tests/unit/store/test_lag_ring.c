/* The samples of a store that lags, next to a plain list of all its commits: store/lag.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdint.h>

#include "store/lag.h"

#define RUNS        3000u
#define STEPS       300u
#define TICKS_LEAST LAG_SAMPLES

/* All commits of a run. State k is what the first k commits have left. */
struct history {
    struct lag_ring ring;
    instant opened, now;
    instant commits[STEPS];
    unsigned count;
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void *state_of(unsigned number)
{
    return (void *)(uintptr_t)(number + 1);
}

static void begin(struct history *h)
{
    *h = (struct history){ .opened = 1000000 + draw(1000), .count = 0 };
    h->now = h->opened;
    lag_ring_init(&h->ring, TICKS_LEAST + draw(4000), h->now);
    lag_ring_add(&h->ring, h->now, state_of(0));
}

/* As the engine does in front of each commit. */
static void commit(struct history *h)
{
    while (lag_ring_take_old(&h->ring, h->now))
        continue;
    if (lag_ring_is_due(&h->ring, h->now))
        lag_ring_add(&h->ring, h->now, state_of(h->count));
    lag_ring_changed(&h->ring, h->now);
    h->commits[h->count++] = h->now;
}

/* The number of commits before that instant, or at it. */
static unsigned commits_until(const struct history *h, instant until, bool with_it)
{
    unsigned number = 0;

    while (number < h->count &&
           (h->commits[number] < until || (with_it && h->commits[number] == until)))
        number++;
    return number;
}

/* Rule: what is shown is no newer than the lag allows, contains all before `until`, and is at most a sixteenth of the lag
 * older than it has to be. Before the store has been open for the lag it is the first state. */
static void check_shown(const struct history *h)
{
    instant wanted = h->now - h->ring.ticks, until;
    void *shown = lag_ring_shown(&h->ring, h->now, &until);
    unsigned number = (unsigned)(uintptr_t)shown - 1;

    assert_true(until <= wanted);
    if (!shown) {
        assert_int_equal(commits_until(h, wanted, true), h->count);
        assert_int_equal(until, wanted);
        return;
    }
    assert_true(commits_until(h, wanted, true) < h->count || wanted < h->opened);
    assert_true(number <= commits_until(h, wanted, true));
    assert_true(commits_until(h, until, false) <= number);
    assert_true(until + h->ring.ticks / LAG_SAMPLES + 1 >= wanted);
    if (wanted < h->opened)
        assert_ptr_equal(shown, state_of(0));
}

/* Gaps from nothing to more than the lag: a crowd of commits, a quiet hour. */
static uint64_t draw_gap(const struct history *h, unsigned kind)
{
    const uint64_t ticks = h->ring.ticks;

    switch (kind) {
    case 0:
        return draw(3);
    case 1:
        return draw(ticks / LAG_SAMPLES + 2);
    case 2:
        return ticks / LAG_SAMPLES + draw(3) - 1;
    default:
        return draw(3) == 0 ? draw(2 * ticks) : draw(ticks / 4 + 1);
    }
}

static void shows_what_a_list_has(void **state)
{
    (void)state;
    random_state = 0x9E3779B97F4A7C15;
    for (unsigned run = 0; run < RUNS; run++) {
        unsigned kind = (unsigned)draw(5); /* of all gaps, or, the last one, of each */
        struct history h;

        begin(&h);
        for (unsigned step = 0; step < STEPS; step++) {
            h.now += draw_gap(&h, kind == 4 ? (unsigned)draw(4) : kind);
            check_shown(&h);
            if (draw(4) > 0)
                commit(&h);
            check_shown(&h);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shows_what_a_list_has) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
