/* What is counted of requests: how many of each operation and outcome, how long they took, how many bytes they
 * had, how many are under way, how often decisions were made again. All of it on the worker of the request. */
#include "service/service_private.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/metrics.h"
#include "service/slowest.h"

static const struct metric_family requests = {
    "lagra_requests_total", "Requests by operation and by error code, or Success.", METRIC_COUNTER
};
static const struct metric_family durations = {
    "lagra_request_duration_seconds", "From a request's head to the last byte of its answer.",
    METRIC_HISTOGRAM
};
static const struct metric_family first_bytes = {
    "lagra_request_first_byte_seconds", "From a request's head to the first byte of its answer.",
    METRIC_HISTOGRAM
};
static const struct metric_family in_flight = { "lagra_requests_in_flight",
                                                "Requests that are not answered yet.",
                                                METRIC_GAUGE };
static const struct metric_family received = { "lagra_request_body_bytes_total",
                                               "Bytes of the bodies of requests.", METRIC_COUNTER };
static const struct metric_family sent = { "lagra_response_body_bytes_total",
                                           "Bytes of the bodies of answers.", METRIC_COUNTER };
static const struct metric_family repeated = {
    "lagra_decisions_repeated_total",
    "Decisions that were made again, since what they were made on had changed.", METRIC_COUNTER
};

#define ROWS_MAX 192u
enum service_series { IN_FLIGHT, FIRST_BYTE, RECEIVED, SENT, REPEATED, SERIES_COUNT };
static const struct metric_family *const families[SERIES_COUNT] = {
    [IN_FLIGHT] = &in_flight, [FIRST_BYTE] = &first_bytes, [RECEIVED] = &received,
    [SENT] = &sent,           [REPEATED] = &repeated,
};

/* Slots that are kept once they have been looked for; 0: not yet. The last row is of requests that name no
 * operation, the last outcome that of a connection that was cut before its answer. */
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

static size_t service_of(const struct flow *flow)
{
    const struct endpoint *endpoint = flow->work.call.endpoint;

    return endpoint->all ? (size_t)(endpoint - endpoint->all->endpoints) : 0;
}

static size_t row_of(const struct flow *flow)
{
    const struct operation *operation = flow->work.call.operation;
    const struct service *service = flow->work.call.endpoint->service;
    size_t row = operation ? (size_t)(operation - service->operations) : NO_OPERATION;

    return row < ROWS_MAX ? row : NO_OPERATION;
}

static const char *operation_name(const struct flow *flow)
{
    return row_of(flow) == NO_OPERATION ? "none" : flow->work.call.operation->name;
}

static metric_slot service_slot(const struct flow *flow, enum service_series which)
{
    _Atomic metric_slot *kept = &of_service[service_of(flow)][which];
    metric_slot slot = atomic_load_explicit(kept, memory_order_relaxed);
    char labels[64];

    if (slot > 0)
        return slot;
    snprintf(labels, sizeof labels, "service=\"%s\"", flow->work.call.endpoint->service->name);
    /* All at once: what never happened is shown as 0. */
    for (size_t i = 0; i < SERIES_COUNT; i++)
        keep(&of_service[service_of(flow)][i], families[i], labels);
    return atomic_load_explicit(kept, memory_order_relaxed);
}

static metric_slot duration_slot(const struct flow *flow)
{
    _Atomic metric_slot *kept = &of_operation[service_of(flow)][row_of(flow)];
    metric_slot slot = atomic_load_explicit(kept, memory_order_relaxed);
    char labels[160];

    if (slot > 0)
        return slot;
    snprintf(labels, sizeof labels, "service=\"%s\",operation=\"%s\"",
             flow->work.call.endpoint->service->name, operation_name(flow));
    return keep(kept, &durations, labels);
}

/* outcome: an error, OK or CUT_OFF */
static metric_slot outcome_slot(const struct flow *flow, unsigned outcome)
{
    _Atomic metric_slot *kept = &of_outcome[service_of(flow)][row_of(flow)][outcome];
    metric_slot slot = atomic_load_explicit(kept, memory_order_relaxed);
    const char *code = "cut";
    char labels[256];

    if (slot > 0)
        return slot;
    if (outcome != CUT_OFF)
        code = outcome ? error_code((enum error)outcome) : "Success";
    snprintf(labels, sizeof labels, "service=\"%s\",operation=\"%s\",code=\"%s\"",
             flow->work.call.endpoint->service->name, operation_name(flow), code);
    return keep(kept, &requests, labels);
}

void request_begins(struct flow *flow)
{
    flow->began_ns = flow->times.since_ns = clock_monotonic_ns();
    access_log_begins(flow);
    PROBE_BEGIN(flow, flow->work.call.endpoint->service->name);
    metric_add(service_slot(flow, IN_FLIGHT), 1);
}

static uint64_t response_bytes(const struct response *response)
{
    if (response->body_kind == BODY_NONE)
        return 0;
    return response->body_kind == BODY_BYTES ? response->body.len : response->body_length;
}

void request_is_answered(struct flow *flow)
{
    const struct exchange *exchange = flow->exchange;
    const struct decision *d = &flow->work.decision;
    uint64_t now_ns = clock_monotonic_ns(), sent_bytes = 0;

    if (flow->times.is_timed)
        request_times_add(&flow->times, now_ns);
    PROBE_STAGE(flow, flow->times.stage, AT_SEND);
    flow->times.stage = AT_SEND;
    flow->duration = duration_slot(flow);
    metric_observe_ns(service_slot(flow, FIRST_BYTE), now_ns - flow->began_ns);
    metric_add(outcome_slot(flow, flow->work.answer.error), 1);
    if (flow->intake.received > 0)
        metric_add(service_slot(flow, RECEIVED), (int64_t)flow->intake.received);
    if (exchange->request.method != METHOD_HEAD)
        sent_bytes = response_bytes(&exchange->response);
    if (sent_bytes > 0)
        metric_add(service_slot(flow, SENT), (int64_t)sent_bytes);
    if (flow->work.call.is_limited)
        limits_pay(flow, sent_bytes, now_ns);
    if (d->attempts > 1)
        metric_add(service_slot(flow, REPEATED), d->attempts - 1);
}

static void keep_slowest(const struct flow *flow, uint64_t now_ns)
{
    struct slowest *slowest = slowest_of_process();
    uint64_t all_ns = now_ns - flow->began_ns;
    struct bytes path = flow->exchange->request.path;
    struct slow_request request;

    if (!slowest_wants(slowest, now_ns, all_ns))
        return;
    request = (struct slow_request){
        .ended = clock_wall(),
        .ended_ns = now_ns,
        .all_ns = all_ns,
        .service = flow->work.call.endpoint->service->name,
        .operation = operation_name(flow),
        .status = flow->exchange->response.status,
        .error = flow->work.answer.error,
        .id = flow->work.call.request_id,
        .path_length = (uint16_t)(path.len < SLOWEST_PATH_MAX ? path.len : SLOWEST_PATH_MAX),
    };
    if (request.path_length > 0)
        memcpy(request.path, path.ptr, request.path_length);
    slowest_put(slowest, &request);
}

void request_is_over(struct flow *flow)
{
    uint64_t now_ns = clock_monotonic_ns();

    metric_add(service_slot(flow, IN_FLIGHT), -1);
    if (flow->duration > 0)
        metric_observe_ns(flow->duration, now_ns - flow->began_ns);
    else
        metric_add(outcome_slot(flow, CUT_OFF), 1);
    if (flow->times.is_timed)
        request_times_add(&flow->times, now_ns);
    PROBE_END(flow, operation_name(flow), flow->exchange->response.status);
    keep_slowest(flow, now_ns);
    access_log(flow, now_ns);
    analytics_log(flow, now_ns);
}
