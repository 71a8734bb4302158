/* The logs of requests as the program starts and stops them. Main thread. */
#ifndef LAGRA_SERVER_REQUEST_LOGS_H
#define LAGRA_SERVER_REQUEST_LOGS_H

#include "analytics/analytics.h"
#include "server/options.h"

/* Before anything is served. returns false, after saying why on stderr; request_logs_stop() is due all the same */
bool request_logs_start(const struct options *options);
/* Once the store is open, and before anything is served; analytics_stop() behind request_logs_stop(). NULL: no thread
 * could be started. */
struct analytics *request_logs_start_analytics(const struct options *options,
                                               const struct endpoint_set *endpoints,
                                               struct store *store,
                                               const struct accounts *accounts);
/* When nothing is served any more: writes what is left. */
void request_logs_stop(void);

#endif
