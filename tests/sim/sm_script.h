/* What an SMB client does next, with what it knows: its handles. */
#ifndef LAGRA_SIM_SM_SCRIPT_H
#define LAGRA_SIM_SM_SCRIPT_H

#include "request.h"

/* Once in a run. */
void sm_script_begin(void);
void sm_script_begin_life(void);
void sm_script_draw(unsigned client, unsigned number, struct ask *ret_ask);
/* Do clients of this run ask for handles that persist? */
bool sm_script_may_persist(void);
/* An answer has come; open: that it has made, of the model; 0: none */
void sm_script_answered(unsigned client, const struct sm_ask *ask, const struct reply *answer,
                        uint64_t open);
/* What it caches by this handle after it has answered a break. caching: CACHES_* */
void sm_script_keeps(unsigned client, uint64_t volatile_id, unsigned caching);
/* Does it cache no more than what it reads by this handle? Then a break needs no answer. */
bool sm_script_reads_only(unsigned client, uint64_t volatile_id);
/* Does it know an open with that lease, or, if key is 0, with that id? */
bool sm_script_knows(unsigned client, uint64_t key, uint64_t volatile_id);
/* Returns a handle of the client or, with of_other, of another client; its `open` is 0 if no such handle exists. */
struct sm_handle sm_script_handle(unsigned client, bool of_other, unsigned random);
/* Returns the GUID by which the client would reconnect to one of its handles, 0 if it has no such handle. */
uint64_t sm_script_create(unsigned client, unsigned random);
/* Has it been told that it has written by the handle? */
bool sm_script_has_written(unsigned client, uint64_t open);

#endif
