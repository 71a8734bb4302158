/* The judge of the File service (judge.h has what all judges do). Every answer is of one state of the
 * whole tree: a path never leads through directories of two moments, and a file is never read in two. */
#ifndef LAGRA_SIM_FS_JUDGE_H
#define LAGRA_SIM_FS_JUDGE_H

#include "request.h"

void fs_judge_begin(void);
void fs_judge_begin_life(void);
void fs_judge_asked(unsigned slot, const struct ask *ask);
void fs_judge_committed(unsigned slot);
bool fs_judge_has_committed(unsigned slot);
void fs_judge_answered(unsigned slot, const struct reply *answer, bool may_fail);
bool fs_judge_take_stock(struct server *server, bool may_fail);

void fs_judge_check_end(struct server *server);

struct fs_state;
/* The answer of an ask that changes nothing, beside a state. NULL, or what is wrong with it. */
const char *fs_compare(const struct fs_ask *ask, const struct reply *answer,
                       const struct fs_state *state);
/* The same of one that copies, whose source was looked at in a state of its own. */
const char *fs_compare_copy(const struct fs_ask *ask, const struct reply *answer,
                            const struct fs_state *source, const struct fs_state *state);

#endif
