/* Steps of the code that is compiled with -fsanitize-coverage=trace-pc: basic blocks that this thread has run. They depend
 * on what is done only, not on the machine or its load. */
#ifndef LAGRA_TESTS_UNIT_STEPS_STEPS_H
#define LAGRA_TESTS_UNIT_STEPS_STEPS_H

#include <stdint.h>

uint64_t steps_now(void);

#endif
