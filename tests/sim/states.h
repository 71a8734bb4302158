/* Saved states of the store (admin/saved_states.h), in one run of five: while requests are in
 * progress, the state is saved, and the store returns to a saved state. For the models a return is
 * a commit after which everything is as it was right after an older commit. So requests that are in
 * progress fit states before or after it, a crash takes back the whole of it or nothing, and once it
 * has been reported it is durable.
 *
 * docs/fault-injection.md; store/states.h */
#ifndef LAGRA_SIM_STATES_H
#define LAGRA_SIM_STATES_H

#include "request.h"

/* Returns whether this run saves states. The second judges, which know only times, have no
 * order for it. */
bool states_are_used(void);
/* Replaces requests that continue after their response, which models do not take back. */
void states_draw(struct ask *ask);
/* Saves states and returns to them until states_end(). Starts a thread. */
void states_start(struct server *server);
/* Waits until that thread has ended, and drops all states. */
void states_end(void);

/* The calling thread has committed: returns whether that is the return to a state, or the end of a
 * restore, which it has then applied to the model. */
bool states_committed(void);
/* Returns the oldest commit that models must keep: this, or that of a saved state. */
uint64_t states_oldest(uint64_t commit);

#endif
