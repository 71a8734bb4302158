/* The judge of the File service (judge.h has what all judges do). Every answer is of one state of the
 * whole tree: a path never leads through directories of two moments, and a file is never read in two. */
#ifndef LAGRA_SIM_FS_JUDGE_H
#define LAGRA_SIM_FS_JUDGE_H

#include <stdnoreturn.h>

#include "request.h"

void fs_judge_begin(void);
void fs_judge_begin_life(void);
void fs_judge_asked(unsigned slot, const struct ask *ask);
void fs_judge_committed(unsigned slot);
void fs_judge_committed_behind(void);
bool fs_judge_has_committed(unsigned slot);
void fs_judge_answered(unsigned slot, const struct reply *answer, bool may_fail);
bool fs_judge_take_stock(struct server *server, bool may_fail);

void fs_judge_check_end(struct server *server);

struct fs_state;
/* A request under way. Dies with the process. */
struct fs_slot {
    const struct ask *ask;
    uint64_t order;             /* sm_watch_order() */
    uint64_t before;            /* commits when it began */
    bool is_later_part;         /* of a frame: it goes on when the open before it was made */
    uint64_t commit;            /* its own; 0: none */
    int status;                 /* of its commit */
    const struct fs_copy *copy; /* that its commit has begun */
    uint64_t wall_steps;
    /* Of SMB: what its commit has opened, and how. */
    uint64_t open;
    unsigned action;
    unsigned granted; /* CACHES_* */
    bool has_deleted; /* its file, by closing it */
};
/* The one of a client. */
struct fs_slot *fs_judge_slot(unsigned number);
noreturn void fs_judge_fail(const struct fs_slot *slot, const struct reply *answer,
                            const char *why);
/* A state between its beginning and its end must give this answer. is_shown: it is durable by now. */
void fs_judge_view(struct fs_slot *slot, const struct reply *answer, bool is_shown);
/* May an answer be that it has waited for SMB clients in vain? */
#define FS_WAIT_NS (30 * UINT64_C(1000000000))
bool fs_may_have_waited(const struct reply *answer, uint64_t ns);
/* What waits asks others: a state of its own. */
void fs_judge_ask_others(const struct fs_slot *slot, unsigned number);
/* Nothing that was told or shown may be lost by a crash from now on. */
void fs_acknowledge(uint64_t commit);
/* Where a share counted less than half of its quota, what others add at the same moment may pass it.
 * decision: 301 */
bool fs_may_pass_quota(const struct fs_slot *slot);
/* The answer of an ask that changes nothing, beside a state. NULL, or what is wrong with it. */
const char *fs_compare(const struct fs_ask *ask, const struct reply *answer,
                       const struct fs_state *state);
/* The same of one that copies, whose source was looked at in a state of its own. */
const char *fs_compare_copy(const struct fs_ask *ask, const struct reply *answer,
                            const struct fs_state *source, const struct fs_state *state);

#endif
