/* Samples of the last hour, and of the storage space in use over the last week, for the charts of the overview. They are
 * held in memory. Internal to console/. decision: 919 */
#ifndef LAGRA_CONSOLE_HISTORY_H
#define LAGRA_CONSOLE_HISTORY_H

#include "base/metrics.h"
#include "console/console.h"

#define SAMPLE_EVERY_MS     10000u
#define SAMPLES_MAX         360u
/* Storage space is sampled every 15 minutes, for a week: one of STORAGE_INTERVAL samples. */
#define STORAGE_INTERVAL    90u
#define STORAGE_SAMPLES_MAX 672u

/* Of the time since the sample before it. */
enum figure_name {
    SAMPLED_BLOB, /* requests answered, by service in the order of endpoints */
    SAMPLED_QUEUE,
    SAMPLED_TABLE,
    SAMPLED_FILE,
    SAMPLED_REFUSED,  /* of them, those that were answered an error */
    SAMPLED_RECEIVED, /* bytes of bodies */
    SAMPLED_SENT,
    SAMPLED_SYNCS,
    SAMPLED_COUNTED,                     /* those above are counters */
    SAMPLED_MEDIAN_US = SAMPLED_COUNTED, /* until the first byte of an answer: so long at most */
    SAMPLED_P99_US,
    SAMPLED_CONNECTIONS,
    SAMPLED_DISK_FREE,
    SAMPLED_TASKS,  /* deferred tasks that are left */
    SAMPLED_STORED, /* bytes of contents and records */
    SAMPLED_FIGURES,
};

struct sample {
    uint64_t at_s;                      /* since 1970 */
    uint64_t of[SAMPLED_FIGURES];       /* counters: since the start */
    uint64_t latencies[METRIC_BUCKETS]; /* the same */
};

struct storage_sample {
    uint64_t at_s; /* since 1970 */
    uint64_t stored_bytes, disk_free_bytes;
};

struct history {
    uint64_t due_ms;      /* of the main thread */
    struct sample before; /* as it was measured */
    struct sample samples[SAMPLES_MAX];
    size_t count; /* of all that there ever were */
    size_t added; /* calls of history_add() */
    struct storage_sample storage[STORAGE_SAMPLES_MAX];
    size_t storage_count; /* samples added since the start */
};

/* Main thread. */
bool history_is_due(struct history *history, uint64_t now_ms);
void history_measure(const struct console_options *options, struct sample *ret_sample);
/* The caller holds the console's lock, as for what follows. */
void history_add(struct history *history, const struct sample *measured);
/* The member "samples", a list of lists: time and figures. since: of samples whose number is that or above; *ret_next is
 * that of the next one. */
struct json_writer;
void history_write(const struct history *history, struct json_writer *out, uint64_t since);

/* Writes the member "storage", a list of [time, bytes stored, bytes free on the disk]. */
void history_write_storage(const struct history *history, struct json_writer *out);

/* The member "codes": how often which error was answered since the start. */
void history_write_codes(struct arena *arena, struct json_writer *out);

#endif
