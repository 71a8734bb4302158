/* Runs in which SMB clients come back to handles that others are about to end. What a handle is lies in an index, which is
 * read later than its file: who comes back to one that has ended in between must not be told of damage. */
#ifndef LAGRA_SIM_SM_RETURNS_H
#define LAGRA_SIM_SM_RETURNS_H

#include "draws.h"
#include "sm_ask.h"

/* Once in a run, and in a life of the server. */
void sm_returns_begin(void);
void sm_returns_begin_life(void);
/* Is this such a run? More handles are kept in it, and more connections lost. */
bool sm_returns_are_met(void);
/* The client comes back to a file's handle: from when it draws that until it is answered. */
void sm_return_drawn(unsigned client, const struct fs_path *path);
void sm_return_answered(unsigned client);
/* What another client asks is of such a file, half of the time. False: the path is left as it is */
bool sm_return_meets(struct draws *draws, struct fs_path *path);

#endif
