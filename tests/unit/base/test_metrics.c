/* Rule: what threads add to is summed, also of threads that have ended; a scrape shows each family once, in
 * Prometheus' form. base/metrics.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/metrics.h"

#define MILLISECOND 1000000u

static const struct metric_family events = { "test_events_total", "Events.", METRIC_COUNTER };
static const struct metric_family open_now = { "test_open", "Open now.", METRIC_GAUGE };
static const struct metric_family times = { "test_seconds", "Times.", METRIC_HISTOGRAM };

static struct bytes printed(struct arena *arena)
{
    struct text text;

    text_init(&text, arena, 1024);
    metrics_print(&text);
    text_add_char(&text, '\0');
    return text_bytes(&text);
}

static void assert_has(struct bytes page, const char *line)
{
    if (!strstr(page.ptr, line))
        fail_msg("no \"%s\" in\n%.*s", line, BYTES_ARG(page));
}

static size_t count_of(struct bytes page, const char *what)
{
    size_t count = 0;

    for (const char *at = strstr(page.ptr, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

static metric_slot slot_of_threads;

static void *add_a_thousand(void *unused)
{
    for (int i = 0; i < 1000; i++)
        metric_add(slot_of_threads, 1);
    return unused;
}

static void threads_that_end_are_not_forgotten(void **state)
{
    pthread_t threads[8];

    (void)state;
    slot_of_threads = metric_series(&events, "of=\"threads\"");
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < 8; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, add_a_thousand, NULL), 0);
        for (size_t i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(metric_value(slot_of_threads), 8000 * (round + 1));
    }
}

static void the_same_labels_are_the_same_series(void **state)
{
    metric_slot one = metric_series(&events, "a=\"1\"");

    (void)state;
    assert_true(one > 0);
    assert_int_equal(metric_series(&events, "a=\"1\""), one);
    assert_int_not_equal(metric_series(&events, "a=\"2\""), one);
    assert_int_not_equal(metric_series(&open_now, "a=\"1\""), one);
}

static void a_gauge_falls(void **state)
{
    metric_slot slot = metric_series(&open_now, "");
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    metric_add(slot, 3);
    metric_add(slot, -5);
    assert_int_equal(metric_value(slot), -2);
    assert_has(printed(arena), "\ntest_open{} -2\n");
    arena_free(arena);
}

static void buckets_count_what_is_at_most_their_end(void **state)
{
    metric_slot slot = metric_series(&times, "of=\"x\"");
    struct arena *arena = arena_new(1 << 20);
    struct bytes page;

    (void)state;
    metric_observe_ns(slot, 0);
    metric_observe_ns(slot, MILLISECOND / 4);
    metric_observe_ns(slot, MILLISECOND / 4 + 1);
    metric_observe_ns(slot, 60000 * (uint64_t)MILLISECOND);
    page = printed(arena);
    assert_has(page, "# HELP test_seconds Times.\n# TYPE test_seconds histogram\n");
    assert_has(page, "\ntest_seconds_bucket{of=\"x\",le=\"0.00025\"} 2\n");
    assert_has(page, "\ntest_seconds_bucket{of=\"x\",le=\"0.0005\"} 3\n");
    assert_has(page, "\ntest_seconds_bucket{of=\"x\",le=\"30\"} 3\n");
    assert_has(page, "\ntest_seconds_bucket{of=\"x\",le=\"+Inf\"} 4\n");
    assert_has(page, "\ntest_seconds_sum{of=\"x\"} 60.000500001\n");
    assert_has(page, "\ntest_seconds_count{of=\"x\"} 4\n");
    assert_int_equal(count_of(page, "# TYPE test_seconds "), 1);
    arena_free(arena);
}

/* Behind the others: nothing finds room any more. */
static void too_many_series_are_left_out(void **state)
{
    metric_slot last = 1;
    char labels[32];

    (void)state;
    for (unsigned i = 0; last > 0 && i <= METRIC_SLOTS_MAX; i++) {
        snprintf(labels, sizeof labels, "i=\"%u\"", i);
        last = metric_series(&events, labels);
    }
    assert_int_equal(last, 0);
    metric_add(last, 1);
    metric_observe_ns(metric_series(&times, "of=\"late\""), 1);
    assert_int_equal(metric_series(&events, "a=\"1\"") > 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_end_are_not_forgotten),
        cmocka_unit_test(the_same_labels_are_the_same_series),
        cmocka_unit_test(a_gauge_falls),
        cmocka_unit_test(buckets_count_what_is_at_most_their_end),
        cmocka_unit_test(too_many_series_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
