/* Times in microseconds, counted in classes 1/32 wide: quantiles to 3 %. One thread. */
#ifndef LAGRA_BENCH_HISTOGRAM_H
#define LAGRA_BENCH_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_CLASSES 1024

struct histogram {
    uint64_t counts[HISTOGRAM_CLASSES];
    uint64_t total;
};

void histogram_add(struct histogram *histogram, uint64_t microseconds);
/* The time that `quantile` (0..1) of all are at most; 0 when there are none. */
uint64_t histogram_quantile(const struct histogram *histogram, double quantile);

#endif
