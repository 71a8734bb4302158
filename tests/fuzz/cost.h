/* What a piece of work costs: steps, which are basic blocks of the rooms that are compiled with
 * -fsanitize-coverage=trace-pc, and bytes that are allocated at the same time. Steps depend only on what is done, not on the
 * machine or its load. All threads count. */
#ifndef LAGRA_TESTS_FUZZ_COST_H
#define LAGRA_TESTS_FUZZ_COST_H

#include <stdint.h>

struct cost {
    uint64_t steps;
    int64_t bytes; /* the most that were allocated, beyond what was before */
};

/* Begins to measure. One at a time. */
void cost_begin(void);
/* Returns the cost since cost_begin(). */
struct cost cost_end(void);
/* Returns the number of bytes that are allocated. */
int64_t cost_bytes(void);

#endif
