/* Metrics: counters that threads update and a scrape reads; updates take no lock and share no cache
 * line. Exposed in Prometheus' format. source: prometheus.io/docs/instrumenting/exposition_formats
 *
 * (1) A family is a static struct with a name and kind. A series is a family with one set of
 *     labels; it has a slot (a histogram has several consecutive slots) for the lifetime of the
 *     process.
 * (2) Each thread updates its own block. When a thread ends, its block retains its numbers and is
 *     reused by the next new thread, so no count is lost.
 * (3) A scrape sums the blocks. It may include a request in one series and not yet in another, but
 *     no counter ever decreases.
 *
 * Labels consist of the server's own names (services, operations, codes), never of client input, so
 * their number is bounded. Thread-safe. */
#ifndef LAGRA_BASE_METRICS_H
#define LAGRA_BASE_METRICS_H

#include "base/arena.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_family {
    const char *name; /* "lagra_requests_total" */
    const char *help;
    enum metric_kind kind;
};

/* Series beyond METRIC_SLOTS_MAX slots are counted in slot 0, which is never shown. */
#define METRIC_SLOTS_MAX 16384u
typedef uint16_t metric_slot;

/* Returns the slot of a series, creating it if new. Takes a lock and searches all series, so
 * callers save the result. family: static. labels: "a=\"b\",c=\"d\"", or ""; copied. */
metric_slot metric_series(const struct metric_family *family, const char *labels);

/* Adds to a counter or a gauge; for a gauge, the number may be negative. */
void metric_add(metric_slot slot, int64_t number);
/* Adds a duration to a histogram. */
void metric_observe_ns(metric_slot slot, uint64_t duration_ns);

/* Returns the sum over all threads. */
int64_t metric_value(metric_slot slot);
/* Returns the sum of all series of the named family whose labels have the given prefix. */
int64_t metric_sum(const char *family, const char *labels);
/* Calls `found` for each series of the named family, with the lock held, so it must not call
 * functions of this module. */
void metric_each(const char *family,
                 void (*found)(const char *labels, int64_t value, void *context), void *context);

/* Returns the counts per bucket of a histogram, over all its series. The last bucket counts longer
 * durations. */
#define METRIC_BUCKETS 17u
void metric_sum_buckets(const char *family, uint64_t ret_counts[METRIC_BUCKETS]);
/* Returns the upper bound of a bucket; UINT64_MAX for the last one. */
uint64_t metric_bucket_ns(unsigned bucket);
/* Prints all families and their series in the order of creation. */
void metrics_print(struct text *to);
/* Prints a value that has no slot, as a family with one series without labels. */
void metric_print_value(struct text *to, const struct metric_family *family, double value);

#endif
