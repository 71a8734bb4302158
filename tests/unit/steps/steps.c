/* A counter that the compiler's calls raise. */
#include "steps.h"

void __sanitizer_cov_trace_pc(void);

static _Thread_local uint64_t steps;

void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

uint64_t steps_now(void)
{
    return steps;
}
