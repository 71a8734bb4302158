/* An answer beside what the model expects. Each returns NULL when they agree, else what does
 * not. */
#ifndef LAGRA_SIM_COMPARE_H
#define LAGRA_SIM_COMPARE_H

#include "model.h"

const char *compare_answer(const struct ask *ask, const struct expected *expected,
                           const struct reply *answer, struct doubt doubt);
#endif
