/* See forward_metrics.h. */
#include "cluster/forward_metrics.h"

#include <stdio.h>

#include "base/metrics.h"

static const struct metric_family requests = { "lagra_forwarded_requests_total",
                                               "Requests that this front end forwarded to an owner",
                                               METRIC_COUNTER };
static const struct metric_family seconds = { "lagra_forwarded_seconds",
                                              "Time from the request to the end of the response",
                                              METRIC_HISTOGRAM };
static const struct metric_family bytes = { "lagra_forwarded_bytes_total",
                                            "Bytes of bodies of forwarded requests",
                                            METRIC_COUNTER };
static const struct metric_family received = {
    "lagra_forwarded_received_total", "Requests that other front ends forwarded to this one",
    METRIC_COUNTER
};
static const struct metric_family links = { "lagra_forward_connections_total",
                                            "Connections to owners: opened, closed, failed to open",
                                            METRIC_COUNTER };
static const struct metric_family again = {
    "lagra_forward_waits_total",
    "Requests that waited for an owner, or were retried, before anything was sent", METRIC_COUNTER
};

static const char *const results[FORWARD_RESULTS] = { "responded", "busy", "lost", "abandoned" };

static struct {
    metric_slot counters[FORWARD_COUNTERS];
    metric_slot requests[FORWARD_SERVICES][FORWARD_RESULTS];
    metric_slot seconds[FORWARD_SERVICES];
    metric_slot to[FORWARD_SERVICES], from[FORWARD_SERVICES];
    metric_slot received[FORWARD_SERVICES][2];
} slots;

static metric_slot of_service(const struct metric_family *family, const char *service,
                              const char *label, const char *value)
{
    char labels[96];

    snprintf(labels, sizeof labels, label ? "service=\"%s\",%s=\"%s\"" : "service=\"%s\"", service,
             label, value);
    return metric_series(family, labels);
}

static void start_service(unsigned i, const char *service)
{
    for (unsigned r = 0; r < FORWARD_RESULTS; r++)
        slots.requests[i][r] = of_service(&requests, service, "result", results[r]);
    slots.seconds[i] = of_service(&seconds, service, NULL, NULL);
    slots.to[i] = of_service(&bytes, service, "direction", "to_owner");
    slots.from[i] = of_service(&bytes, service, "direction", "from_owner");
    slots.received[i][0] = of_service(&received, service, "result", "refused");
    slots.received[i][1] = of_service(&received, service, "result", "executed");
}

void forward_metrics_start(const char *const services[FORWARD_SERVICES])
{
    slots.counters[FORWARD_LINK_OPENED] = metric_series(&links, "event=\"opened\"");
    slots.counters[FORWARD_LINK_CLOSED] = metric_series(&links, "event=\"closed\"");
    slots.counters[FORWARD_LINK_FAILED] = metric_series(&links, "event=\"failed\"");
    slots.counters[FORWARD_RETRIED] = metric_series(&again, "reason=\"retried\"");
    slots.counters[FORWARD_WAITED] = metric_series(&again, "reason=\"no_owner\"");
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        start_service(i, services[i]);
}

void forward_count(enum forward_counter counter)
{
    metric_add(slots.counters[counter], 1);
}

void forward_count_request(unsigned service, enum forward_result result, uint64_t ns, uint64_t to,
                           uint64_t from)
{
    metric_add(slots.requests[service][result], 1);
    metric_add(slots.to[service], (int64_t)to);
    metric_add(slots.from[service], (int64_t)from);
    metric_observe_ns(slots.seconds[service], ns);
}

void forward_count_received(unsigned service, bool is_executed)
{
    metric_add(slots.received[service][is_executed], 1);
}
