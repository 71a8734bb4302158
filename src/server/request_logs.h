/* Starts and stops the logs of requests. Main thread. */
#ifndef LAGRA_SERVER_REQUEST_LOGS_H
#define LAGRA_SERVER_REQUEST_LOGS_H

#include "analytics/analytics.h"
#include "server/options.h"

/* Opens the logs, before anything is served. Returns false after printing why on stderr; the caller
 * must call request_logs_stop() even then. */
bool request_logs_start(const struct options *options);
/* Starts Storage Analytics, once the store is open and before anything is served; stopped by
 * analytics_stop() after request_logs_stop(). Returns NULL if no thread could be started. */
struct analytics *request_logs_start_analytics(const struct options *options,
                                               const struct endpoint_set *endpoints,
                                               struct store *store,
                                               const struct accounts *accounts);
/* Writes the remaining entries and closes the logs, once nothing is served any more. */
void request_logs_stop(void);

#endif
