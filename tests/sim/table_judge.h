/* The judge of the Table service (judge.h has what all judges do). A transaction is one change: it
 * has a place in the order of commits as a whole, or it changed nothing. */
#ifndef LAGRA_SIM_TABLE_JUDGE_H
#define LAGRA_SIM_TABLE_JUDGE_H

#include "request.h"

void table_judge_begin(void);
void table_judge_begin_life(void);
void table_judge_asked(unsigned slot, const struct ask *ask);
void table_judge_committed(unsigned slot);
bool table_judge_has_committed(unsigned slot);
void table_judge_answered(unsigned slot, const struct reply *answer, bool may_fail);
bool table_judge_take_stock(struct server *server, bool may_fail);

/* For scripts: the newest ETag of an entity, or the one before; 0: not known. */
uint64_t table_judge_etag(unsigned table, unsigned place, bool old);
/* The page behind the last one that the client was shown. False: there is none. */
bool table_judge_next_page(unsigned client, struct table_ask *ask);

#endif
