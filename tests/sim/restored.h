/* Restores of a container, queue or table from a backup (admin/restore_state.h), in the runs that
 * have saved states (states.h): a name is read while no request is in progress, and restored later,
 * next to requests, sometimes with --replace. For the models the end of a restore is a commit that
 * returns this name to its state of an older commit, without leases. Before it nothing may be
 * visible. What a crash leaves of an unfinished restore must be gone at the end of the run, when the
 * census looks for it.
 *
 * docs/backup.md; service/restore.h */
#ifndef LAGRA_SIM_RESTORED_H
#define LAGRA_SIM_RESTORED_H

#include "request.h"

/* Before each request of a client: waits while a name is read. */
void restored_wait(void);

/* Used by the thread of states.c only. */
/* Reads a name. */
void restored_read(struct server *server);
/* Restores the name that was read last, if there is one. Returns true if it has reported success. */
bool restored_put(struct server *server);
/* The thread has committed: returns whether that is the end of a restore, which it has then applied
 * to the model. */
bool restored_committed(void);
/* Returns the older of the commit and that of the name that was read. */
uint64_t restored_oldest(uint64_t commit);
/* Frees the name that was read. */
void restored_end(void);

#endif
