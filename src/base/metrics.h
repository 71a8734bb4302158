/* Metrics: numbers that threads add to and a scrape reads, without a lock or a shared cache line among those
 * who add. In Prometheus' form. source: prometheus.io/docs/instrumenting/exposition_formats
 *
 * (1) A family is a static struct of one name and kind; a series is one set of labels of it, and has a slot
 *     (a histogram several, one after the other) for as long as the process lives.
 * (2) Each thread adds in a block of its own. One that a thread has left keeps its numbers and is given to
 *     the next thread, so nothing counted is forgotten.
 * (3) A scrape sums the blocks. It may see a request in one series and not yet in another; no counter goes
 *     back.
 * Labels are made of names of our own (services, operations, codes), never of what clients send: their
 * number is bounded by the program. Any thread. */
#ifndef LAGRA_BASE_METRICS_H
#define LAGRA_BASE_METRICS_H

#include "base/arena.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_family {
    const char *name; /* "lagra_requests_total" */
    const char *help;
    enum metric_kind kind;
};

/* Series beyond METRIC_SLOTS_MAX slots are counted in slot 0, which nothing shows. */
#define METRIC_SLOTS_MAX 16384u
typedef uint16_t metric_slot;

/* The slot of a series, which is made if it is new: takes a lock and looks at all there are, so callers keep it.
 * family: static. labels: "a=\"b\",c=\"d\"", or ""; copied. */
metric_slot metric_series(const struct metric_family *family, const char *labels);

/* Adds to a counter, or to a gauge, where the number may be less than 0. */
void metric_add(metric_slot slot, int64_t number);
/* Of a histogram: something took so long, by clock_monotonic_ns(). */
void metric_observe_ns(metric_slot slot, uint64_t duration_ns);

/* The sum over all threads. */
int64_t metric_value(metric_slot slot);
/* The sum of all series of the family of this name whose labels begin so. */
int64_t metric_sum(const char *family, const char *labels);
/* Calls `found` for each series of the family of this name, under a lock: it calls nothing of here. */
void metric_each(const char *family,
                 void (*found)(const char *labels, int64_t value, void *context), void *context);

/* How often a histogram has observed what, over all its series: of each bucket, the last one of what took longer than
 * all. */
#define METRIC_BUCKETS 17u
void metric_sum_buckets(const char *family, uint64_t ret_counts[METRIC_BUCKETS]);
/* Upper end of a bucket; of the last one UINT64_MAX. */
uint64_t metric_bucket_ns(unsigned bucket);
/* All families and their series, in the order in which they were made. */
void metrics_print(struct text *to);
/* What was measured just now and is in no slot: a family of one series without labels. */
void metric_print_value(struct text *to, const struct metric_family *family, double value);

#endif
