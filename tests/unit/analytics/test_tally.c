/* What is counted of requests, as an entity and back. rest: Storage-Analytics-Metrics-Table-Schema */
#include "analytics/analytics_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(4u << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void count(struct tally *tally, enum analytics_who who, enum analytics_outcome outcome,
                  unsigned times)
{
    const struct analytics_event event = { .who = who,
                                           .outcome = outcome,
                                           .all_ns = 20000000,
                                           .wire_ns = 15000000,
                                           .received = 5,
                                           .sent = 7,
                                           .request_head_bytes = 100,
                                           .response_head_bytes = 200 };

    for (unsigned i = 0; i < times; i++)
        tally_count(tally, &event);
}

static double number(struct bytes json, const char *name)
{
    struct json_member member;
    double value;
    uint64_t whole;

    assert_true(json_object_pick(arena, json, 2, &name, 1, &member));
    if (member.kind == JSON_NUMBER) {
        assert_true(json_number(&member, &value));
        return value;
    }
    assert_int_equal(member.kind, JSON_STRING);
    assert_true(bytes_parse_u64(member.text, INT64_MAX, &whole));
    return (double)whole;
}

static const struct expected {
    const char *name;
    double value;
} expected[] = {
    { "TotalIngress", 100 * 105 },
    { "TotalEgress", 100 * 207 },
    { "TotalRequests", 100 },
    /* All but throttled, of the server, and anonymous ones that may not. */
    { "TotalBillableRequests", 100 - 10 - 5 - 5 - 4 },
    { "Availability", 100.0 * 76 / 86 },
    { "AverageE2ELatency", 20 },
    { "AverageServerLatency", 5 },
    { "PercentSuccess", 50 },
    { "PercentThrottlingError", 10 },
    { "PercentTimeoutError", 6 },
    { "PercentServerOtherError", 5 },
    { "PercentClientOtherError", 20 },
    { "PercentAuthorizationError", 7 },
    { "PercentNetworkError", 2 },
    { "Success", 30 },
    { "SASSuccess", 15 },
    { "AnonymousSuccess", 5 },
    { "ThrottlingError", 10 },
    { "SASThrottlingError", 0 },
    { "ClientTimeoutError", 1 },
    { "ServerTimeoutError", 5 },
    { "SASClientOtherError", 20 },
    { "AnonymousServerOtherError", 5 },
    { "AuthorizationError", 3 },
    { "AnonymousAuthorizationError", 4 },
    { "NetworkError", 2 },
};

static void count_all(struct tally *tally)
{
    count(tally, WHO_AUTHORIZED, OUTCOME_SUCCESS, 30);
    count(tally, WHO_SAS, OUTCOME_SUCCESS, 15);
    count(tally, WHO_ANONYMOUS, OUTCOME_SUCCESS, 5);
    count(tally, WHO_AUTHORIZED, OUTCOME_THROTTLING, 10);
    count(tally, WHO_AUTHORIZED, OUTCOME_CLIENT_TIMEOUT, 1);
    count(tally, WHO_AUTHORIZED, OUTCOME_SERVER_TIMEOUT, 5);
    count(tally, WHO_SAS, OUTCOME_CLIENT_OTHER, 20);
    count(tally, WHO_ANONYMOUS, OUTCOME_SERVER_OTHER, 5);
    count(tally, WHO_AUTHORIZED, OUTCOME_AUTHORIZATION, 3);
    count(tally, WHO_ANONYMOUS, OUTCOME_AUTHORIZATION, 4);
    count(tally, WHO_AUTHORIZED, OUTCOME_NETWORK, 2);
}

static void assert_near(double got, double wanted)
{
    assert_true(got > wanted - 1e-6 && got < wanted + 1e-6);
}

static void columns(void **state)
{
    struct tally tally = { .ingress = 0 };
    struct bytes json;

    (void)state;
    count_all(&tally);
    json = tally_write(arena, &tally);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_near(number(json, expected[i].name), expected[i].value);
}

/* What was stored and what came since are one sum: averages, too. */
static void stored_is_added_to(void **state)
{
    struct tally tally = { .ingress = 0 };
    struct bytes json;

    (void)state;
    count_all(&tally);
    assert_true(tally_read(arena, tally_write(arena, &tally), &tally));
    json = tally_write(arena, &tally);
    assert_near(number(json, "TotalRequests"), 200);
    assert_near(number(json, "TotalIngress"), 200 * 105);
    assert_near(number(json, "AverageE2ELatency"), 20);
    assert_near(number(json, "AnonymousServerOtherError"), 10);
    assert_near(number(json, "PercentSuccess"), 50);
}

/* "if there are no requests made against storage, the value of the PercentSuccess metric will be zero" */
static void nothing(void **state)
{
    const struct tally none = { .ingress = 0 };
    struct bytes json;

    (void)state;
    json = tally_write(arena, &none);
    assert_near(number(json, "PercentSuccess"), 0);
    assert_near(number(json, "Availability"), 100);
    assert_near(number(json, "AverageE2ELatency"), 0);
}

static void others_are_refused(void **state)
{
    static const char *const texts[] = { "", "{}", "[]", "{\"TotalIngress\":1}" };
    struct tally tally = { .ingress = 1 };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(tally_read(arena, bytes_from_string(texts[i]), &tally));
    assert_int_equal(tally.ingress, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = { TEST(columns), TEST(stored_is_added_to),
                                               TEST(nothing), TEST(others_are_refused) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
