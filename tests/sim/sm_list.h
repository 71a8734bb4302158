/* Lists of directories by SMB: QUERY_DIRECTORY. MS-SMB2 2.2.33, 3.3.5.18; MS-FSA 2.1.5.6.3 */
#ifndef LAGRA_SIM_SM_LIST_H
#define LAGRA_SIM_SM_LIST_H

#include "fs_model.h"

struct wire_reader;
struct wire_writer;

void sm_list_write(struct wire_writer *w, const struct sm_ask *ask);
void sm_list_read(struct wire_reader *r, struct sm_reply *reply);
/* What is shown of a directory beside a state: which names there are is of it, what is shown of each of that moment
 * or a later one (decision 332). An answer without entries has a status that says so. NULL, or what is wrong. */
const char *sm_list_compare(const struct sm_ask *ask, const struct reply *answer,
                            const struct fs_state *state, const struct fs_node *directory);
/* How far the handle's scan has come with the answer. */
struct sm_scan sm_list_scan(const struct sm_ask *ask, const struct reply *answer,
                            const struct sm_scan *before);

#endif
