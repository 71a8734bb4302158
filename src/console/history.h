/* Samples of the last hour, and of storage usage over the last week, for the charts of the
 * overview. Stored in memory. Internal to console/. decision: 919 */
#ifndef LAGRA_CONSOLE_HISTORY_H
#define LAGRA_CONSOLE_HISTORY_H

#include "base/metrics.h"
#include "console/console.h"

#define SAMPLE_EVERY_MS     10000u
#define SAMPLES_MAX         360u
/* Storage usage is stored for a week, with a resolution of 15 minutes, from every
 * STORAGE_INTERVAL-th sample. */
#define STORAGE_INTERVAL    90u
#define STORAGE_SAMPLES_MAX 672u

/* Values of a sample; counters are differences from the previous sample. */
enum figure_name {
    SAMPLED_BLOB, /* requests by service, in the order of endpoints */
    SAMPLED_QUEUE,
    SAMPLED_TABLE,
    SAMPLED_FILE,
    SAMPLED_DFS,
    SAMPLED_REFUSED,  /* failed requests */
    SAMPLED_RECEIVED, /* bytes of bodies */
    SAMPLED_SENT,
    SAMPLED_SYNCS,
    SAMPLED_COUNTED, /* number of counters; the values above are counters */
    /* upper bounds of the time to the first byte of a response */
    SAMPLED_MEDIAN_US = SAMPLED_COUNTED,
    SAMPLED_P99_US,
    SAMPLED_CONNECTIONS,
    SAMPLED_DISK_FREE,
    SAMPLED_TASKS,  /* pending deferred tasks */
    SAMPLED_STORED, /* bytes of contents and records */
    SAMPLED_FIGURES,
};

struct sample {
    uint64_t at_s;                      /* Unix time */
    uint64_t of[SAMPLED_FIGURES];       /* counters are totals since the start */
    uint64_t latencies[METRIC_BUCKETS]; /* totals since the start */
};

struct storage_sample {
    uint64_t at_s; /* since 1970 */
    uint64_t stored_bytes, disk_free_bytes;
};

struct history {
    uint64_t due_ms;      /* used by the main thread */
    struct sample before; /* last sample, as measured */
    struct sample samples[SAMPLES_MAX];
    size_t count; /* number of samples since the start */
    size_t added; /* number of calls of history_add() */
    struct storage_sample storage[STORAGE_SAMPLES_MAX];
    size_t storage_count; /* number of storage samples since the start */
};

/* Called on the main thread, like history_measure(). */
bool history_is_due(struct history *history, uint64_t now_ms);
void history_measure(const struct console_options *options, struct sample *ret_sample);
/* The caller holds the console's lock, as for the next two functions. */
void history_add(struct history *history, const struct sample *measured);
/* Writes the members "samples", a list of lists of time and values, and "next". since: number of
 * the first sample to write */
struct json_writer;
void history_write(const struct history *history, struct json_writer *out, uint64_t since);

/* Writes the member "storage", a list of [time, bytes stored, bytes free on the disk]. */
void history_write_storage(const struct history *history, struct json_writer *out);

/* Writes the member "codes", the number of responses per error code since the start. */
void history_write_codes(struct arena *arena, struct json_writer *out);

#endif
