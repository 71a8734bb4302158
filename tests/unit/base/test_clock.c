/* The clock and the dates made of it. clock.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Clock invariant 1: it rises strictly. */
static void rises(void **state)
{
    instant last = clock_now();

    (void)state;
    for (int i = 0; i < 100000; i++) {
        instant now = clock_now();

        assert_true(now > last);
        last = now;
    }
}

#define THREADS 4
#define CALLS   20000

struct answers {
    instant at[CALLS];
};

static void *ask(void *argument)
{
    struct answers *answers = argument;

    for (int i = 0; i < CALLS; i++)
        answers->at[i] = clock_now();
    return NULL;
}

static int compare(const void *left, const void *right)
{
    const instant *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* Clock invariant 1, over threads: no two answers are equal, so no two changes have one ETag. */
static void unique_over_threads(void **state)
{
    static struct answers answers[THREADS];
    pthread_t threads[THREADS];
    instant *all = &answers[0].at[0];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &answers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        for (int k = 1; k < CALLS; k++)
            assert_true(answers[i].at[k] > answers[i].at[k - 1]);
    qsort(all, (size_t)THREADS * CALLS, sizeof *all, compare);
    for (size_t i = 1; i < (size_t)THREADS * CALLS; i++)
        assert_true(all[i] != all[i - 1]);
}

#define HOUR  (3600 * TICKS_PER_SECOND)
#define YEARS (10 * 365 * 24 * HOUR)

static bool is_about(instant a, instant b)
{
    return (a > b ? a - b : b - a) < 10 * TICKS_PER_SECOND;
}

/* Clock invariant 3: a wall clock that is a little ahead is caught up with by a sixteenth. */
static void small_steps_are_slewed(void **state)
{
    instant before = clock_now(), after;

    (void)state;
    clock_step_wall(60 * (int64_t)TICKS_PER_SECOND);
    after = clock_now();
    assert_true(after - before < TICKS_PER_SECOND);
    clock_advance(160 * TICKS_PER_SECOND);
    assert_true(is_about(clock_now(), before + 170 * TICKS_PER_SECOND));
    clock_advance(HOUR);
    assert_true(is_about(clock_now(), clock_wall()));
    clock_step_wall(-60 * (int64_t)TICKS_PER_SECOND);
    assert_true(clock_now() > after);
    clock_advance(HOUR);
    assert_true(is_about(clock_now(), clock_wall()));
}

/* Clock invariant 4: a step of an hour is followed at once, and what was to end within a minute is
 * moved with it, once. decision: 42 */
static void large_steps_are_followed(void **state)
{
    const uint64_t minute = 60 * TICKS_PER_SECOND;
    instant before = clock_now();
    instant soon = before + minute / 2, late = before + 2 * minute, past = before - 1;
    instant moved;

    (void)state;
    clock_step_wall((int64_t)HOUR);
    assert_true(is_about(clock_now(), before + HOUR));
    moved = clock_after_steps(soon, minute);
    assert_true(is_about(moved, soon + HOUR));
    assert_true(moved > clock_now());
    assert_true(clock_after_steps(moved, minute) == moved);
    assert_true(clock_after_steps(late, minute) == late);
    assert_true(clock_after_steps(past, minute) == past);

    clock_step_wall((int64_t)HOUR); /* another one: the first is still known */
    assert_true(is_about(clock_now(), before + 2 * HOUR));
    assert_true(is_about(clock_after_steps(soon, minute), soon + 2 * HOUR));
    assert_true(is_about(clock_after_steps(moved, minute), moved + HOUR));
}

/* What has passed, as the threads below saw it. */
static struct {
    instant at, passed;
} seen[THREADS * CALLS];

static void *watch(void *argument)
{
    for (size_t i = *(size_t *)argument; i < THREADS * CALLS; i += THREADS) {
        seen[i].at = clock_now();
        seen[i].passed = clock_without_steps(seen[i].at);
    }
    return NULL;
}

/* Clock invariant 5: without the steps nothing but the time that passed is left, in the order of the
 * answers, and the same whenever it is asked for. decision: 185 */
static void steps_can_be_left_out(void **state)
{
    instant before = clock_now(), passed = clock_without_steps(before), after;
    size_t numbers[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, watch, &numbers[i]), 0);
    }
    for (int i = 0; i < 10; i++) {
        usleep(1000);
        clock_step_wall((int64_t)HOUR);
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    after = clock_now();
    assert_true(is_about(after, before + 10 * HOUR));
    assert_true(is_about(clock_without_steps(after), passed));
    assert_true(clock_with_steps(clock_without_steps(after)) == after);
    assert_true(clock_without_steps(before) == passed);
    qsort(seen, COUNT(seen), sizeof seen[0], compare);
    for (size_t i = 1; i < COUNT(seen); i++) {
        assert_true(seen[i].passed > seen[i - 1].passed);
        assert_true(seen[i].passed == clock_without_steps(seen[i].at));
    }
    clock_advance(5 * TICKS_PER_SECOND); /* idle time is no part of a step */
    clock_step_wall((int64_t)HOUR);
    assert_true(clock_without_steps(clock_now()) - clock_without_steps(after) >=
                5 * TICKS_PER_SECOND);
}

/* A start knows of steps by the note, and takes of one that was pending no more than the clock has moved
 * since. decision: 185 */
static void steps_are_noted(void **state)
{
    struct clock_checkpoint note = clock_checkpoint(clock_now());
    instant passed = clock_without_steps(note.bound);

    (void)state;
    assert_false(clock_is_behind());
    note.steps += HOUR;
    clock_resume(&note);
    assert_true(is_about(clock_without_steps(clock_now()), passed - HOUR));
    note.bound -= 2 * HOUR;
    note.pending = HOUR;
    clock_resume(&note);
    assert_true(is_about(clock_without_steps(clock_now()), passed - 2 * HOUR));
    note.pending = 30 * HOUR;
    clock_resume(&note);
    assert_true(is_about(clock_without_steps(clock_now()), passed - 3 * HOUR));
    clock_step_wall((int64_t)YEARS);
    assert_true(clock_now() > note.bound && clock_is_behind());
    clock_resume(&note); /* of this process: nothing was jumped over */
    assert_true(is_about(clock_without_steps(clock_now()), passed - HOUR));
    clock_step_wall(-(int64_t)YEARS);
    clock_advance(2 * TICKS_PER_SECOND); /* it looks once a second */
    assert_true(clock_now() > note.bound && !clock_is_behind());
}

/* Clock invariants 1, 3 and 4: ten years ahead are not believed, so nothing is left of them when
 * the wall clock is set back. decision: 42 */
static void absurd_steps_are_not_followed(void **state)
{
    instant before = clock_now(), later;

    (void)state;
    clock_step_wall((int64_t)YEARS);
    assert_true(is_about(clock_now(), before));
    assert_true(is_about(clock_after_steps(before + 1000, 60 * TICKS_PER_SECOND), before));
    clock_step_wall(-(int64_t)YEARS);
    later = clock_now();
    assert_true(later > before && is_about(later, clock_wall()));
    clock_step_wall(-(int64_t)HOUR);
    assert_true(clock_now() > later);
    clock_step_wall((int64_t)HOUR);
    assert_true(is_about(clock_now(), clock_wall()));
}

/* Clock invariants 2 and 3: after a floor in the future it goes on from there, a little slower than
 * time; a floor in the past changes nothing. A restart never goes back. */
static void never_before_floor(void **state)
{
    instant now = clock_now(), ahead = now + 3600 * TICKS_PER_SECOND;
    instant wall = clock_wall(), first, later;

    (void)state;
    clock_not_before(now - 1000);
    assert_true(clock_now() > now);
    clock_not_before(ahead);
    first = clock_now();
    assert_true(first > ahead);
    clock_not_before(now);
    usleep(100000);
    later = clock_now();
    assert_true(later - first >= 90 * TICKS_PER_SECOND / 1000); /* it does not stand still, */
    assert_true(clock_wall() - wall >=
                later - first + 5 * TICKS_PER_SECOND / 1000); /* the wall comes nearer */
}

/* Tests drive the clock. */
static void advances(void **state)
{
    instant before = clock_now();

    (void)state;
    clock_advance(7200 * TICKS_PER_SECOND);
    assert_true(clock_now() >= before + 3500 * TICKS_PER_SECOND);
}

/* An ETag of the real service is the ticks in hexadecimal, and Last-Modified the same instant in
 * seconds: 0x8D6F09A5FB68B8D was sent with "Fri, 14 Jun 2019 07:31:54 GMT". */
static void etag_ticks(void **state)
{
    char buffer[INSTANT_HTTP_SIZE];

    (void)state;
    instant_format_http(0x8D6F09A5FB68B8D, buffer);
    assert_string_equal(buffer, "Fri, 14 Jun 2019 07:31:54 GMT");
}

static const struct {
    instant at;
    const char *http;
    const char *iso;
} dates[] = {
    { 0, "Mon, 01 Jan 0001 00:00:00 GMT", "0001-01-01T00:00:00.0000000Z" },
    { INSTANT_UNIX_EPOCH, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00.0000000Z" },
    { INSTANT_UNIX_EPOCH + 784111777 * TICKS_PER_SECOND, "Sun, 06 Nov 1994 08:49:37 GMT",
      "1994-11-06T08:49:37.0000000Z" },
    { INSTANT_UNIX_EPOCH + 951782400 * TICKS_PER_SECOND + 1, "Tue, 29 Feb 2000 00:00:00 GMT",
      "2000-02-29T00:00:00.0000001Z" },
    { INSTANT_UNIX_EPOCH + 1557364757 * TICKS_PER_SECOND + 1234567, "Thu, 09 May 2019 01:19:17 GMT",
      "2019-05-09T01:19:17.1234567Z" },
    { INSTANT_UNIX_EPOCH + 4107542399 * TICKS_PER_SECOND + 9999999, "Sun, 28 Feb 2100 23:59:59 GMT",
      "2100-02-28T23:59:59.9999999Z" },
    { INSTANT_UNIX_EPOCH + 4107542400 * TICKS_PER_SECOND, "Mon, 01 Mar 2100 00:00:00 GMT",
      "2100-03-01T00:00:00.0000000Z" },
    { 3155378975999999999, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59.9999999Z" },
};

/* Dates are written as rfc: 9110 5.6.7 and ISO 8601 say, and read back to what they said. */
static void dates_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(dates); i++) {
        char http[INSTANT_HTTP_SIZE], iso[INSTANT_ISO_SIZE];
        instant read;

        instant_format_http(dates[i].at, http);
        assert_string_equal(http, dates[i].http);
        instant_format_iso(dates[i].at, iso);
        assert_string_equal(iso, dates[i].iso);
        assert_true(instant_parse_http(bytes_from_string(http), &read));
        assert_true(read == dates[i].at - dates[i].at % TICKS_PER_SECOND);
        assert_true(instant_parse_iso(bytes_from_string(iso), &read));
        assert_true(read == dates[i].at);
    }
}

/* Every day of 400 years and more comes back. */
static void every_day(void **state)
{
    (void)state;
    for (uint64_t day = 700000; day < 700000 + 147000; day++) {
        instant at = day * 86400 * TICKS_PER_SECOND, read = 0;
        char iso[INSTANT_ISO_SIZE];

        instant_format_iso(at, iso);
        assert_true(instant_parse_iso(bytes_from_string(iso), &read));
        assert_true(read == at);
    }
}

/* The two older forms of HTTP dates are read. rfc: 9110 5.6.7 */
static void older_http_dates(void **state)
{
    instant expected = INSTANT_UNIX_EPOCH + 784111777 * TICKS_PER_SECOND, read = 0;

    (void)state;
    assert_true(instant_parse_http(bytes_from_string("Sunday, 06-Nov-94 08:49:37 GMT"), &read));
    assert_true(read == expected);
    read = 0;
    assert_true(instant_parse_http(bytes_from_string("Sun Nov  6 08:49:37 1994"), &read));
    assert_true(read == expected);
    assert_true(instant_parse_http(bytes_from_string("Wed Nov 16 08:49:37 1994"), &read));
    assert_true(read == expected + 10 * 86400 * TICKS_PER_SECOND);
}

/* A leap second may be said; it is the second before it: the clock has none. rfc: 9110 5.6.7 */
static void leap_seconds(void **state)
{
    instant leap = 0, before = 1;

    (void)state;
    assert_true(instant_parse_http(bytes_from_string("Sat, 31 Dec 2016 23:59:60 GMT"), &leap));
    assert_true(instant_parse_http(bytes_from_string("Sat, 31 Dec 2016 23:59:59 GMT"), &before));
    assert_true(leap == before);
    assert_false(instant_parse_http(bytes_from_string("Sat, 31 Dec 2016 23:59:61 GMT"), &leap));
}

/* What is no date is refused, and the output stays as it was. */
static void bad_http_dates(void **state)
{
    static const char *const bad[] = {
        "",
        "Sun",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Wed, 29 Feb 1995 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Xun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 -8:49:37 GMT",
        "1994-11-06T08:49:37Z",
        "Sun Nov 6 08:49:37 1994",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        instant read = 42;

        if (instant_parse_http(bytes_from_string(bad[i]), &read))
            fail_msg("taken: %s", bad[i]);
        assert_true(read == 42);
    }
}

/* Dates of SAS and of policies may be short. rest: Create-Service-SAS, "Specifying the access
 * policy" */
static void iso_forms(void **state)
{
    static const struct {
        const char *text;
        instant at;
    } forms[] = {
        { "2019-05-09", INSTANT_UNIX_EPOCH + 1557360000 * TICKS_PER_SECOND },
        { "2019-05-09T01:19Z", INSTANT_UNIX_EPOCH + 1557364740 * TICKS_PER_SECOND },
        { "2019-05-09T01:19:17Z", INSTANT_UNIX_EPOCH + 1557364757 * TICKS_PER_SECOND },
        { "2019-05-09T01:19:17.5Z", INSTANT_UNIX_EPOCH + 1557364757 * TICKS_PER_SECOND + 5000000 },
        { "2019-05-09T01:19:17.000001Z", INSTANT_UNIX_EPOCH + 1557364757 * TICKS_PER_SECOND + 10 },
    };
    static const char *const bad[] = {
        "",
        "2019",
        "2019-05",
        "2019-05-09T",
        "2019-05-09T01Z",
        "2019-05-09T01:19",
        "2019-05-09T01:19:17",
        "2019-05-09T01:19:17.Z",
        "2019-05-09T01:19:17.12345678Z",
        "2019-05-09T24:00:00Z",
        "2019-05-09T01:60:00Z",
        "2019-05-09T01:19:60Z",
        "2019-13-01",
        "2019-02-29",
        "2019-00-01",
        "2019-01-00",
        "2019-1-1",
        "0000-01-01",
        "2019-05-09t01:19:17z",
        "2019-05-09T01:19:17Zx",
        " 2019-05-09",
        "2019-05-09T01:19:17+00:00",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(forms); i++) {
        instant read = 0;

        assert_true(instant_parse_iso(bytes_from_string(forms[i].text), &read));
        assert_true(read == forms[i].at);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        instant read = 42;

        if (instant_parse_iso(bytes_from_string(bad[i]), &read))
            fail_msg("taken: %s", bad[i]);
        assert_true(read == 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rises),
        cmocka_unit_test(unique_over_threads),
        cmocka_unit_test(small_steps_are_slewed),
        cmocka_unit_test(large_steps_are_followed),
        cmocka_unit_test(steps_can_be_left_out),
        cmocka_unit_test(steps_are_noted),
        cmocka_unit_test(absurd_steps_are_not_followed),
        cmocka_unit_test(never_before_floor),
        cmocka_unit_test(advances),
        cmocka_unit_test(etag_ticks),
        cmocka_unit_test(dates_both_ways),
        cmocka_unit_test(every_day),
        cmocka_unit_test(older_http_dates),
        cmocka_unit_test(leap_seconds),
        cmocka_unit_test(bad_http_dates),
        cmocka_unit_test(iso_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
