/* What SMB clients are answered, beside the states of the tree that the model of the File service has. MS-SMB2 3.3.5,
 * MS-FSA 2.1.5 */
#ifndef LAGRA_SIM_SM_MODEL_H
#define LAGRA_SIM_SM_MODEL_H

#include "fs_model.h"
#include "sm_seen.h"

struct sm_expected {
    uint32_t status;
    bool changes, waits; /* for others */
    bool is_by_below;    /* refused since something below the directory is open */
    unsigned node;       /* that it is about; FS_NODES: none */
    unsigned action;     /* of an open */
};

/* has_waited: it has, and goes on when nobody is asked for anything any more */
struct sm_expected sm_expect(const struct sm_ask *ask, const struct fs_state *state,
                             bool has_waited);
/* Is anything below the directory with this id open? */
bool sm_is_open_below(const struct fs_state *state, uint64_t directory);
/* Of an open, whose path may have led to the node a moment ago. */
struct sm_expected sm_expect_at(const struct sm_ask *ask, const struct fs_state *state,
                                unsigned node, bool has_waited);
/* Makes it the newest state, with what it asks of others (fs_passes()). seen: of an open; returns its id.
 * writes: the file has another version from then on */
uint64_t sm_apply(const struct sm_ask *ask, const struct sm_expected *expected, uint64_t commit,
                  const struct sm_seen *seen, bool writes);
/* Of the newest state: the open's client has lost its connection. False: it is not kept, and to be closed. */
bool sm_leave(struct fs_state *state, uint64_t id);
/* What is told about it beside a state. NULL, or what is wrong with it. */
const char *sm_compare(const struct sm_ask *ask, const struct reply *answer,
                       const struct fs_state *state);

#endif
