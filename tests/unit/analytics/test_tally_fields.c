/* Every sum of a tally survives as an entity, next to others with any value, and is added to the sum of the same name. tally.c */
#include "analytics/analytics_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../record_fields.h"

#define COUNTS(outcome)                                                                            \
    VALUE(tally, counts[outcome][WHO_AUTHORIZED]), VALUE(tally, counts[outcome][WHO_SAS]),         \
        VALUE(tally, counts[outcome][WHO_ANONYMOUS])

static const struct field fields[] = {
    VALUE(tally, ingress),        VALUE(tally, egress),           COUNTS(OUTCOME_SUCCESS),
    COUNTS(OUTCOME_THROTTLING),   COUNTS(OUTCOME_CLIENT_TIMEOUT), COUNTS(OUTCOME_SERVER_TIMEOUT),
    COUNTS(OUTCOME_CLIENT_OTHER), COUNTS(OUTCOME_SERVER_OTHER),   COUNTS(OUTCOME_AUTHORIZATION),
    COUNTS(OUTCOME_NETWORK),      VALUE(tally, e2e_ms),           VALUE(tally, server_ms),
};

static void trip(struct arena *arena, const void *from, void *to)
{
    assert_true(tally_read(arena, tally_write(arena, from), to));
}

/* Averages are stored, so the numbers of successes divide the times: 4, 8, 16 or 24 of them. */
static const struct tally samples[] = {
    { .ingress = 1,
      .egress = 2,
      .counts = { { 2, 1, 1 },
                  { 6, 7, 8 },
                  { 9, 10, 11 },
                  { 12, 13, 14 },
                  { 15, 16, 17 },
                  { 18, 19, 20 },
                  { 21, 22, 23 },
                  { 24, 25, 26 } },
      .e2e_ms = 480,
      .server_ms = 960 },
    { .ingress = 101,
      .egress = 102,
      .counts = { { 6, 5, 13 },
                  { 106, 107, 108 },
                  { 109, 110, 111 },
                  { 112, 113, 114 },
                  { 115, 116, 117 },
                  { 118, 119, 120 },
                  { 121, 122, 123 },
                  { 124, 125, 126 } },
      .e2e_ms = 1440,
      .server_ms = 1920 },
};

static void sums(void **state)
{
    static const struct record_form form = RECORD_FORM(tally, fields, trip);

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

/* Rule: reading adds to what the tally has, and the averages of two are weighted by their requests. */
static void added(void **state)
{
    struct arena *arena = arena_new(1u << 20);
    struct tally both = { .ingress = 0 };

    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_true(tally_read(arena, tally_write(arena, &samples[i]), &both));
    both.e2e_ms -= samples[0].e2e_ms + samples[1].e2e_ms;
    both.server_ms -= samples[0].server_ms + samples[1].server_ms;
    assert_true(both.e2e_ms == 0 && both.server_ms == 0);
    assert_int_equal(both.ingress, 102);
    assert_int_equal(both.egress, 104);
    for (size_t outcome = 0; outcome < ANALYTICS_OUTCOMES; outcome++)
        for (size_t who = 0; who < ANALYTICS_WHO; who++)
            assert_int_equal(both.counts[outcome][who],
                             samples[0].counts[outcome][who] + samples[1].counts[outcome][who]);
    /* Twice what was read once: the average of the entity is that of all requests. */
    trip(arena, &samples[0], &both);
    assert_true(both.e2e_ms == samples[0].e2e_ms && both.server_ms == samples[0].server_ms);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
