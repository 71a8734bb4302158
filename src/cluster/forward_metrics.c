/* See forward_metrics.h. */
#include "cluster/forward_metrics.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/metrics.h"
#include "cluster/folder.h"

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

static const struct metric_family direct = {
    "lagra_forwarded_direct_total",
    "Requests whose body this front end read from the files of a cell, and reads that failed",
    METRIC_COUNTER
};

static const struct metric_family by_cell = {
    "lagra_forwarded_cell_requests_total",
    "Requests that this front end forwarded to the owner of a cell", METRIC_COUNTER
};
static const struct metric_family owned = { "lagra_cell_owned", "1 if this front end owns the cell",
                                            METRIC_GAUGE };
static const struct metric_family served = { "lagra_cell_served",
                                             "1 if the cell has an owner that executes requests",
                                             METRIC_GAUGE };
static const struct metric_family used = { "lagra_cell_bytes",
                                           "Bytes in the cell, as counted by its owner",
                                           METRIC_GAUGE };

/* Complete when `count` includes it. */
struct cell_series {
    uint32_t cell;
    metric_slot requests[FORWARD_RESULTS], owned, served, used;
    struct cell_seen seen;
};
static struct cell_series cells[CLUSTER_CELLS_MAX];
static atomic_uint cell_count;

static const char *const results[FORWARD_RESULTS] = { "responded", "busy", "lost", "abandoned" };

static struct {
    metric_slot counters[FORWARD_COUNTERS];
    metric_slot direct;
    metric_slot requests[FORWARD_SERVICES][FORWARD_RESULTS];
    metric_slot seconds[FORWARD_SERVICES];
    metric_slot to[FORWARD_SERVICES], from[FORWARD_SERVICES], read[FORWARD_SERVICES];
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
    slots.read[i] = of_service(&bytes, service, "direction", "from_files");
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
    slots.counters[FORWARD_DIRECT_FAILED] = metric_series(&direct, "result=\"failed\"");
    slots.direct = metric_series(&direct, "result=\"read\"");
    for (unsigned i = 0; i < FORWARD_SERVICES; i++)
        start_service(i, services[i]);
}

static metric_slot of_cell(const struct metric_family *family, uint32_t cell, const char *result)
{
    char labels[64];

    snprintf(labels, sizeof labels, result ? "cell=\"%u\",result=\"%s\"" : "cell=\"%u\"",
             (unsigned)cell, result);
    return metric_series(family, labels);
}

static struct cell_series *find_cell(uint32_t cell)
{
    unsigned count = atomic_load_explicit(&cell_count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++)
        if (cells[i].cell == cell)
            return &cells[i];
    return NULL;
}

void forward_metrics_add_cell(uint32_t cell)
{
    unsigned count = atomic_load(&cell_count);
    struct cell_series *series = &cells[count];

    if (count == CLUSTER_CELLS_MAX || find_cell(cell))
        return;
    series->cell = cell;
    for (unsigned r = 0; r < FORWARD_RESULTS; r++)
        series->requests[r] = of_cell(&by_cell, cell, results[r]);
    series->owned = of_cell(&owned, cell, NULL);
    series->served = of_cell(&served, cell, NULL);
    series->used = of_cell(&used, cell, NULL);
    atomic_store_explicit(&cell_count, count + 1, memory_order_release);
}

void forward_show_cell(uint32_t cell, const struct cell_seen *seen)
{
    struct cell_series *series = find_cell(cell);

    if (!series)
        return;
    metric_add(series->owned, (int64_t)seen->is_owned - series->seen.is_owned);
    metric_add(series->served, (int64_t)seen->is_served - series->seen.is_served);
    metric_add(series->used, (int64_t)(seen->used_bytes - series->seen.used_bytes));
    series->seen = *seen;
}

void forward_count(enum forward_counter counter)
{
    metric_add(slots.counters[counter], 1);
}

void forward_count_request(unsigned service, uint32_t cell, enum forward_result result, uint64_t ns,
                           uint64_t to, uint64_t from)
{
    const struct cell_series *series = find_cell(cell);

    if (series)
        metric_add(series->requests[result], 1);
    metric_add(slots.requests[service][result], 1);
    metric_add(slots.to[service], (int64_t)to);
    metric_add(slots.from[service], (int64_t)from);
    metric_observe_ns(slots.seconds[service], ns);
}

void forward_count_direct(unsigned service, uint64_t bytes_read)
{
    metric_add(slots.direct, 1);
    metric_add(slots.read[service], (int64_t)bytes_read);
}

void forward_count_received(unsigned service, bool is_executed)
{
    metric_add(slots.received[service][is_executed], 1);
}
