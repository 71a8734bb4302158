/* Storage Analytics: what requests to an account's services did, kept in the account itself, as its owner asked for by Set
 * Blob, Queue, Table and File Service Properties. Lines of logs in blobs of the container $logs; sums of each hour and
 * minute in tables $Metrics...
 *
 *   worker        leaves an event in its ring (service/analytics_event.h)
 *   event log     hands it to analytics_take(), which adds a line and counts (collect.c)
 *   the thread    writes what has been collected, each minute: blobs (logs.c), entities (metrics.c); deletes what is
 *                 kept long enough (retention.c). It asks for that by requests of the server to itself.
 *
 * (1) No request waits for it. What there is no room for is left out, and counted (base/event_log.h).
 * (2) What is collected and not written yet has a bound, over all accounts. A kill loses it: at most what an interval
 *     brought. An orderly stop writes it.
 * (3) A blob of a log is written once and not changed; an entity is what is stored of it and what came since.
 * (4) Blobs have names of their own, and an entity is stored only where it is still as it was read.
 * (5) Clients read and delete all of that, and change none of it (decisions 510, 511).
 * rest: About-Storage-Analytics-Logging, About-Storage-Analytics-Metrics; docs/logs.md */
#ifndef LAGRA_ANALYTICS_ANALYTICS_H
#define LAGRA_ANALYTICS_ANALYTICS_H

#include "service/server.h"

struct analytics;

/* Events are taken from now on, once analytics_start() has found accounts that want it. Before event_logs_start(). */
void analytics_open(void);
/* Reads what accounts ask for, and starts the thread. All stay the caller's. NULL: no thread could be started.
 * every_s: the interval, 1..3600. Main thread. */
struct analytics *analytics_start(const struct endpoint_set *endpoints, struct store *store,
                                  const struct accounts *accounts, unsigned every_s);
/* After event_logs_stop(), and before the store is closed: writes what is left. Main thread. */
void analytics_stop(struct analytics *analytics);

#endif
