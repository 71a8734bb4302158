/* An answer beside what the model expects of a request that changed nothing. */
#ifndef LAGRA_SIM_TABLE_COMPARE_H
#define LAGRA_SIM_TABLE_COMPARE_H

#include "request.h"

/* NULL: it fits the state right after the commit, and policies looked at after `looked`; else what
 * does not. */
const char *table_compare_answer(const struct table_ask *ask, const struct reply *answer,
                                 uint64_t commit, uint64_t looked);
/* Says it that the store cannot now? */
bool table_says_cannot(const struct reply *answer);

#endif
