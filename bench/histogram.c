/* Classes of equal relative width: 32 linear steps within each power of two. */
#include "histogram.h"

#include <stddef.h>

#define STEPS 32u

static size_t class_of(uint64_t value)
{
    unsigned power = 0;

    while (value >> power >= 2u * STEPS)
        power++;
    size_t class = power * STEPS + (size_t)(value >> power);

    return class < HISTOGRAM_CLASSES ? class : HISTOGRAM_CLASSES - 1;
}

static uint64_t top_of(size_t class)
{
    size_t power = class < 2u * STEPS ? 0 : class / STEPS - 1;

    return (uint64_t)(class - power * STEPS) << power;
}

void histogram_add(struct histogram *histogram, uint64_t microseconds)
{
    histogram->counts[class_of(microseconds)]++;
    histogram->total++;
}

uint64_t histogram_quantile(const struct histogram *histogram, double quantile)
{
    uint64_t wanted = (uint64_t)((double)histogram->total * quantile);
    uint64_t seen = 0;

    for (size_t class = 0; class < HISTOGRAM_CLASSES; class ++) {
        seen += histogram->counts[class];
        if (seen > wanted || (seen == histogram->total && seen > 0))
            return top_of(class);
    }
    return 0;
}
