/* Copies that are pending when they are answered: which copy a commit begins or ends is seen at the
 * service's step from one to the next. They go on after a crash, and end when faults have. */
#ifndef LAGRA_SIM_PENDING_H
#define LAGRA_SIM_PENDING_H

#include "model.h"

/* The last that the calling thread was about to begin. */
struct copy_id pending_begun(void);
/* What the calling thread wrote last. */
void pending_fill(struct stamp *stamp);
/* The calling thread, which works on no request, has committed. */
void pending_committed(void);
/* Until there is none. False: the store has failed meanwhile. */
bool pending_wait(const struct server *server);

#endif
