/* The way of a request, top down: what happens to an exchange between its head and its answer.
 *
 *   head   route -> authenticate -> find the operation -> check -> early check -> want the body
 *   body   intake
 *   end    finish body -> decide -> commit (or decide again) -> durable -> answer -> body -> respond
 *
 * The words of `end` are the states of struct work. A state that has to wait for a disk suspends the
 * exchange and is entered again when it is woken, so no worker ever waits. An error at any place goes
 * on at DURABLE: a refusal too reports a state, and a crash must not take back what was reported
 * (promise 2). */
#include "service/service_private.h"

#include <assert.h>

#include "base/log.h"
#include "service/control.h"

/* A decision that keeps losing against others is given up: far above what racing workers can cause. */
#define ATTEMPTS_MAX 1000

static struct work *work_of(struct exchange *exchange)
{
    struct work *work = exchange->application;

    assert(work && work->magic == WORK_MAGIC);
    return work;
}

/* It ends in an error; what is left to do is to wait for what was seen. */
static enum state refuse(struct work *work, enum error e)
{
    work->error = e;
    return DURABLE;
}

static void close_snapshot(struct work *work)
{
    if (work->decision.before)
        snapshot_close(work->decision.before);
    work->decision.before = NULL;
}

/* Goes on to `next`, or stops at a gate on the way there if the request asked for it (test builds). */
static enum state at_gate(struct work *work, enum gate gate, enum state next)
{
#ifdef LAGRA_GATES
    struct gate_request asked = work->call.gate;

    if (asked.action != GATE_PASS && asked.gate == gate) {
        work->call.gate.action = GATE_PASS;
        if (gate_stop(gate, &asked, pause_arm(&work->pause))) {
            work->state = next;
            pause_wait(&work->pause);
            return WAITING;
        }
    }
#else
    (void)work;
    (void)gate;
#endif
    return next;
}

/* ---- FINISH_BODY: all of the body has come; it becomes durable before it is decided ---- */

/* What is wrong with the body is kept until decide has looked at what comes before it: existence,
 * lease, conditions (decision: 2). */
void work_parse(struct work *work)
{
    const struct operation_functions *functions = work->call.operation->functions;
    struct decision *d = &work->decision;

    if (!functions->parse)
        return;
    d->malformed = functions->parse(&work->call, work->parameters);
    if (d->malformed) {
        work->malformed = work->problem;
        d->malformed_because = &work->malformed;
    }
}

static enum state finish_body(struct work *work)
{
    enum store_result result = intake_finish(work);
    enum error e;

    if (result == STORE_WAIT) {
        pause_wait(&work->pause);
        return WAITING;
    }
    if (result)
        return refuse(work, decision_fail_store(&work->decision, result));
    e = intake_check_sums(work);
    if (e)
        return refuse(work, e);
    work_parse(work);
    work->attempt = arena_mark(work->call.arena);
    return at_gate(work, GATE_STAGED, DECIDE);
}

/* ---- DECIDE, COMMIT ---- */

/* Opens the partition as it is now. The clock is read after that: so the decision's instant is above
 * every one that the state holds, and an ETag made of it is newer than all that were seen. */
static enum error open_partition(struct work *work)
{
    struct decision *d = &work->decision;
    enum error e = work->endpoint->service->locate(d, &work->partition);
    instant newest = 0;

    if (!e) {
        d->before = snapshot_open(d->store, work->partition, d->access);
        decision_saw(d, snapshot_sequence(d->before));
        newest = snapshot_instant(d->before);
    }
    d->now = clock_now();
    if (d->now <= newest)
        d->now = newest + 1;
    return e;
}

/* Whatever an earlier attempt left is gone. */
static void begin_attempt(struct work *work)
{
    struct decision *d = &work->decision;

    close_snapshot(work);
    d->subject = (struct subject){ .exists = false };
    d->lease = (struct lease){ .kind = 0 };
    d->state = NULL;
    work->problem = (struct problem){ .detail = NULL };
    d->changes = changes_new(d->arena);
    d->leaves_more = false;
}

static enum state decide(struct work *work)
{
    struct decision *d = &work->decision;
    enum error e;

    if (++work->attempts > ATTEMPTS_MAX)
        return refuse(work, E_ServerBusy);
    arena_rewind(work->call.arena, work->attempt);
    begin_attempt(work);
    work->result = arena_alloc(d->arena, d->operation->functions->result_size);
    e = open_partition(work);
    if (!e)
        e = operation_decide(d, work->parameters, work->result);
    if (e)
        return refuse(work, e);
    if (changes_empty(d->changes))
        return DURABLE;
    return at_gate(work, GATE_DECIDED, COMMIT);
}

/* Held at APPLIED means applied and not yet durable: the syncer stops before the commit, not after. */
static enum store_result apply(struct work *work, uint64_t *ret_sequence)
{
    struct decision *d = &work->decision;
    enum store_result result;

#ifdef LAGRA_GATES
    bool holds = work->call.gate.action == GATE_HOLD && work->call.gate.gate == GATE_APPLIED;

    if (holds)
        gate_hold_syncer(true);
#endif
    result = store_commit(d->store, &(struct commit_part){ d->before, d->changes }, 1, d->now,
                          d->access, ret_sequence);
#ifdef LAGRA_GATES
    if (holds && result && gate_count(GATE_APPLIED) == 0)
        gate_hold_syncer(false);
#endif
    return result;
}

static enum state commit(struct work *work)
{
    struct decision *d = &work->decision;
    uint64_t sequence = 0;
    enum store_result result = apply(work, &sequence);

    switch (result) {
    case STORE_OK:
        decision_saw(d, sequence);
        if (d->leaves_more)
            content_collect_all(d->store, work->partition);
        return at_gate(work, GATE_APPLIED, DURABLE);
    case STORE_CONFLICT:
    case STORE_NOT_FOUND: /* the space was dropped: the next attempt finds its container gone */
        return DECIDE;
    case STORE_CORRUPT:
    case STORE_IO:
    case STORE_FULL:
    case STORE_SHORTAGE:
    case STORE_BUSY:
    case STORE_UNKNOWN:
    case STORE_WAIT:
        break;
    }
    return refuse(work, decision_fail_store(d, result));
}

/* ---- DURABLE: nothing that was seen or done may be taken back by a crash once it is told ---- */

static enum state become_durable(struct work *work)
{
    struct decision *d = &work->decision;

    if (store_is_durable(d->store, d->seen))
        return at_gate(work, GATE_SYNCED, ANSWER);
    if (!store_healthy(d->store)) {
        work->error = decision_fail_store(d, STORE_IO);
        return ANSWER;
    }
    store_wait_durable(d->store, d->seen, pause_arm(&work->pause));
    pause_wait(&work->pause);
    return WAITING;
}

/* ---- ANSWER: the result, or the error, as the service renders it ---- */

static enum state answer(struct work *work)
{
    work->answer.now = work->decision.now;
    if (work->error)
        answer_error(&work->answer, work->error, &work->problem);
    else
        operation_answer(&work->answer, work->parameters, work->result);
    return BODY;
}

/* ---- going over the states ---- */

static enum state enter(struct work *work)
{
    switch (work->state) {
    case FINISH_BODY:
        return finish_body(work);
    case DECIDE:
        return decide(work);
    case COMMIT:
        return commit(work);
    case DURABLE:
        return become_durable(work);
    case ANSWER:
        return answer(work);
    case BODY:
        return answer_body(work);
    case ADMIT:
    case RESPOND:
    case WAITING:
        break;
    }
    assert(false); /* a state that is not entered */
    return RESPOND;
}

static enum http_step run(struct work *work)
{
    while (work->state != RESPOND) {
        enum state next = enter(work);

        if (next == WAITING)
            return HTTP_WAIT;
        work->state = next;
    }
    answer_common(work);
    request_log(work);
    control_reply(work);
    return HTTP_RESPOND;
}

/* ---- head ---- */

static struct work *work_new(struct exchange *exchange)
{
    struct work *work = arena_alloc(exchange->arena, sizeof *work);

    work->magic = WORK_MAGIC;
    work->exchange = exchange;
    work->endpoint = exchange->request.listener_tag;
    pause_init(&work->pause, exchange);
    work_init(work, &exchange->request, &exchange->response);
    exchange->application = work;
    return work;
}

void work_init(struct work *work, const struct request *request, struct response *response)
{
    struct arena *arena = work->exchange->arena;
    struct call *call = &work->call;
    struct decision *d = &work->decision;

    call->service = work->endpoint->service;
    call->loose = work->endpoint->options->loose;
    call->request = request;
    call->arena = arena;
    call->request_id = guid_new();
    call->version = bytes_from_string("");
    call->inline_max = CONTENT_INLINE_MAX;
    call->wants_crc64 = true;
    call->problem = &work->problem;
    d->service = call->service;
    d->input = &call->input;
    d->arena = arena;
    d->store = work->endpoint->store;
    d->access = STORE_MAY_BLOCK;
    d->problem = &work->problem;
    d->now = clock_now();
    work->answer = (struct answer){ .call = call, .arena = arena, .response = response };
    response_init(response, arena);
}

/* Who may not do it learns nothing else of it, not even whether there is such an operation. */
static enum error permit(const struct work *work, enum error found)
{
    const struct call *call = &work->call;
    const struct input *input = &call->input;

    if (found)
        return input->identity.kind == IDENTITY_ANONYMOUS && call->request->method != METHOD_OPTIONS
                   ? E_NoAuthenticationInformation
                   : found;
    return call->service->permit(&call->operation->rights, &input->identity, input->resource, NULL);
}

static enum error find_operation(struct work *work)
{
    struct call *call = &work->call;
    enum error e = OK;

    if (call->service->operation_count == 0)
        e = call_fail(call, E_NotImplemented, "The %s service is not built yet.",
                      call->service->name);
    else
        call->operation = operation_find(call->service, call, &e);
    e = permit(work, e);
    if (e)
        return e;
    if (!call->operation->functions)
        return call_fail(call, E_NotImplemented, "%s is not built yet.", call->operation->name);
    if (call->secondary && call->operation->rights.effect == WRITES)
        return E_WriteNotAllowed;
    if (call->request->content_length != HTTP_LENGTH_UNKNOWN &&
        call->operation->body != BODY_REFUSED &&
        call->request->content_length > call->operation->body_max)
        return E_RequestBodyTooLarge;
    return OK;
}

/* The operation's own look at the head. */
static enum error check(struct work *work)
{
    struct call *call = &work->call;
    struct decision *d = &work->decision;
    const struct operation *row = call->operation;

    d->operation = row;
    d->level = row->level == LEVEL_ANY ? 0 : call->input.resource->level;
    work->parameters = arena_alloc(call->arena, row->functions->parameters_size);
    work->parameters->operation = row;
    if (call_header(call, "content-md5").ptr)
        call->wants_md5 = true;
    return row->functions->check(call, work->parameters);
}

enum error work_find(struct work *work)
{
    enum error e = find_operation(work);

    if (!e)
        e = work->call.service->check_names(work->call.input.resource);
    return e ? e : check(work);
}

/* What can be refused before the body is read. Only an optimisation: decide checks all of it again. */
static enum error early_check(struct work *work)
{
    uint64_t length = work->call.request->content_length;
    enum error e;

    if (length <= work->call.inline_max && !call_header(&work->call, "expect").ptr)
        return OK;
    begin_attempt(work);
    e = open_partition(work);
    if (!e)
        e = operation_check(&work->decision);
    close_snapshot(work);
    return e;
}

static enum error admit(struct work *work)
{
    enum error e = route_request(work);

    if (!e && work->exchange->server_is_busy)
        return E_ServerBusy;
    if (!e)
        e = route_authenticate(work);
    if (!e && work->call.input.identity.kind != IDENTITY_ANONYMOUS)
        exchange_trust(work->exchange);
    if (!e)
        e = work_find(work);
    return e ? e : early_check(work);
}

static enum http_step on_head(struct exchange *exchange)
{
    struct work *work = exchange->application;
    enum error e;

    if (!work) {
        if (control_request(exchange))
            return HTTP_RESPOND;
        work = work_new(exchange);
        e = admit(work);
        if (!e) {
            intake_init(work);
            work->state = FINISH_BODY;
            return HTTP_WANT_BODY;
        }
        work->state = refuse(work, e);
    }
    return run(work_of(exchange));
}

/* ---- body, end, done ---- */

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct work *work = work_of(exchange);

    /* Refused while it came in, and now waiting for what was seen. */
    if (work->state != FINISH_BODY) {
        *ret_taken = data.len;
        return run(work);
    }
    switch (intake_take(work, data, ret_taken)) {
    case BODY_TAKEN:
        return HTTP_WANT_BODY;
    case BODY_PAUSED:
        pause_wait(&work->pause);
        return HTTP_WAIT;
    case BODY_TOO_LARGE:
        work->state = refuse(work, E_RequestBodyTooLarge);
        return run(work);
    case BODY_STORE_FAILED:
        work->state = refuse(work, work->intake.failure);
        return run(work);
    }
    return HTTP_CUT;
}

static enum http_step on_end(struct exchange *exchange)
{
    return run(work_of(exchange));
}

static void on_done(struct exchange *exchange)
{
    struct work *work = exchange->application;

    if (!work)
        return;
    if (work->reader)
        content_reader_close(work->reader);
    close_snapshot(work);
    if (work->intake.stage)
        stage_close(work->intake.stage);
}

const struct http_application service_application = {
    .head = on_head,
    .body = on_body,
    .end = on_end,
    .done = on_done,
};
