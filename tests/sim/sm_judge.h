/* The judge of SMB clients: their answers are held against the states of the tree that the judge of the File service
 * makes of all commits, REST's and SMB's (fs_judge.h).
 *
 * What is promised (docs/smb.md): what is made, cut or deleted is durable when it is answered, and so are a flush, a
 * close after writes, and a write-through write; a plain write at the latest by these, or after 5 seconds. What was
 * read is durable. Handles end with the server's process, but for those that persist: they and their locks are durable
 * when they are answered. */
#ifndef LAGRA_SIM_SM_JUDGE_H
#define LAGRA_SIM_SM_JUDGE_H

#include "fs_judge.h"

/* Of fs_judge.c, for asks of SMB. */
void sm_judge_begin(void);
void sm_judge_begin_life(void);
/* Of one that is asked in a frame of several. */
void sm_judge_asked(const struct fs_slot *slot, unsigned number);
void sm_judge_committed(struct fs_slot *slot, unsigned number);
/* The server has committed for a request of its own. */
void sm_judge_own_committed(unsigned number);
void sm_judge_answered(struct fs_slot *slot, unsigned number, const struct reply *answer,
                       bool may_fail);
/* Before a start is looked at: what was durable by its time alone when the life before ended. */
void sm_judge_end_life(void);

#endif
