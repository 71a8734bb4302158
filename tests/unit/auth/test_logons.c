/* Failed logons: how many an address may have, how they are forgotten, what counts as one address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "auth/logons.h"

#define NOW    (1000 * TICKS_PER_SECOND)
#define SECOND TICKS_PER_SECOND

static const uint8_t v4[16] = { [10] = 0xFF, 0xFF, 192, 0, 2, 1 };
static const uint8_t v4_next[16] = { [10] = 0xFF, 0xFF, 192, 0, 2, 2 };
static const uint8_t v6[16] = { 0x20, 0x01, 0x0D, 0xB8, [7] = 1, [15] = 1 };
static const uint8_t v6_near[16] = { 0x20, 0x01, 0x0D, 0xB8, [7] = 1, [8] = 9, [15] = 2 };
static const uint8_t v6_other[16] = { 0x20, 0x01, 0x0D, 0xB8, [7] = 2, [15] = 1 };

static void fail_often(struct logons *logons, const uint8_t address[16], unsigned times,
                       instant now)
{
    for (unsigned i = 0; i < times; i++)
        logons_failed(logons, address, now);
}

/* Rule: so many at once and no more; a success costs nothing, and others are not concerned. */
static void test_bound(void **state)
{
    struct logons *logons = logons_new();

    (void)state;
    for (unsigned i = 0; i < LOGONS_FAILED_MAX; i++) {
        assert_true(logons_may_try(logons, v4, NOW));
        logons_failed(logons, v4, NOW);
    }
    assert_false(logons_may_try(logons, v4, NOW));
    assert_true(logons_may_try(logons, v4_next, NOW));
    assert_true(logons_may_try(logons, v6, NOW));
    logons_free(logons);
}

/* Rule: one is forgotten in each LOGON_FORGOTTEN_S, and no sooner. */
static void test_forgotten_one_by_one(void **state)
{
    struct logons *logons = logons_new();
    instant now = NOW;

    (void)state;
    fail_often(logons, v4, 3 * LOGONS_FAILED_MAX, now);
    for (unsigned i = 0; i < 10; i++) {
        assert_false(logons_may_try(logons, v4, now + LOGON_FORGOTTEN_S * SECOND - SECOND / 100));
        now += LOGON_FORGOTTEN_S * SECOND;
        assert_true(logons_may_try(logons, v4, now));
        logons_failed(logons, v4, now);
    }
    now += LOGON_FORGOTTEN_S * SECOND * LOGONS_FAILED_MAX;
    fail_often(logons, v4, LOGONS_FAILED_MAX - 1, now);
    assert_true(logons_may_try(logons, v4, now));
    logons_failed(logons, v4, now);
    assert_false(logons_may_try(logons, v4, now));
    logons_free(logons);
}

/* Rule: a clock that is set back forgets nothing at once, and locks nobody out until it has caught up. */
static void test_clock_set_back(void **state)
{
    struct logons *logons = logons_new();
    instant back = NOW - 500 * SECOND;

    (void)state;
    fail_often(logons, v4, LOGONS_FAILED_MAX, NOW);
    assert_false(logons_may_try(logons, v4, back));
    assert_true(logons_may_try(logons, v4, back + LOGON_FORGOTTEN_S * SECOND));
    logons_free(logons);
}

/* Rule: all of an IPv6 network of 64 bits is one address; each of IPv4 is its own. */
static void test_what_is_one_address(void **state)
{
    struct logons *logons = logons_new();

    (void)state;
    fail_often(logons, v6, LOGONS_FAILED_MAX, NOW);
    assert_false(logons_may_try(logons, v6_near, NOW));
    assert_true(logons_may_try(logons, v6_other, NOW));
    logons_free(logons);
}

/* Rule: a crowd of addresses does not make who has failed most be forgotten: the least are. */
static void test_crowd(void **state)
{
    struct logons *logons = logons_new();
    uint8_t address[16] = { 0x20, 0x01 };

    (void)state;
    fail_often(logons, v4, LOGONS_FAILED_MAX, NOW);
    for (uint32_t i = 0; i < 100000; i++) {
        memcpy(address + 2, &i, sizeof i);
        logons_failed(logons, address, NOW);
    }
    assert_false(logons_may_try(logons, v4, NOW));
    logons_free(logons);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),          cmocka_unit_test(test_forgotten_one_by_one),
        cmocka_unit_test(test_clock_set_back), cmocka_unit_test(test_what_is_one_address),
        cmocka_unit_test(test_crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
