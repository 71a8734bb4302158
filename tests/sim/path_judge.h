/* The judge of hierarchical accounts. See judge.h. */
#ifndef LAGRA_SIM_PATH_JUDGE_H
#define LAGRA_SIM_PATH_JUDGE_H

#include "request.h"

void path_judge_begin(void);
void path_judge_begin_life(void);
void path_judge_asked(unsigned slot, const struct ask *ask);
void path_judge_committed(unsigned slot);
bool path_judge_has_committed(unsigned slot);
void path_judge_answered(unsigned slot, const struct reply *answer, bool may_fail);
bool path_judge_take_stock(struct server *server, bool may_fail);
/* Returns the cell of the filesystem, or 0 if it does not exist. */
unsigned path_cell_of(unsigned name);
/* Sets *ask to the request for the page after the last one of such a list that the client received. Returns false if there
 * is none. */
bool path_judge_next_page(unsigned client, struct path_ask *ask);

#endif
