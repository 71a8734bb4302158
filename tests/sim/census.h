/* The census: when all is quiet and days have passed, everything that lies in the store is reachable
 * from the account, or due later; nothing else is there. It looks at the records themselves, not at
 * answers: what no request shows any longer (a dropped container's blobs, a run that nothing refers
 * to, a task that was forgotten) costs its space for ever. */
#ifndef LAGRA_SIM_CENSUS_H
#define LAGRA_SIM_CENSUS_H

struct server;

/* The last look at a server that is about to be closed: days pass meanwhile. */
void census_take(struct server *server);

#endif
