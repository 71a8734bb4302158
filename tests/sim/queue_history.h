/* A second judge of queues, which knows only what clients were told, and when: no message is handed
 * to two while it is invisible, none comes after its delete was acknowledged or after its expiry,
 * and when all was taken every message whose put was acknowledged has been got, unless it was
 * deleted, cleared, or has expired. */
#ifndef LAGRA_SIM_QUEUE_HISTORY_H
#define LAGRA_SIM_QUEUE_HISTORY_H

#include "request.h"

void queue_history_begin(void);
/* Around each request, also those of the judge itself. */
void queue_history_asked(unsigned slot, const struct ask *ask);
void queue_history_answered(unsigned slot, const struct ask *ask, const struct reply *answer);
/* Requests that were under way are never answered. */
void queue_history_crash(void);
/* When all was taken. Fails the run. */
void queue_history_check(void);

#endif
