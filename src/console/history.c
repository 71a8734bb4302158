/* See history.h. */
#include "console/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"

static const char *const figure_names[SAMPLED_FIGURES] = {
    [SAMPLED_BLOB] = "blob",
    [SAMPLED_QUEUE] = "queue",
    [SAMPLED_TABLE] = "table",
    [SAMPLED_FILE] = "file",
    [SAMPLED_DFS] = "dfs",
    [SAMPLED_REFUSED] = "refused",
    [SAMPLED_RECEIVED] = "received",
    [SAMPLED_SENT] = "sent",
    [SAMPLED_SYNCS] = "syncs",
    [SAMPLED_MEDIAN_US] = "medianMicroseconds",
    [SAMPLED_P99_US] = "p99Microseconds",
    [SAMPLED_CONNECTIONS] = "connections",
    [SAMPLED_DISK_FREE] = "diskFree",
    [SAMPLED_TASKS] = "tasks",
    [SAMPLED_STORED] = "stored",
};

bool history_is_due(struct history *history, uint64_t now_ms)
{
    if (now_ms < history->due_ms)
        return false;
    history->due_ms = now_ms + SAMPLE_EVERY_MS;
    return true;
}

/* ---- measuring ---- */

static uint64_t sum_of(const char *family, const char *labels)
{
    int64_t sum = metric_sum(family, labels);

    return sum > 0 ? (uint64_t)sum : 0;
}

/* Returns the value of the label "code", which must be last. */
static struct bytes code_of(const char *labels)
{
    static const char begin[] = "code=\"";
    const char *at = strstr(labels, begin);

    if (!at)
        return bytes_of(NULL, 0);
    at += sizeof begin - 1;
    return bytes_of(at, strcspn(at, "\""));
}

static void add_refused(const char *labels, int64_t value, void *context)
{
    if (!bytes_is(code_of(labels), "Success"))
        *(uint64_t *)context += (uint64_t)value;
}

static uint64_t count_connections(const struct console_options *options)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < options->endpoints->count; i++) {
        int count;

        for (unsigned k = 0;
             options->servers[i] && (count = http_worker_connections(options->servers[i], k)) >= 0;
             k++)
            sum += (uint64_t)count;
    }
    return sum;
}

void history_measure(const struct console_options *options, struct sample *ret_sample)
{
    struct sample sample = { .at_s = (uint64_t)time(NULL) };
    uint64_t syncs[METRIC_BUCKETS];
    struct store_figures store;

    for (unsigned i = SAMPLED_BLOB; i <= SAMPLED_DFS && i < options->endpoints->count; i++) {
        char labels[64];

        snprintf(labels, sizeof labels, "service=\"%s\"",
                 options->endpoints->endpoints[i].service->name);
        sample.of[i] = sum_of("lagra_requests_total", labels);
    }
    metric_each("lagra_requests_total", add_refused, &sample.of[SAMPLED_REFUSED]);
    sample.of[SAMPLED_RECEIVED] = sum_of("lagra_request_body_bytes_total", "");
    sample.of[SAMPLED_SENT] = sum_of("lagra_response_body_bytes_total", "");
    metric_sum_buckets("lagra_store_sync_seconds", syncs);
    for (unsigned i = 0; i < METRIC_BUCKETS; i++)
        sample.of[SAMPLED_SYNCS] += syncs[i];
    metric_sum_buckets("lagra_request_first_byte_seconds", sample.latencies);
    sample.of[SAMPLED_CONNECTIONS] = count_connections(options);
    if (store_figures(options->store, &store)) {
        sample.of[SAMPLED_DISK_FREE] = store.disk_free_bytes;
        sample.of[SAMPLED_STORED] =
            store.piece_bytes + store.record_bytes + store.memory_table_bytes;
    }
    sample.of[SAMPLED_TASKS] = sum_of("lagra_tasks_left", "");
    *ret_sample = sample;
}

/* ---- storing samples ---- */

/* Returns the upper bound of the bucket that contains the given percentile, or 0 if there are no
 * samples. */
static uint64_t percentile_us(const uint64_t counts[METRIC_BUCKETS], uint64_t percent)
{
    uint64_t total = 0, sum = 0;
    unsigned i = 0;

    for (unsigned k = 0; k < METRIC_BUCKETS; k++)
        total += counts[k];
    if (total == 0)
        return 0;
    while (i < METRIC_BUCKETS - 1 && (sum += counts[i]) * 100 < total * percent)
        i++;
    /* Values above the last bucket are reported as its lower bound. */
    return metric_bucket_ns(i < METRIC_BUCKETS - 1 ? i : METRIC_BUCKETS - 2) / 1000;
}

static void add_storage(struct history *history, const struct sample *measured)
{
    history->storage[history->storage_count++ % STORAGE_SAMPLES_MAX] = (struct storage_sample){
        .at_s = measured->at_s,
        .stored_bytes = measured->of[SAMPLED_STORED],
        .disk_free_bytes = measured->of[SAMPLED_DISK_FREE],
    };
}

void history_add(struct history *history, const struct sample *measured)
{
    struct sample *sample = &history->samples[history->count % SAMPLES_MAX];
    bool is_first = history->before.at_s == 0;

    if (history->added++ % STORAGE_INTERVAL == 0)
        add_storage(history, measured);
    *sample = *measured;
    for (unsigned i = 0; i < SAMPLED_COUNTED; i++)
        sample->of[i] -= history->before.of[i];
    for (unsigned i = 0; i < METRIC_BUCKETS; i++)
        sample->latencies[i] -= history->before.latencies[i];
    sample->of[SAMPLED_MEDIAN_US] = percentile_us(sample->latencies, 50);
    sample->of[SAMPLED_P99_US] = percentile_us(sample->latencies, 99);
    history->before = *measured;
    if (!is_first) /* the first sample is only the basis of differences */
        history->count++;
}

void history_write(const struct history *history, struct json_writer *out, uint64_t since)
{
    size_t first = history->count > SAMPLES_MAX ? history->count - SAMPLES_MAX : 0;

    json_write_number(out, "everySeconds", SAMPLE_EVERY_MS / 1000);
    json_write_number(out, "next", history->count);
    json_write_name(out, "figures");
    json_write_begin(out, '[');
    for (unsigned i = 0; i < SAMPLED_FIGURES; i++)
        text_printf(out->to, "%s\"%s\"", i > 0 ? "," : "", figure_names[i]);
    json_write_end(out, ']');
    json_write_name(out, "samples");
    json_write_begin(out, '[');
    if (since > first)
        first = since < history->count ? (size_t)since : history->count;
    for (size_t i = first; i < history->count; i++) {
        const struct sample *sample = &history->samples[i % SAMPLES_MAX];

        text_printf(out->to, "%s[%" PRIu64, i > first ? "," : "", sample->at_s);
        for (unsigned k = 0; k < SAMPLED_FIGURES; k++)
            text_printf(out->to, ",%" PRIu64, sample->of[k]);
        text_add_char(out->to, ']');
    }
    json_write_end(out, ']');
}

void history_write_storage(const struct history *history, struct json_writer *out)
{
    size_t count = history->storage_count;
    size_t first = count > STORAGE_SAMPLES_MAX ? count - STORAGE_SAMPLES_MAX : 0;

    json_write_name(out, "storage");
    json_write_begin(out, '[');
    for (size_t i = first; i < count; i++) {
        const struct storage_sample *sample = &history->storage[i % STORAGE_SAMPLES_MAX];

        text_printf(out->to, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i > first ? "," : "",
                    sample->at_s, sample->stored_bytes, sample->disk_free_bytes);
    }
    json_write_end(out, ']');
}

/* ---- errors ---- */

struct codes {
    size_t count;
    struct {
        struct bytes name;
        uint64_t count;
    } of[ERROR_COUNT + 2]; /* one per error code, plus "Success" and "cut" (connection dropped) */
};

static void add_code(const char *labels, int64_t value, void *context)
{
    struct codes *codes = context;
    struct bytes name = code_of(labels);
    size_t i = 0;

    while (i < codes->count && !bytes_equal(codes->of[i].name, name))
        i++;
    if (!name.ptr || i == sizeof codes->of / sizeof codes->of[0])
        return;
    if (i == codes->count) {
        codes->count++;
        codes->of[i].name = name; /* labels are valid for the lifetime of the process */
    }
    codes->of[i].count += (uint64_t)value;
}

void history_write_codes(struct arena *arena, struct json_writer *out)
{
    struct codes *codes = arena_alloc(arena, sizeof *codes);

    metric_each("lagra_requests_total", add_code, codes);
    json_write_name(out, "codes");
    json_write_begin(out, '[');
    for (size_t i = 0; i < codes->count; i++) {
        if (codes->of[i].count == 0)
            continue;
        json_write_begin(out, '{');
        json_write_member(out, "code", codes->of[i].name);
        json_write_number(out, "count", codes->of[i].count);
        json_write_end(out, '}');
    }
    json_write_end(out, ']');
}
