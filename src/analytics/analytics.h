/* Storage Analytics: logs and metrics of requests to an account's services, stored in the account
 * itself, as configured by Set Blob, Queue, Table and File Service Properties: log lines in blobs
 * of the container $logs, hourly and minute totals in tables $Metrics...
 *
 *   worker        puts an event in its ring (observe/analytics_event.h)
 *   event log     passes it to analytics_take(), which adds a line and updates counts (collect.c)
 *   the thread    once a minute writes the collected data: blobs (logs.c), entities (metrics.c);
 *                 deletes expired data (retention.c). It uses internal requests of the server
 *
 * (1) Requests never wait for it. Events that do not fit are dropped and counted
 *     (base/event_log.h).
 * (2) The total amount of collected but unwritten data, across all accounts, is bounded. A kill
 *     loses at most the data of one interval; an orderly stop writes it.
 * (3) A log blob is written once and not changed; an entity is updated by adding to its stored
 *     values.
 * (4) The owners of all cells of a cluster write into the root. Entities are changed only under
 *     their ETag, and blobs have unique names. decision: 1105
 * (5) Clients can read and delete all of this, but not change it (decisions 510, 511).
 * rest: About-Storage-Analytics-Logging, About-Storage-Analytics-Metrics; docs/monitoring.md */
#ifndef LAGRA_ANALYTICS_ANALYTICS_H
#define LAGRA_ANALYTICS_ANALYTICS_H

#include "service/server.h"

struct analytics;

/* Starts accepting events, once analytics_start() has found accounts that need them. Call before
 * event_logs_start(). */
void analytics_open(void);
/* Reads the accounts' settings, and starts the thread. The caller keeps ownership of all
 * arguments. Returns NULL if no thread could be started. every_s: the interval, 1..3600. Main
 * thread only. */
struct analytics *analytics_start(const struct endpoint_set *endpoints, struct store *store,
                                  const struct accounts *accounts, unsigned every_s);
/* Writes the remaining data. Call after event_logs_stop(), and before closing the store. Main
 * thread only. */
void analytics_stop(struct analytics *analytics);

/* Handles CAPACITY_PATH (request/peer_requests.h), with which the owner of the root requests the
 * number and size of an account's blobs in another cell (base/codec.h): u8 1 (version), bytes:
 * account. Response: u8 1; u64 containers, bytes, objects, objects with only uncommitted blocks.
 * context: struct endpoint_set. decision: 1171 */
#define CAPACITY_PATH     "/-/capacity"
#define CAPACITY_BODY_MAX 1024u
int capacity_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
