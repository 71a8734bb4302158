/* Executes an all-or-nothing batch of operations; see batch.h. Prepares its parts, and decides them
 * on one snapshot. The changes of all parts form the changes of the transaction, which passes
 * through the states of request/exchange.c like a single operation. */
#include "request/request_private.h"

#include <assert.h>

/* Longer or larger transactions are decided in the pool, so that other requests do not wait for the
 * worker. */
#define WORKER_PARTS_MAX 8u
#define WORKER_BYTES_MAX (64u << 10)

struct transaction {
    struct batch_parameters *parameters;
    const struct batch_functions *functions;
    struct work *works; /* one per part */
    size_t failed;      /* index of the part that caused the error */
    bool has_failed;
};

/* ---- before the first attempt ---- */

static enum error fail_part(struct work *work, size_t index, enum error e)
{
    assert(e != OK && index < work->transaction->parameters->count);
    work->transaction->failed = index;
    work->transaction->has_failed = true;
    work->problem = work->transaction->works[index].problem;
    return e;
}

/* Sets the part's caller, which is the caller of the transaction. Its roles may depend on the
 * part's container. decision: 188 */
static void identify(struct work *part, const struct work *transaction)
{
    struct call *call = &part->call;
    struct identity *identity = &call->input.identity;
    const struct trust_holder *trust = part->call.endpoint->trust;
    struct bytes container = { NULL, 0 }, object;

    *identity = transaction->call.input.identity;
    if (identity->kind != IDENTITY_BEARER)
        return;
    call->service->names(call->input.resource, &container, &object);
    identity->actions = trust_actions(trust_now(trust), identity->oid, call->account_name,
                                      call->service->name[0], container);
}

/* Prepares the part like an operation of its own, including its body. */
static enum error prepare(struct work *work, struct work *part, struct batch_part *parameters)
{
    struct call *call = &part->call;
    enum error e;

    parameters->request.content_length = parameters->body.len;
    work_init_part(part, work, &parameters->request, work->answer.response);
    e = route_part(&part->call, &work->call);
    if (e)
        return e;
    identify(part, work);
    e = prepare_head(&part->call, &part->decision);
    if (e)
        return e;
    assert(!call->operation->functions->gather && call->operation->body != BODY_STAGED);
    call->input.body.length = parameters->body.len;
    call->input.body.inline_bytes = parameters->body;
    prepare_body(&part->call, &part->decision);
    if (part->decision.malformed)
        part->problem = *part->decision.malformed_because;
    return part->decision.malformed;
}

static enum error prepare_all(struct work *work)
{
    struct transaction *transaction = work->transaction;

    for (size_t i = 0; i < transaction->parameters->count; i++) {
        struct work *part = &transaction->works[i];
        enum error e = prepare(work, part, &transaction->parameters->parts[i]);

        if (e)
            return fail_part(work, i, e);
        e = transaction->functions->admit(&work->call, transaction->parameters, &part->call);
        if (e) {
            part->problem = work->problem;
            return fail_part(work, i, e);
        }
    }
    return OK;
}

/* ---- an attempt ---- */

/* Locates the first part. Its partition becomes that of the transaction. */
static enum error locate_first(struct work *work, struct decision *d)
{
    enum error e = d->service->locate(d, &work->decision.partition);

    decision_move_parts(&work->decision, d);
    if (e)
        return operation_missing(d, e);
    decision_open_subject(&work->decision, work->decision.partition);
    decision_read_clock(&work->decision);
    return OK;
}

/* Copies the state located for the first part. OP_admit has ensured that the other parts are in the
 * same partition. */
static void locate_other(struct work *work, struct decision *d)
{
    const struct decision *first = &work->transaction->works[0].decision;

    assert(first->state && work->decision.before);
    assert(d->service->state_size >= sizeof *d->state);
    d->state = arena_alloc(d->arena, d->service->state_size);
    memcpy(d->state, first->state, d->service->state_size);
    d->state->resource = d->input->resource;
}

static enum error decide_part(struct work *work, struct work *part, size_t index)
{
    struct decision *whole = &work->decision;
    struct decision *d = &part->decision;
    enum error e;

    d->subject = (struct subject){ .exists = false };
    d->lease = (struct lease){ .kind = 0 };
    d->state = NULL;
    d->access = whole->access;
    d->seen = 0;
    d->failed_ns = 0;
    d->changes = changes_new(d->arena);
    part->problem = (struct problem){ .detail = NULL };
    part->decision.result = arena_alloc(d->arena, d->operation->functions->result_size);
    if (index > 0)
        locate_other(work, d);
    e = index == 0 ? locate_first(work, d) : OK;
    d->before = work->decision.before;
    d->now = whole->now;
    if (!e)
        e = operation_decide(d, part->decision.parameters, part->decision.result);
    decision_saw_all(whole, d);
    if (!e)
        changes_append(whole->changes, d->changes);
    assert(d->part_count == 0 && (e || changes_empty(d->changes)));
    d->before = NULL; /* owned by the transaction */
    return e;
}

/* Attempts all parts on the current state. They share the transaction's clock and snapshot. of:
 * struct work of the transaction. */
static enum error decide_all(struct decision *d, void *of)
{
    struct work *work = of;
    struct transaction *transaction = work->transaction;

    (void)d;
    transaction->has_failed = false;
    for (size_t i = 0; i < transaction->parameters->count; i++) {
        enum error e = decide_part(work, &transaction->works[i], i);

        if (e)
            return decision_is_unfinished(e) ? e : fail_part(work, i, e);
    }
    return OK;
}

/* ---- start ---- */

static enum state refuse(struct work *work, enum error e)
{
    work->error = e;
    return CORS;
}

enum state transaction_begin(struct flow *flow)
{
    struct work *work = &flow->work;
    struct arena *arena = work->call.arena;
    enum error e;

    if (!work->decision.access.may_block && work->call.input.body.length > WORKER_BYTES_MAX)
        return BATCH_BEGIN_IN_POOL;
    e = work_check(work);
    if (e == DECIDE_AGAIN)
        return BATCH;
    if (e == DECIDE_BLOCKING)
        return BATCH_BEGIN_IN_POOL;
    if (e)
        return refuse(work, e);
    if (work->decision.malformed) {
        work->problem = *work->decision.malformed_because;
        return refuse(work, work->decision.malformed);
    }
    assert(!work->transaction && !flow->batch);
    flow->driver.attempt = decide_all;
    work->transaction = arena_alloc(arena, sizeof *work->transaction);
    work->transaction->parameters = (struct batch_parameters *)(void *)work->decision.parameters;
    work->transaction->functions = work->call.operation->functions->batch;
    work->transaction->works =
        arena_array(arena, work->transaction->parameters->count, sizeof *work->transaction->works);
    e = prepare_all(work);
    work->decision.attempt = arena_mark(arena); /* attempts allocate after the prepared data */
    if (e)
        return refuse(work, e);
    return work->transaction->parameters->count > WORKER_PARTS_MAX ? DECIDE_IN_POOL : DECIDE;
}

/* ---- response ---- */

static struct bytes render(struct work *work, size_t index, enum error e)
{
    struct transaction *transaction = work->transaction;
    struct work *part = &transaction->works[index];
    struct response response;
    struct batch_answer answer = {
        .id = transaction->parameters->parts[index].id,
        .part = &part->call,
        .response = &response,
    };

    response_init(&response, work->call.arena);
    part->answer.response = &response;
    part->answer.arena = work->call.arena;
    part->answer.now = work->decision.now;
    part->answer.part = index;
    part->answer.parts = transaction->parameters->count;
    if (e)
        answer_error(&part->answer, e, &part->problem);
    else
        operation_answer(&part->answer, part->decision.parameters, part->decision.result);
    assert(!part->answer.content.wanted); /* parts cannot send blob content */
    observe_part(&work->logged, &work->call, &part->answer);
    answer.reason = http_reason(response.status);
    return transaction->functions->render(work->call.arena, transaction->parameters, &answer);
}

/* Handles an error that is not the fault of any part, because the server is busy. The service then
 * responds as if the first part had been refused. decision: 1037 */
static void blame_nobody(struct transaction *transaction)
{
    transaction->failed = 0;
    transaction->has_failed = true;
    transaction->works[0].problem = (struct problem){ .detail = NULL };
}

void transaction_answer(struct work *work)
{
    struct transaction *transaction = work->transaction;
    size_t count = work->error ? 1 : transaction->parameters->count;
    struct bytes *answers;
    struct batch_result *result;

    if (work->error == E_ServerBusy)
        blame_nobody(transaction);
    if (work->error == E_MisdirectedRequest || (work->error && !transaction->has_failed)) {
        answer_error(&work->answer, work->error, &work->problem);
        return;
    }
    answers = arena_array(work->call.arena, count, sizeof *answers);
    result = arena_alloc(work->call.arena, sizeof *result);
    for (size_t i = 0; i < count; i++)
        answers[i] = render(work, work->error ? transaction->failed : i, work->error);
    result->base.now = work->decision.now;
    result->answers = answers;
    result->count = count;
    work->decision.result = &result->base;
    work->error = OK;
    operation_answer(&work->answer, work->decision.parameters, work->decision.result);
}
