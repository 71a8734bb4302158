/* The way of a request, top down: what happens to an exchange between its head and its answer.
 *
 *   head   route -> authorize -> find the operation -> check -> early check -> want the body
 *   body   intake
 *   end    finish body -> staged -> decide -> commit (or decide again) -> durable -> body -> respond
 *
 * The words of `end` are the states of struct work. A state that has to wait for a disk suspends the
 * exchange and is entered again when it is woken, so no worker ever waits. An error at any place makes
 * the error's answer and goes on at DURABLE: a refusal too tells of a state, and a crash must not
 * take back what was told (promise 2). */
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

/* Makes the error's answer; what is left to do is to wait for what was seen. */
static enum state refuse(struct work *work, enum error e)
{
    answer_error(&work->decision, e);
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

static enum state finish_body(struct work *work)
{
    enum store_result result = intake_finish(work);
    enum error e;

    if (result == STORE_WAIT) {
        pause_wait(&work->pause);
        return WAITING;
    }
    if (result)
        return refuse(work, fail_store(&work->decision, result));
    e = intake_check_sums(work);
    if (e)
        return refuse(work, e);
    work->attempt = arena_mark(work->call.arena);
    return at_gate(work, GATE_STAGED, DECIDE);
}

/* ---- DECIDE, COMMIT ---- */

/* Opens the partition as it is now. */
static enum error open_partition(struct work *work)
{
    struct decision *d = &work->decision;
    enum error e = work->endpoint->service->locate(d, &work->partition);

    if (e)
        return e;
    d->before = snapshot_open(d->store, work->partition, d->access);
    decision_saw(d, snapshot_sequence(d->before));
    return OK;
}

/* Whatever an earlier attempt left is gone. */
static void begin_attempt(struct work *work)
{
    struct decision *d = &work->decision;

    close_snapshot(work);
    d->now = clock_now();
    d->subject = (struct subject){ .exists = false };
    d->lease = (struct lease){ .kind = 0 };
    d->state = NULL;
    d->send.wanted = false;
    d->error_detail = NULL;
    d->error_field_count = 0;
    d->changes = changes_new(d->arena);
    response_init(d->response, d->arena);
}

static enum state decide(struct work *work)
{
    struct decision *d = &work->decision;
    enum error e;

    if (++work->attempts > ATTEMPTS_MAX)
        return refuse(work, E_ServerBusy);
    arena_rewind(work->call.arena, work->attempt);
    begin_attempt(work);
    e = open_partition(work);
    if (!e)
        e = operation_decide(d);
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
    return refuse(work, fail_store(d, result));
}

/* ---- DURABLE: nothing that was seen or done may be taken back by a crash once it is told ---- */

static enum state become_durable(struct work *work)
{
    struct decision *d = &work->decision;

    if (store_is_durable(d->store, d->seen))
        return at_gate(work, GATE_SYNCED, BODY);
    if (!store_healthy(d->store)) {
        d->seen = 0;
        answer_error(d, fail_store(d, STORE_IO));
        return BODY;
    }
    store_wait_durable(d->store, d->seen, pause_arm(&work->pause));
    pause_wait(&work->pause);
    return WAITING;
}

/* ---- the walk over the states ---- */

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

static enum http_step walk(struct work *work)
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
    struct decision *d = &work->decision;

    work->magic = WORK_MAGIC;
    work->exchange = exchange;
    work->endpoint = exchange->request.listener_tag;
    pause_init(&work->pause, exchange);
    work->call.service = work->endpoint->service;
    work->call.loose = work->endpoint->options->loose;
    work->call.request = &exchange->request;
    work->call.arena = exchange->arena;
    work->call.request_id = guid_new();
    work->call.version = bytes_from_string("");
    work->call.inline_max = CONTENT_INLINE_MAX;
    work->call.wants_crc64 = true;
    d->call = &work->call;
    d->arena = exchange->arena;
    d->store = work->endpoint->store;
    d->access = STORE_MAY_BLOCK;
    d->response = &exchange->response;
    d->now = clock_now();
    response_init(d->response, exchange->arena);
    exchange->application = work;
    return work;
}

static enum error find_operation(struct work *work)
{
    struct decision *d = &work->decision;
    struct call *call = &work->call;
    enum error e = OK;

    if (call->service->operation_count == 0)
        return fail(d, E_NotImplemented, "The %s service is not built yet.", call->service->name);
    call->operation = operation_find(call->service, call, &e);
    if (!call->operation)
        return e;
    d->operation = call->operation;
    if (!call->operation->decide)
        return fail(d, E_NotImplemented, "%s is not built yet.", call->operation->name);
    if (call->secondary && (call->operation->methods & (METHOD_GET | METHOD_HEAD)) == 0)
        return fail(d, E_InsufficientAccountPermissions, "The secondary endpoint is read-only.");
    if (call->request->content_length != HTTP_LENGTH_UNKNOWN &&
        call->operation->body != BODY_REFUSED &&
        call->request->content_length > call->operation->body_max)
        return E_RequestBodyTooLarge;
    return OK;
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
    struct call *call = &work->call;
    enum error e = route(work);

    if (!e && work->exchange->server_is_busy)
        return E_ServerBusy;
    if (!e)
        e = route_authorize(work);
    if (!e)
        exchange_trust(work->exchange);
    if (!e)
        e = find_operation(work);
    if (!e && call->service->check_names)
        e = call->service->check_names(&work->decision);
    if (!e && call_header(call, "content-md5").ptr)
        call->wants_md5 = true;
    if (!e && call->operation->check)
        e = call->operation->check(&work->decision);
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
    return walk(work_of(exchange));
}

/* ---- body, end, done ---- */

static enum http_step on_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct work *work = work_of(exchange);

    /* Refused while it came in, and now waiting for what was seen. */
    if (work->state != FINISH_BODY) {
        *ret_taken = data.len;
        return walk(work);
    }
    switch (intake_take(work, data, ret_taken)) {
    case BODY_TAKEN:
        return HTTP_WANT_BODY;
    case BODY_PAUSED:
        pause_wait(&work->pause);
        return HTTP_WAIT;
    case BODY_TOO_LARGE:
        work->state = refuse(work, E_RequestBodyTooLarge);
        return walk(work);
    case BODY_STORE_FAILED:
        work->state = refuse(work, work->intake.failure);
        return walk(work);
    }
    return HTTP_CUT;
}

static enum http_step on_end(struct exchange *exchange)
{
    return walk(work_of(exchange));
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
