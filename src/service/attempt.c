/* An operation on its way, without the exchange that it came by: its head, its attempts to decide,
 * its commit. Nothing here suspends: what is not in memory is either waited for on this thread or
 * reported to the caller, by the decision's access. */
#include "service/service_private.h"

#include <assert.h>
#include <stdlib.h>

#include "service/gather.h"

/* ---- the head ---- */

void work_init(struct work *work, const struct endpoint *endpoint, struct arena *arena,
               const struct request *request, struct response *response)
{
    struct call *call = &work->call;
    struct decision *d = &work->decision;

    work->endpoint = endpoint;
    call->service = endpoint->service;
    call->loose = endpoint->options->loose;
    call->no_public_access = endpoint->options->no_public_access;
    call->rehydrates_ticks = endpoint->options->rehydrate_seconds * TICKS_PER_SECOND;
    call_set_request(call, request);
    call->method = request->method;
    call->arena = arena;
    call->request_id = guid_new();
    call->version = bytes_from_string("");
    call->problem = &work->problem;
    d->service = call->service;
    d->input = &call->input;
    d->arena = arena;
    d->store = endpoint->store;
    d->access = STORE_NO_WAIT;
    d->problem = &work->problem;
    d->now = clock_now();
    work->answer = (struct answer){ .call = call, .arena = arena, .response = response };
    response_init(response, arena);
}

/* Who may not do it learns nothing else of it, not even whether there is such an operation. Nothing
 * of the state is known yet. */
static enum error permit_unseen(struct work *work, enum error found)
{
    static const struct rights of_nobody = {
        .type = RIGHTS_ANY, .account = RIGHTS_ANY, .service = RIGHTS_ANY, .create = ""
    };
    static const struct permit_facts unknown = { .known = false };
    struct call *call = &work->call;
    struct bytes detail = { NULL, 0 };
    enum error e;

    if (found && call->request->method == METHOD_OPTIONS)
        return found;
    e = permit(found ? &of_nobody : &call->operation->rights, &call->input.demands,
               &call->input.identity, &unknown, call->arena, &detail);
    if (e && detail.ptr)
        call->problem->detail = arena_string(call->arena, detail);
    return e ? e : found;
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
    e = permit_unseen(work, e);
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
    call->inline_max = store_limits(d->store).inline_bytes;
    if (call_header(call, "content-md5").ptr)
        call->wants_md5 = true;
    if (call_header(call, "x-ms-content-crc64").ptr)
        call->wants_crc64 = true;
    return row->functions->check(call, work->parameters);
}

enum error work_find(struct work *work)
{
    enum error e = find_operation(work);

    if (!e)
        e = work->call.service->check_names(work->call.input.resource);
    return e ? e : check(work);
}

/* ---- the body ---- */

enum error work_gather(struct work *work, struct stage **stage)
{
    struct gathering gathering = {
        .endpoint = work->endpoint,
        .call = &work->call,
        .decision = &work->decision,
        .partition = work->partition,
        .stage = stage,
        .seen = &work->decision.seen_before,
    };
    enum error e = work->call.operation->functions->gather(&gathering, work->parameters);

    decision_saw(&work->decision, work->decision.seen_before);
    return e;
}

/* What is wrong with the body is kept until decide has looked at what comes before it: existence,
 * lease, conditions (decision: 2). */
void work_parse(struct work *work)
{
    const struct operation_functions *functions = work->call.operation->functions;
    struct decision *d = &work->decision;

    if (functions->parse)
        d->malformed = functions->parse(&work->call, work->parameters);
    if (d->malformed) {
        work->malformed = work->problem;
        d->malformed_because = &work->malformed;
    }
    d->attempt = arena_mark(d->arena);
}

/* ---- attempts ---- */

void work_move(struct work *work, struct arena *arena)
{
    work->call.arena = arena;
    work->decision.arena = arena;
    work->answer.arena = arena;
    response_init(work->answer.response, arena);
}

void work_open(struct work *work)
{
    decision_open_subject(&work->decision, work->partition);
    decision_read_clock(&work->decision);
}

/* Opens the partition as it is now. */
static enum error open_partition(struct work *work)
{
    enum error e = work->endpoint->service->locate(&work->decision, &work->partition);

    if (e)
        decision_read_clock(&work->decision);
    else
        work_open(work);
    return e;
}

/* The operation on the state as it is now. */
static enum error decide_alone(struct work *work)
{
    struct decision *d = &work->decision;
    enum error e;

    work->result = arena_alloc(d->arena, d->operation->functions->result_size);
    e = open_partition(work);
    return e ? operation_missing(d, e) : operation_decide(d, work->parameters, work->result);
}

/* Test builds: an attempt on a worker found everything in memory; as if it had not. */
static enum error or_wait(const struct work *work, enum error e)
{
#ifdef LAGRA_GATES
    if (work->endpoint->options->always_wait && work->decision.access == STORE_NO_WAIT)
        return DECIDE_BLOCKING;
#else
    (void)work;
#endif
    return e;
}

enum error work_check(struct work *work)
{
    struct decision *d = &work->decision;
    enum error e;

    work->error = OK;
    deciding_begin(d);
    e = open_partition(work);
    e = e ? operation_missing(d, e) : operation_check(d);
    deciding_end(d);
    return or_wait(work, e);
}

static enum error attempt(struct decision *d, void *of)
{
    struct work *work = of;

    (void)d;
    work->error = OK;
    return or_wait(work, work->whole ? whole_list_decide(work) : decide_alone(work));
}

enum error work_decide(struct work *work)
{
    return deciding_attempt(&work->decision, attempt, work);
}

enum error work_run(struct work *work)
{
    return deciding_run(&work->decision, attempt, work);
}

/* ---- the commit ---- */

/* Held at APPLIED means applied and not yet durable: the syncer stops before the commit, not
 * after. */
enum error work_commit(struct work *work)
{
    enum error e;

#ifdef LAGRA_GATES
    bool holds = work->call.gate.action == GATE_HOLD && work->call.gate.gate == GATE_APPLIED;

    if (holds)
        gate_hold_syncer(true);
#endif
    e = deciding_commit(&work->decision);
#ifdef LAGRA_GATES
    if (holds && e && gate_count(GATE_APPLIED) == 0)
        gate_hold_syncer(false);
#endif
    return e;
}
