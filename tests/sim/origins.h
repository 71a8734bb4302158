/* The rules of the account for other origins: one origin at a time may read answers, or none. Which one
 * shows in every answer to a request that names its origin, and what was shown no crash takes back.
 * rest: Cross-Origin-Resource-Sharing--CORS--Support-for-the-Azure-Storage-Services */
#ifndef LAGRA_SIM_ORIGINS_H
#define LAGRA_SIM_ORIGINS_H

#include "request.h"

void origins_begin(void);
/* What Set Blob Service Properties says. */
void origins_format(unsigned origin, const char *retention, char *to, size_t size);
void origins_apply(unsigned origin, uint64_t commit);
void origins_roll_back(uint64_t commit);
/* See model_return_to(). */
void origins_return_to(uint64_t older, uint64_t commit);
/* The newest commit in (from, to] that changed them; 0: none. */
uint64_t origins_changed_before(uint64_t from, uint64_t to);
/* An answer of Get Blob Service Properties beside the rules as they were then. */
const char *origins_compare(const struct reply *answer, uint64_t commit);
/* The headers of an answer. ret_commit: the oldest commit since `from` whose rules they are of. */
const char *origins_find(const struct ask *ask, const struct reply *answer, uint64_t from,
                         uint64_t *ret_commit);

#endif
