/* Metrics of requests: number by operation and outcome, duration, bytes, requests in progress, and
 * repeated decisions. Used on the request's worker. */
#include "observe/observed_request.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/metrics.h"
#include "observe/slowest.h"

static const struct metric_family requests = { "lagra_requests_total",
                                               "Requests by operation and error code, or Success.",
                                               METRIC_COUNTER };
static const struct metric_family durations = {
    "lagra_request_duration_seconds",
    "Time from the request headers to the last byte of the response.", METRIC_HISTOGRAM
};
static const struct metric_family first_bytes = {
    "lagra_request_first_byte_seconds",
    "Time from the request headers to the first byte of the response.", METRIC_HISTOGRAM
};
static const struct metric_family in_flight = { "lagra_requests_in_flight", "Requests in progress.",
                                                METRIC_GAUGE };
static const struct metric_family received = { "lagra_request_body_bytes_total",
                                               "Bytes of request bodies.", METRIC_COUNTER };
static const struct metric_family sent = { "lagra_response_body_bytes_total",
                                           "Bytes of response bodies.", METRIC_COUNTER };
static const struct metric_family repeated = {
    "lagra_decisions_repeated_total", "Decisions that were repeated because of concurrent changes.",
    METRIC_COUNTER
};

#define ROWS_MAX 192u
enum service_series { IN_FLIGHT, FIRST_BYTE, RECEIVED, SENT, REPEATED, SERIES_COUNT };
static const struct metric_family *const families[SERIES_COUNT] = {
    [IN_FLIGHT] = &in_flight, [FIRST_BYTE] = &first_bytes, [RECEIVED] = &received,
    [SENT] = &sent,           [REPEATED] = &repeated,
};

/* Cached slots; 0 if not looked up yet. The last row is for requests without an operation. The last
 * outcome is for connections that were closed before the response. */
#define NO_OPERATION ROWS_MAX
#define CUT_OFF      ERROR_COUNT
static _Atomic metric_slot of_service[ENDPOINTS_MAX][SERIES_COUNT];
static _Atomic metric_slot of_operation[ENDPOINTS_MAX][ROWS_MAX + 1];
static _Atomic metric_slot of_outcome[ENDPOINTS_MAX][ROWS_MAX + 1][ERROR_COUNT + 1];

static metric_slot keep(_Atomic metric_slot *kept, const struct metric_family *family,
                        const char *labels)
{
    metric_slot slot = metric_series(family, labels);

    atomic_store_explicit(kept, slot, memory_order_relaxed);
    return slot;
}

static size_t service_of(const struct observed_request *request)
{
    const struct endpoint *endpoint = request->call->endpoint;

    return endpoint->all ? (size_t)(endpoint - endpoint->all->endpoints) : 0;
}

static size_t row_of(const struct observed_request *request)
{
    const struct operation *operation = request->call->operation;
    const struct service *service = request->call->endpoint->service;
    size_t row = operation ? (size_t)(operation - service->operations) : NO_OPERATION;

    return row < ROWS_MAX ? row : NO_OPERATION;
}

static const char *operation_name(const struct observed_request *request)
{
    return row_of(request) == NO_OPERATION ? "none" : request->call->operation->name;
}

static metric_slot service_slot(const struct observed_request *request, enum service_series which)
{
    _Atomic metric_slot *kept = &of_service[service_of(request)][which];
    metric_slot slot = atomic_load_explicit(kept, memory_order_relaxed);
    char labels[64];

    if (slot > 0)
        return slot;
    snprintf(labels, sizeof labels, "service=\"%s\"", request->call->endpoint->service->name);
    /* Creates all series at once, so that those without events are reported as 0. */
    for (size_t i = 0; i < SERIES_COUNT; i++)
        keep(&of_service[service_of(request)][i], families[i], labels);
    return atomic_load_explicit(kept, memory_order_relaxed);
}

static metric_slot duration_slot(const struct observed_request *request)
{
    _Atomic metric_slot *kept = &of_operation[service_of(request)][row_of(request)];
    metric_slot slot = atomic_load_explicit(kept, memory_order_relaxed);
    char labels[160];

    if (slot > 0)
        return slot;
    snprintf(labels, sizeof labels, "service=\"%s\",operation=\"%s\"",
             request->call->endpoint->service->name, operation_name(request));
    return keep(kept, &durations, labels);
}

/* outcome: an error, OK or CUT_OFF */
static metric_slot outcome_slot(const struct observed_request *request, unsigned outcome)
{
    _Atomic metric_slot *kept = &of_outcome[service_of(request)][row_of(request)][outcome];
    metric_slot slot = atomic_load_explicit(kept, memory_order_relaxed);
    const char *code = "cut";
    char labels[256];

    if (slot > 0)
        return slot;
    if (outcome != CUT_OFF)
        code = outcome ? error_code((enum error)outcome) : "Success";
    snprintf(labels, sizeof labels, "service=\"%s\",operation=\"%s\",code=\"%s\"",
             request->call->endpoint->service->name, operation_name(request), code);
    return keep(kept, &requests, labels);
}

void observe_start(struct observed_request *request)
{
    request->began_ns = request->times.since_ns = clock_monotonic_ns();
    access_log_begins(request);
    PROBE_BEGIN(&request->times, request->call->endpoint->service->name);
    metric_add(service_slot(request, IN_FLIGHT), 1);
}

static uint64_t response_bytes(const struct response *response)
{
    if (response->body_kind == BODY_NONE)
        return 0;
    if (response->described_length > 0)
        return response->described_length;
    return response->body_kind == BODY_BYTES ? response->body.len : response->body_length;
}

uint64_t observe_response(struct observed_request *request)
{
    const struct exchange *exchange = request->exchange;
    uint64_t now_ns = clock_monotonic_ns(), sent_bytes = 0;

    if (request->times.is_timed)
        request_times_add(&request->times, now_ns);
    PROBE_STAGE(&request->times, request->times.stage, AT_SEND);
    request->times.stage = AT_SEND;
    request->duration = duration_slot(request);
    metric_observe_ns(service_slot(request, FIRST_BYTE), now_ns - request->began_ns);
    metric_add(outcome_slot(request, request->answer->error), 1);
    if (request->received > 0)
        metric_add(service_slot(request, RECEIVED), (int64_t)request->received);
    if (exchange->request.method != METHOD_HEAD)
        sent_bytes = response_bytes(&exchange->response);
    if (sent_bytes > 0)
        metric_add(service_slot(request, SENT), (int64_t)sent_bytes);
    if (request->attempts > 1)
        metric_add(service_slot(request, REPEATED), request->attempts - 1);
    return sent_bytes;
}

static void keep_slowest(const struct observed_request *request, uint64_t now_ns)
{
    struct slowest *slowest = slowest_of_process();
    uint64_t all_ns = now_ns - request->began_ns;
    struct bytes path = request->exchange->request.path;
    struct slow_request slow;

    if (!slowest_wants(slowest, now_ns, all_ns))
        return;
    slow = (struct slow_request){
        .ended = clock_wall(),
        .ended_ns = now_ns,
        .all_ns = all_ns,
        .service = request->call->endpoint->service->name,
        .operation = operation_name(request),
        .status = request->exchange->response.status,
        .error = request->answer->error,
        .id = request->call->request_id,
        .path_length = (uint16_t)(path.len < SLOWEST_PATH_MAX ? path.len : SLOWEST_PATH_MAX),
    };
    if (slow.path_length > 0)
        memcpy(slow.path, path.ptr, slow.path_length);
    slowest_put(slowest, &slow);
}

void observe_end(struct observed_request *request)
{
    uint64_t now_ns = clock_monotonic_ns();

    metric_add(service_slot(request, IN_FLIGHT), -1);
    if (request->duration > 0)
        metric_observe_ns(request->duration, now_ns - request->began_ns);
    else
        metric_add(outcome_slot(request, CUT_OFF), 1);
    if (request->times.is_timed)
        request_times_add(&request->times, now_ns);
    PROBE_END(&request->times, operation_name(request), request->exchange->response.status);
    keep_slowest(request, now_ns);
    access_log(request, now_ns);
    analytics_log(request, now_ns);
}
