/* Per-thread counters, which a scrape adds up: see metrics.h. */
#include "base/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"

/* A page of slots is allocated when its thread first adds to one of them, because most threads use
 * few slots. */
#define PAGE_SLOTS   512u
#define PAGES        (METRIC_SLOTS_MAX / PAGE_SLOTS)
#define SERIES_MAX   8192u
#define FAMILIES_MAX 64u

/* Upper ends of the buckets of histograms. */
static const struct {
    uint64_t ns;
    const char *text; /* seconds */
} buckets[] = {
    { 250000, "0.00025" },  { 500000, "0.0005" },  { 1000000, "0.001" },   { 2500000, "0.0025" },
    { 5000000, "0.005" },   { 10000000, "0.01" },  { 25000000, "0.025" },  { 50000000, "0.05" },
    { 100000000, "0.1" },   { 250000000, "0.25" }, { 500000000, "0.5" },   { 1000000000, "1" },
    { 2500000000u, "2.5" }, { 5000000000u, "5" },  { 10000000000u, "10" }, { 30000000000u, "30" },
};
#define BUCKETS         (sizeof buckets / sizeof buckets[0])
/* One slot per bucket, one for durations above the last bucket (+Inf), and one for the sum in
 * ns. */
#define HISTOGRAM_SLOTS (BUCKETS + 2)
#define SUM_SLOT        (BUCKETS + 1)
_Static_assert(METRIC_BUCKETS == BUCKETS + 1, "METRIC_BUCKETS includes the bucket +Inf");

struct page {
    _Atomic int64_t of[PAGE_SLOTS]; /* written only by the block's thread */
};

struct block {
    struct block *next; /* in the list of all blocks; constant once listed */
    bool is_left;       /* under lock; its thread has ended */
    _Atomic(struct page *) pages[PAGES];
};

struct series {
    const struct metric_family *family;
    char *labels;
    metric_slot slot;
};

static struct {
    struct lock lock;
    struct block *blocks; /* under lock, like the following members */
    struct series series[SERIES_MAX];
    size_t count;
    const struct metric_family *families[FAMILIES_MAX];
    size_t family_count;
    /* number of used slots; slot 0 is shared by series without a slot of their own */
    unsigned slots;
    pthread_key_t key;
} all = { .slots = 1 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct block *mine;

/* ---- blocks ---- */

static void leave_block(void *block)
{
    lock_acquire(&all.lock);
    ((struct block *)block)->is_left = true;
    lock_release(&all.lock);
}

static void start(void)
{
    lock_init(&all.lock, RANK_METRICS);
    if (pthread_key_create(&all.key, leave_block) != 0)
        abort();
}

static struct block *take_block(void)
{
    struct block *block;

    pthread_once(&once, start);
    lock_acquire(&all.lock);
    block = all.blocks;
    while (block && !block->is_left)
        block = block->next;
    if (block) {
        block->is_left = false;
    } else {
        block = xcalloc(1, sizeof *block);
        block->next = all.blocks;
        all.blocks = block;
    }
    lock_release(&all.lock);
    pthread_setspecific(all.key, block);
    mine = block;
    return block;
}

static _Atomic int64_t *own_slot(unsigned slot)
{
    struct block *block = mine ? mine : take_block();
    _Atomic(struct page *) *page = &block->pages[slot / PAGE_SLOTS];
    struct page *there = atomic_load_explicit(page, memory_order_relaxed);

    assert(slot < METRIC_SLOTS_MAX);
    if (!there) {
        there = xcalloc(1, sizeof *there);
        atomic_store_explicit(page, there, memory_order_release);
    }
    return &there->of[slot % PAGE_SLOTS];
}

/* ---- adding ---- */

static void add_to(unsigned slot, int64_t number)
{
    _Atomic int64_t *own = own_slot(slot);

    atomic_store_explicit(own, atomic_load_explicit(own, memory_order_relaxed) + number,
                          memory_order_relaxed);
}

void metric_add(metric_slot slot, int64_t number)
{
    add_to(slot, number);
}

void metric_observe_ns(metric_slot slot, uint64_t duration_ns)
{
    unsigned i = 0;

    if (slot == 0)
        return;
    while (i < BUCKETS && duration_ns > buckets[i].ns)
        i++;
    add_to(slot + i, 1);
    add_to(slot + SUM_SLOT, (int64_t)duration_ns);
}

/* ---- series ---- */

/* Adds a family unless it is known. Caller holds the lock. Returns false if there are too many
 * families. */
static bool know_family(const struct metric_family *family)
{
    for (size_t i = 0; i < all.family_count; i++) {
        if (all.families[i] == family)
            return true;
    }
    if (all.family_count == FAMILIES_MAX)
        return false;
    all.families[all.family_count++] = family;
    return true;
}

/* Returns the slot of a series, or 0 if it does not exist. Caller holds the lock. */
static metric_slot find_series(const struct metric_family *family, const char *labels)
{
    for (size_t i = 0; i < all.count; i++) {
        if (all.series[i].family == family && strcmp(all.series[i].labels, labels) == 0)
            return all.series[i].slot;
    }
    return 0;
}

metric_slot metric_series(const struct metric_family *family, const char *labels)
{
    unsigned wanted = family->kind == METRIC_HISTOGRAM ? HISTOGRAM_SLOTS : 1;
    metric_slot slot;

    pthread_once(&once, start);
    lock_acquire(&all.lock);
    slot = find_series(family, labels);
    if (slot == 0 && all.slots + wanted <= METRIC_SLOTS_MAX && all.count < SERIES_MAX &&
        know_family(family)) {
        slot = (metric_slot)all.slots;
        all.slots += wanted;
        all.series[all.count++] = (struct series){ family, xstrdup(labels), slot };
    }
    lock_release(&all.lock);
    return slot;
}

/* Returns the sum of a slot over all blocks. Caller holds the lock. */
static int64_t sum_of(unsigned slot)
{
    int64_t sum = 0;

    lock_assert_held(&all.lock);
    for (struct block *block = all.blocks; block; block = block->next) {
        struct page *page =
            atomic_load_explicit(&block->pages[slot / PAGE_SLOTS], memory_order_acquire);

        if (page)
            sum += atomic_load_explicit(&page->of[slot % PAGE_SLOTS], memory_order_relaxed);
    }
    return sum;
}

int64_t metric_value(metric_slot slot)
{
    int64_t sum;

    pthread_once(&once, start);
    lock_acquire(&all.lock);
    sum = sum_of(slot);
    lock_release(&all.lock);
    return sum;
}

int64_t metric_sum(const char *family, const char *labels)
{
    int64_t sum = 0;

    pthread_once(&once, start);
    lock_acquire(&all.lock);
    for (size_t i = 0; i < all.count; i++) {
        const struct series *series = &all.series[i];

        if (strcmp(series->family->name, family) == 0 &&
            strncmp(series->labels, labels, strlen(labels)) == 0)
            sum += sum_of(series->slot);
    }
    lock_release(&all.lock);
    return sum;
}

void metric_each(const char *family,
                 void (*found)(const char *labels, int64_t value, void *context), void *context)
{
    pthread_once(&once, start);
    lock_acquire(&all.lock);
    for (size_t i = 0; i < all.count; i++) {
        const struct series *series = &all.series[i];

        if (strcmp(series->family->name, family) == 0)
            found(series->labels, sum_of(series->slot), context);
    }
    lock_release(&all.lock);
}

void metric_sum_buckets(const char *family, uint64_t ret_counts[METRIC_BUCKETS])
{
    memset(ret_counts, 0, METRIC_BUCKETS * sizeof ret_counts[0]);
    pthread_once(&once, start);
    lock_acquire(&all.lock);
    for (size_t i = 0; i < all.count; i++) {
        const struct series *series = &all.series[i];

        if (strcmp(series->family->name, family) != 0)
            continue;
        assert(series->family->kind == METRIC_HISTOGRAM);
        for (unsigned k = 0; k < METRIC_BUCKETS; k++)
            ret_counts[k] += (uint64_t)sum_of(series->slot + k);
    }
    lock_release(&all.lock);
}

uint64_t metric_bucket_ns(unsigned bucket)
{
    return bucket < BUCKETS ? buckets[bucket].ns : UINT64_MAX;
}

/* ---- Prometheus text format ---- */

static void print_head(struct text *to, const struct metric_family *family)
{
    static const char *const kinds[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"
    };

    text_printf(to, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
                kinds[family->kind]);
}

static void print_histogram(struct text *to, const struct series *series)
{
    const char *name = series->family->name;
    const char *comma = series->labels[0] ? "," : "";
    int64_t count = 0, sum_ns = sum_of(series->slot + SUM_SLOT);

    for (unsigned i = 0; i <= BUCKETS; i++) {
        count += sum_of(series->slot + i);
        text_printf(to, "%s_bucket{%s%sle=\"%s\"} %" PRId64 "\n", name, series->labels, comma,
                    i < BUCKETS ? buckets[i].text : "+Inf", count);
    }
    text_printf(to, "%s_sum{%s} %" PRId64 ".%09" PRId64 "\n", name, series->labels,
                sum_ns / 1000000000, sum_ns % 1000000000);
    text_printf(to, "%s_count{%s} %" PRId64 "\n", name, series->labels, count);
}

static void print_family(struct text *to, const struct metric_family *family)
{
    print_head(to, family);
    for (size_t i = 0; i < all.count; i++) {
        const struct series *series = &all.series[i];

        if (series->family != family)
            continue;
        if (family->kind == METRIC_HISTOGRAM)
            print_histogram(to, series);
        else
            text_printf(to, "%s{%s} %" PRId64 "\n", family->name, series->labels,
                        sum_of(series->slot));
    }
}

void metrics_print(struct text *to)
{
    pthread_once(&once, start);
    lock_acquire(&all.lock);
    for (size_t i = 0; i < all.family_count; i++)
        print_family(to, all.families[i]);
    lock_release(&all.lock);
}

void metric_print_value(struct text *to, const struct metric_family *family, double value)
{
    print_head(to, family);
    text_printf(to, "%s %.17g\n", family->name, value);
}
