/* Logs of requests: see request_logs.h. */
#include "server/request_logs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/event_log.h"
#include "observe/access_log.h"

/* Default interval at which Storage Analytics is written. */
#define ANALYTICS_EVERY_MS 60000u

bool request_logs_start(const struct options *options)
{
    const struct access_log_options logs = { .access_path = options->access_log_path,
                                             .audit_path = options->audit_log_path,
                                             .slow_ns = options->slow_ms * UINT64_C(1000000) };
    const char *failed = access_logs_open(&logs);

    if (failed) {
        fprintf(stderr, "lagra: cannot write %s: %s\n", failed, strerror(errno));
        return false;
    }
    analytics_open();
    return event_logs_start();
}

struct analytics *request_logs_start_analytics(const struct options *options,
                                               const struct endpoint_set *endpoints,
                                               struct store *store, const struct accounts *accounts)
{
    unsigned every_ms = options->analytics_every_ms;

    return analytics_start(endpoints, store, accounts,
                           (every_ms > 0 ? every_ms : ANALYTICS_EVERY_MS) / 1000);
}

void request_logs_stop(void)
{
    event_logs_stop();
}
