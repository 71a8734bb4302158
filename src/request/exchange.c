/* The path of a request through an exchange, from its headers to its response.
 *
 *   head   route -> authenticate (-> find the version) -> find the operation -> check
 *          -> early check -> want the body
 *   body   intake
 *   end    finish body (-> gather) -> decide and commit (driver.h) -> cors -> durable -> answer
 *          -> body -> respond
 *
 * In a batch of operations each part is decided and committed before the next one. The batch waits
 * for durability once:
 *
 *   batch  begin -> (part -> decide and commit -> part done) for each -> cors -> durable -> answer
 *
 * These words are the states of struct flow. A state that must wait for a disk suspends the
 * exchange and is entered again when the exchange is woken, so a worker never waits. After an error
 * the next state is CORS, then DURABLE, because a refusal also reports state, and a crash must not
 * undo it (promise 2). */
#include "request/request_private.h"

#include <assert.h>
#include <stddef.h>

#include "base/log.h"
#include "request/control.h"

/* Asserts the invariants of a flow in all states. */
static void assert_flow(const struct flow *flow)
{
    assert(flow->magic == FLOW_MAGIC && flow->exchange->application == flow);
    assert(flow->current == &flow->work || flow->batch);
    assert(!(flow->batch && flow->work.transaction));
    assert(!flow->work.call.input.body.stage || flow->intake.stage);
}

static struct flow *flow_of(struct exchange *exchange)
{
    struct flow *flow = exchange->application;

    assert(flow);
    assert_flow(flow);
    return flow;
}

/* Ends the request with an error, which is sent once all state that it depends on is durable. */
static enum state refuse(struct flow *flow, enum error e)
{
    assert(e != OK && !decision_is_unfinished(e));
    flow->work.error = e;
    return CORS;
}

/* Returns the state after the decision of the operation or of a part of the batch. */
static enum state after_decision(const struct flow *flow)
{
    return flow->current == &flow->work ? CORS : PART_DONE;
}

/* ---- BATCH, PART: operations of a batch ---- */

static enum state begin_batch(struct flow *flow)
{
    return flow->work.call.operation->functions->batch->whole ? transaction_begin(flow)
                                                              : batch_begin(flow);
}

/* Decides the current part. Commits its changes unless it joins a group that is committed
 * together. */
static enum state decide_part(struct flow *flow)
{
    enum drive reached = driver_attempt(&flow->driver);
    bool has_changes = reached == DRIVE_COMMIT || reached == DRIVE_DECIDED;

    if ((has_changes || reached == DRIVE_DONE) && batch_part_decided(flow, has_changes) == PART)
        return PART;
    if (flow->driver.state == DRIVE_COMMIT)
        driver_step(&flow->driver);
    return DECIDE;
}

/* Handles the end of the driver's work. */
static enum state driven(struct flow *flow)
{
    assert(driver_is_done(&flow->driver) && !decision_is_unfinished(flow->driver.error));
    flow->current->error = flow->driver.error;
    return flow->driver.state == DRIVE_APPLIED ? APPLIED : after_decision(flow);
}

/* Runs the remaining parts of a batch on a thread of the pool. Returns if a part must stop at a
 * gate or wait for others; the worker continues with it. */
static enum state run_parts(struct flow *flow, enum state state)
{
    for (;;) {
        if (state == PART)
            state = batch_next(flow);
        else if (state == PART_FOUND && !work_is_gated(flow->current))
            state = DECIDE;
        else if (state == DECIDE && flow->driver.state == DRIVE_DECIDE)
            state = decide_part(flow);
        else if (state == DECIDE && driver_is_done(&flow->driver))
            state = driven(flow);
        else if (state == APPLIED && !work_is_gated(flow->current))
            state = PART_DONE;
        else if (state == PART_DONE)
            state = batch_part_done(flow);
        else
            return state;
    }
}

static enum state run_all_parts(struct flow *flow)
{
    return run_parts(flow, PART);
}

/* Runs the step that needs a thread that may block; in a batch, also the parts after it. */
static enum state run_pooled(struct flow *flow)
{
    if (flow->batch && flow->driver.state == DRIVE_DECIDE)
        return run_parts(flow, DECIDE);
    driver_step(&flow->driver);
    return DECIDE;
}

/* ---- DECIDE ---- */

static enum state drive(struct flow *flow)
{
    enum drive reached;

    while ((reached = driver_run(&flow->driver)) == DRIVE_OTHERS)
        if (driver_wait(&flow->driver, flow_arm(flow))) {
            request_times_enter(&flow->observed.times, AT_OTHERS);
            return flow_wait(flow);
        }
    if (reached == DRIVE_BLOCKED)
        return flow_to_pool(flow, run_pooled);
    return reached == DRIVE_DECIDED ? flow_at_gate(flow, GATE_DECIDED, DECIDE) : driven(flow);
}

/* ---- ANSWER: the result or the error, rendered by the service ---- */

static enum state answer(struct flow *flow)
{
    assert(flow->current == &flow->work);
    flow->work.answer.now = flow->work.decision.now;
    if (fault_answer(flow))
        return BODY;
    if (flow->work.transaction)
        transaction_answer(&flow->work);
    else if (flow->work.error)
        answer_error(&flow->work.answer, flow->work.error, &flow->work.problem);
    else
        operation_answer(&flow->work.answer, flow->work.decision.parameters,
                         flow->work.decision.result);
    return BODY;
}

/* ---- the state machine ---- */

static enum state enter(struct flow *flow)
{
    switch (flow->state) {
    case HEALTH:
        return health_find(flow);
    case HELD:
        return limits_hold(flow);
    case FIND_VERSION:
        return default_version_find(flow);
    case FIND_OPERATION:
        return operation_find_step(flow);
    case FAULT:
        return fault_begin(flow);
    case ADMIT:
        return operation_admit(flow);
    case EARLY_CHECK:
        return early_check(flow);
    case FINISH_BODY:
        return body_finish(flow);
    case PARSED:
        return flow_at_gate(flow, GATE_STAGED,
                            flow->work.call.operation->functions->batch ? BATCH : DECIDE);
    case BATCH:
        return begin_batch(flow);
    case PART:
        return batch_next(flow);
    case PART_FOUND:
        return flow_at_gate(flow, GATE_STAGED, DECIDE);
    case DECIDE:
        return drive(flow);
    case BATCH_BEGIN_IN_POOL:
        return flow_to_pool(flow, begin_batch);
    case BATCH_IN_POOL:
        return flow_to_pool(flow, run_all_parts);
    case BATCH_ELSEWHERE:
        return batch_send(flow);
    case DECIDE_IN_POOL:
        return flow_to_pool(flow, run_pooled);
    case APPLIED:
        return flow_at_gate(flow, GATE_APPLIED, after_decision(flow));
    case PART_DONE:
        return batch_part_done(flow);
    case BATCH_APPLIED:
        return flow_at_gate(flow, GATE_APPLIED, CORS);
    case CORS:
        return cors_find(flow);
    case DURABLE:
        return durable_await(flow);
    case ANSWER:
        return flow->work.decision.renders_long ? flow_to_pool(flow, answer) : answer(flow);
    case BODY:
        return answer_body(flow);
    case POOLED:
        return flow->pooled_next;
    case WANT_BODY:
    case RESPOND:
    case CUT:
    case WAITING:
        break;
    }
    assert(false); /* never entered */
    return RESPOND;
}

/* Returns the stage to report for the current state. For POOLED, the stage in which the pooled step
 * started. */
static enum request_stage stage_of(const struct flow *flow)
{
    static const enum request_stage stages[] = {
        [HEALTH] = AT_HEAD,          [HELD] = AT_HEAD,
        [FIND_VERSION] = AT_HEAD,    [FIND_OPERATION] = AT_HEAD,
        [FAULT] = AT_HEAD,           [ADMIT] = AT_HEAD,
        [EARLY_CHECK] = AT_HEAD,     [WANT_BODY] = AT_BODY,
        [FINISH_BODY] = AT_STAGED,   [PARSED] = AT_STAGED,
        [BATCH] = AT_DECIDE,         [BATCH_BEGIN_IN_POOL] = AT_DECIDE,
        [BATCH_IN_POOL] = AT_DECIDE, [BATCH_ELSEWHERE] = AT_DECIDE,
        [PART] = AT_DECIDE,          [PART_FOUND] = AT_DECIDE,
        [DECIDE] = AT_DECIDE,        [DECIDE_IN_POOL] = AT_DECIDE,
        [APPLIED] = AT_DECIDE,       [PART_DONE] = AT_DECIDE,
        [BATCH_APPLIED] = AT_DECIDE, [CORS] = AT_SYNC,
        [DURABLE] = AT_SYNC,         [ANSWER] = AT_ANSWER,
        [BODY] = AT_ANSWER,          [RESPOND] = AT_ANSWER,
        [CUT] = AT_ANSWER,           [WAITING] = AT_HEAD,
    };

    return flow->state == POOLED ? flow->observed.times.stage : stages[flow->state];
}

static void observe_attempts(struct flow *flow)
{
    flow->observed.received = flow->intake.received;
    flow->observed.attempts = flow->work.decision.attempts;
    flow->observed.parts = flow->work.logged;
}

/* Runs states until the exchange must wait or http/ has the next step. */
static enum http_step run(struct flow *flow)
{
    uint64_t sent;

    while (flow->state != RESPOND && flow->state != WANT_BODY && flow->state != CUT) {
        enum state next;

        request_times_enter(&flow->observed.times, stage_of(flow));
        next = enter(flow);

        assert(next <= WAITING);
        if (next == WAITING)
            return HTTP_WAIT;
        flow->state = next;
    }
    if (flow->state == CUT)
        return HTTP_CUT;
    if (flow->state == WANT_BODY) {
        request_times_enter(&flow->observed.times, AT_BODY);
        intake_init(flow);
        flow->state = FINISH_BODY;
        return HTTP_WANT_BODY;
    }
    assert_flow(flow);
    answer_charge_memory(flow);
    answer_common(&flow->work);
    cors_answer(&flow->work);
    if (flow->fault && fault_spoils_answer(flow))
        return HTTP_CUT;
    observe_attempts(flow);
    request_log(&flow->observed);
    sent = observe_response(&flow->observed);
    if (flow->work.call.is_limited)
        limits_pay(flow, sent, clock_monotonic_ns());
    if (!flow->fault) /* a faulty response does not match its table row */
        control_reply(&flow->work);
    answer_drop_scratch(flow);
    return HTTP_RESPOND;
}

/* ---- head ---- */

_Static_assert(offsetof(struct flow, work.decision) + sizeof(struct decision) ==
                   sizeof(struct flow),
               "members that flow_new() does not zero are at the end");

static struct flow *flow_new(struct exchange *exchange)
{
    struct flow *flow =
        arena_alloc_head(exchange->arena, sizeof *flow, offsetof(struct flow, work.decision.parts));

    flow->magic = FLOW_MAGIC;
    flow->exchange = exchange;
    pause_init(&flow->driver.pause, flow_wake);
    flow_set_current(flow, &flow->work);
    work_init(&flow->work, exchange->request.listener_tag, exchange->arena, &exchange->request,
              &exchange->response);
    exchange->application = flow;
    flow->observed = (struct observed_request){ .exchange = exchange,
                                                .call = &flow->work.call,
                                                .answer = &flow->work.answer };
    observe_start(&flow->observed);
    assert_flow(flow);
    return flow;
}

/* Returns the first state of a request whose headers have arrived. */
static enum state admit(struct flow *flow)
{
    enum error e;

    if (is_health_request(&flow->exchange->request))
        return HEALTH;
    e = route_request(&flow->work.call);
    prepare_secondary(&flow->work.call, &flow->work.decision);
    analytics_begins(&flow->observed);
    if (!e && flow->exchange->server_is_busy)
        e = E_ServerBusy;
    if (!e)
        e = route_authenticate(&flow->work.call);
    if (!e && flow->work.call.input.identity.kind != IDENTITY_ANONYMOUS)
        exchange_authenticate(flow->exchange);
    exchange_serves_for(flow->exchange, e && !limits_refused(e) ? NULL : flow->work.call.account);
    if (limits_refused(e)) {
        flow->work.error = e;
        return HELD;
    }
    if (e)
        return refuse(flow, e);
    return default_version_matters(&flow->work) ? FIND_VERSION : FIND_OPERATION;
}

static enum http_step on_head(struct exchange *exchange)
{
    struct flow *flow = exchange->application;

    if (!flow) {
        if (control_request(exchange))
            return HTTP_RESPOND;
        flow = flow_new(exchange);
        flow->state = admit(flow);
    }
    return run(flow_of(exchange));
}

/* ---- body, end, done ---- */

static enum http_step refuse_body(struct flow *flow, enum error e)
{
    flow->intake.was_refused = true;
    flow->state = refuse(flow, e);
    return run(flow);
}

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct flow *flow = flow_of(exchange);

    /* the request was refused before its body was complete, so discard the rest */
    if (flow->state != FINISH_BODY) {
        *ret_taken = data.len;
        return run(flow);
    }
    if (exchange->server_is_busy) {
        *ret_taken = data.len;
        return refuse_body(flow, E_ServerBusy);
    }
    if (fault_cuts_body(flow, data.len))
        return HTTP_CUT;
    switch (intake_take(flow, data, ret_taken)) {
    case BODY_TAKEN:
        return HTTP_WANT_BODY;
    case BODY_PAUSED:
        flow_wait(flow);
        return HTTP_WAIT;
    case BODY_TOO_LARGE:
        return refuse_body(flow, E_RequestBodyTooLarge);
    case BODY_NOT_TAKEN:
        return refuse_body(flow, flow->intake.failure);
    }
    return HTTP_CUT;
}

static enum http_step on_end(struct exchange *exchange)
{
    return run(flow_of(exchange));
}

static void on_done(struct exchange *exchange)
{
    struct flow *flow = exchange->application;

    if (!flow)
        return;
    assert_flow(flow);
    observe_attempts(flow);
    observe_end(&flow->observed);
    if (flow->reader)
        content_reader_close(flow->reader);
    deciding_end(&flow->work.decision);
    batch_free(flow);
    if (flow->intake.stage)
        stage_close(flow->intake.stage);
}

const struct http_application service_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
    .round = body_hash_round,
};
