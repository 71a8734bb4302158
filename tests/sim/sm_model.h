/* What SMB clients are answered, beside the states of the tree that the model of the File service has. MS-SMB2 3.3.5,
 * MS-FSA 2.1.5 */
#ifndef LAGRA_SIM_SM_MODEL_H
#define LAGRA_SIM_SM_MODEL_H

#include "fs_model.h"

struct sm_expected {
    uint32_t status;
    bool changes;
    unsigned node;   /* that it is about; FS_NODES: none */
    unsigned action; /* of an open */
};

struct sm_expected sm_expect(const struct sm_ask *ask, const struct fs_state *state);
/* Of an open, whose path may have led to the node a moment ago. */
struct sm_expected sm_expect_at(const struct sm_ask *ask, const struct fs_state *state,
                                unsigned node);
/* Makes it the newest state. client, volatile_id: of an open; returns its id.
 * writes: the file has another version from then on */
uint64_t sm_apply(const struct sm_ask *ask, const struct sm_expected *expected, uint64_t commit,
                  unsigned client, uint64_t volatile_id, bool writes);
/* What is told about it beside a state. NULL, or what is wrong with it. */
const char *sm_compare(const struct sm_ask *ask, const struct reply *answer,
                       const struct fs_state *state);

#endif
