/* What was sampled: differences of counters, percentiles of what was measured between two samples, an hour at most.
 * console/history.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "console/history.h"

static struct history history;

static int setup(void **state)
{
    (void)state;
    memset(&history, 0, sizeof history);
    return 0;
}

static struct sample sample_at(uint64_t at_s, uint64_t requests)
{
    struct sample sample = { .at_s = at_s };

    sample.of[SAMPLED_BLOB] = requests;
    sample.of[SAMPLED_CONNECTIONS] = 7;
    return sample;
}

static void counters_are_relative_to_the_previous_sample(void **state)
{
    struct sample first = sample_at(100, 1000), second = sample_at(110, 1030);

    (void)state;
    history_add(&history, &first);
    assert_int_equal(history.count, 0);
    history_add(&history, &second);
    assert_int_equal(history.count, 1);
    assert_int_equal(history.samples[0].at_s, 110);
    assert_int_equal(history.samples[0].of[SAMPLED_BLOB], 30);
    assert_int_equal(history.samples[0].of[SAMPLED_CONNECTIONS], 7);
}

static void percentiles_cover_the_last_interval(void **state)
{
    struct sample before = sample_at(100, 0), after = sample_at(110, 0);

    (void)state;
    before.latencies[METRIC_BUCKETS - 1] = 1000000; /* long ago */
    after.latencies[METRIC_BUCKETS - 1] = 1000000;
    after.latencies[0] = 97; /* up to 0.25 ms */
    after.latencies[5] = 3;  /* up to 10 ms */
    history_add(&history, &before);
    history_add(&history, &after);
    assert_int_equal(history.samples[0].of[SAMPLED_MEDIAN_US], 250);
    assert_int_equal(history.samples[0].of[SAMPLED_P99_US], 10000);
    history_add(&history, &after);
    assert_int_equal(history.samples[1].of[SAMPLED_MEDIAN_US], 0);
    after.latencies[METRIC_BUCKETS - 1]++; /* longer than all: the last end that is known */
    history_add(&history, &after);
    assert_int_equal(history.samples[2].of[SAMPLED_MEDIAN_US], 30000000);
}

/* How many samples are written, and the time of the first. */
static size_t count_written(uint64_t since, uint64_t *ret_first)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct json_reader reader;
    struct json_member member;
    struct json_writer out;
    struct text text;
    size_t count = 0;

    text_init(&text, arena, 1024);
    out = (struct json_writer){ .to = &text };
    json_write_begin(&out, '{');
    history_write(&history, &out, since);
    json_write_end(&out, '}');
    json_object_init(&reader, arena, text_bytes(&text), 2);
    while (json_next(&reader, &member)) {
        struct json_reader list;
        struct json_member sample;

        if (!bytes_is(member.name, "samples"))
            continue;
        json_list_init(&list, arena, member.text, 1);
        for (; json_next(&list, &sample); count++) {
            if (count == 0)
                sscanf(sample.text.ptr, "[%lu", ret_first);
        }
        assert_false(list.bad);
    }
    assert_false(reader.bad);
    arena_free(arena);
    return count;
}

static void an_hour_is_retained_and_new_samples_are_returned(void **state)
{
    uint64_t first = 0;

    (void)state;
    assert_int_equal(count_written(0, &first), 0);
    for (uint64_t i = 0; i <= SAMPLES_MAX + 5; i++) {
        struct sample sample = sample_at(1000 + i, i);

        history_add(&history, &sample);
    }
    assert_int_equal(history.count, SAMPLES_MAX + 5);
    assert_int_equal(count_written(0, &first), SAMPLES_MAX);
    assert_int_equal(first, 1006);
    assert_int_equal(count_written(history.count - 2, &first), 2);
    assert_int_equal(first, 1000 + SAMPLES_MAX + 4);
    assert_int_equal(count_written(history.count, &first), 0);
    assert_int_equal(count_written(UINT64_MAX, &first), 0);
}

static void storage_space_is_retained_for_a_week(void **state)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    const uint64_t week = (uint64_t)STORAGE_INTERVAL * STORAGE_SAMPLES_MAX;
    struct json_writer out;
    struct text text;
    size_t lists = 0;

    (void)state;
    for (uint64_t i = 0; i <= week; i++) {
        struct sample sample = sample_at(i, 0);

        sample.of[SAMPLED_STORED] = 2 * i;
        sample.of[SAMPLED_DISK_FREE] = week - i;
        history_add(&history, &sample);
    }
    assert_int_equal(history.storage_count, STORAGE_SAMPLES_MAX + 1);
    text_init(&text, arena, 1024);
    out = (struct json_writer){ .to = &text };
    json_write_begin(&out, '{');
    history_write_storage(&history, &out);
    json_write_end(&out, '}');
    for (size_t i = 0; i < text_bytes(&text).len; i++)
        lists += text_bytes(&text).ptr[i] == '[';
    assert_int_equal(lists, 1 + STORAGE_SAMPLES_MAX);
    /* The first one, of the start, has made room for the last. */
    assert_true(
        bytes_has_prefix(text_bytes(&text), bytes_from_string("{\"storage\":[[90,180,60390],")));
    assert_true(bytes_has_suffix(text_bytes(&text), bytes_from_string(",[60480,120960,0]]}")));
    arena_free(arena);
}

static void a_sample_is_taken_every_ten_seconds(void **state)
{
    (void)state;
    assert_true(history_is_due(&history, 500));
    assert_false(history_is_due(&history, 500 + SAMPLE_EVERY_MS - 1));
    assert_true(history_is_due(&history, 500 + SAMPLE_EVERY_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counters_are_relative_to_the_previous_sample, setup),
        cmocka_unit_test_setup(percentiles_cover_the_last_interval, setup),
        cmocka_unit_test_setup(an_hour_is_retained_and_new_samples_are_returned, setup),
        cmocka_unit_test_setup(storage_space_is_retained_for_a_week, setup),
        cmocka_unit_test_setup(a_sample_is_taken_every_ten_seconds, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
