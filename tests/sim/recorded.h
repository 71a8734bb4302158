/* Storage Analytics, in one run of eight of blobs, queues and tables: src/analytics logs and counts
 * all requests. Its own requests end here instead of in the store. So its log blobs and metrics
 * survive all crashes, and models and the census do not see them.
 *
 * Each recorded request must be in the logs once and unaltered, and once in the totals of the
 * hours and of the minutes. A crash may lose what was recorded in the last intervals. The kinds of
 * requests to log and the version of the lines change while requests are in progress. The requests
 * of analytics take time and fail; others delete $logs, and change the same entities.
 *
 * analytics/analytics.h; decisions: 510 to 513, 1105 */
#ifndef LAGRA_SIM_RECORDED_H
#define LAGRA_SIM_RECORDED_H

struct account;
struct endpoint_set;
struct store;
struct accounts;

/* Returns whether the server's requests are recorded in this run. */
bool recorded_is_used(void);
/* Starts Storage Analytics, and judges what a crash has left of its data. */
void recorded_start(const struct endpoint_set *endpoints, struct store *store,
                    const struct accounts *accounts, const struct account *account);
/* A request of a client was answered. */
void recorded_answered(void);
/* Stops it in an orderly way, when no request is in progress: nothing may be missing then. */
void recorded_end(void);

#endif
