/* A batch of operations that is done whole or not at all, on its way: see batch.h. Its parts are
 * prepared here, and decided on one snapshot; the changes of all are those of the transaction, which goes
 * through the states of request/exchange.c as one operation does. */
#include "request/request_private.h"

#include <assert.h>

/* Longer transactions, and larger ones, are decided in the pool: others would wait for the worker. */
#define WORKER_PARTS_MAX 8u
#define WORKER_BYTES_MAX (64u << 10)

struct transaction {
    struct batch_parameters *asked;
    const struct batch_functions *functions;
    struct work *works; /* one a part */
    size_t failed;      /* the part that the transaction's error is of */
    bool has_failed;
};

/* ---- before the first attempt ---- */

static enum error fail_part(struct work *work, size_t index, enum error e)
{
    assert(e != OK && index < work->transaction->asked->count);
    work->transaction->failed = index;
    work->transaction->has_failed = true;
    work->problem = work->transaction->works[index].problem;
    return e;
}

/* The caller of the transaction is that of its parts; its roles may differ by where a part is.
 * decision: 188 */
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

/* The part as an operation of its own, up to its body. */
static enum error prepare(struct work *work, struct work *part, struct batch_part *asked)
{
    struct call *call = &part->call;
    enum error e;

    asked->request.content_length = asked->body.len;
    work_init_part(part, work, &asked->request, work->answer.response);
    e = route_part(&part->call, &work->call);
    if (e)
        return e;
    identify(part, work);
    e = prepare_head(&part->call, &part->decision);
    if (e)
        return e;
    assert(!call->operation->functions->gather && call->operation->body != BODY_STAGED);
    call->input.body.length = asked->body.len;
    call->input.body.inline_bytes = asked->body;
    prepare_body(&part->call, &part->decision);
    if (part->decision.malformed)
        part->problem = *part->decision.malformed_because;
    return part->decision.malformed;
}

static enum error prepare_all(struct work *work)
{
    struct transaction *transaction = work->transaction;

    for (size_t i = 0; i < transaction->asked->count; i++) {
        struct work *part = &transaction->works[i];
        enum error e = prepare(work, part, &transaction->asked->parts[i]);

        if (e)
            return fail_part(work, i, e);
        e = transaction->functions->admit(&work->call, transaction->asked, &part->call);
        if (e) {
            part->problem = work->problem;
            return fail_part(work, i, e);
        }
    }
    return OK;
}

/* ---- an attempt ---- */

/* Where the parts lie: the first one is located, and the partition kept as it is. */
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

/* The others lie there too (OP_admit saw to it): what was found above the first is above them. */
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
    decision_saw(whole, d->seen);
    if (!e)
        changes_append(whole->changes, d->changes);
    assert(d->part_count == 0 && (e || changes_empty(d->changes)));
    d->before = NULL; /* the transaction's */
    return e;
}

/* The attempt of all parts on the state as it is now, whose clock and snapshot they share. of: the
 * struct work of the transaction. */
static enum error decide_all(struct decision *d, void *of)
{
    struct work *work = of;
    struct transaction *transaction = work->transaction;

    (void)d;
    transaction->has_failed = false;
    for (size_t i = 0; i < transaction->asked->count; i++) {
        enum error e = decide_part(work, &transaction->works[i], i);

        if (e)
            return decision_is_unfinished(e) ? e : fail_part(work, i, e);
    }
    return OK;
}

/* ---- beginning ---- */

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
    work->transaction->asked = (struct batch_parameters *)(void *)work->decision.parameters;
    work->transaction->functions = work->call.operation->functions->batch;
    work->transaction->works =
        arena_array(arena, work->transaction->asked->count, sizeof *work->transaction->works);
    e = prepare_all(work);
    work->decision.attempt = arena_mark(arena); /* attempts begin behind what was prepared */
    if (e)
        return refuse(work, e);
    return work->transaction->asked->count > WORKER_PARTS_MAX ? DECIDE_IN_POOL : DECIDE;
}

/* ---- the answer ---- */

static struct bytes render(struct work *work, size_t index, enum error e)
{
    struct transaction *transaction = work->transaction;
    struct work *part = &transaction->works[index];
    struct response response;
    struct batch_answer answer = {
        .id = transaction->asked->parts[index].id,
        .part = &part->call,
        .response = &response,
    };

    response_init(&response, work->call.arena);
    part->answer.response = &response;
    part->answer.arena = work->call.arena;
    part->answer.now = work->decision.now;
    part->answer.part = index;
    part->answer.parts = transaction->asked->count;
    if (e)
        answer_error(&part->answer, e, &part->problem);
    else
        operation_answer(&part->answer, part->decision.parameters, part->decision.result);
    assert(!part->answer.content.wanted); /* bytes of a content would have to be sent */
    observe_part(&work->logged, &work->call, &part->answer);
    answer.reason = http_reason(response.status);
    return transaction->functions->render(work->call.arena, transaction->asked, &answer);
}

/* A server that is busy blames no part: the service answers as if the first one had been refused. decision: 1037 */
static void blame_nobody(struct transaction *transaction)
{
    transaction->failed = 0;
    transaction->has_failed = true;
    transaction->works[0].problem = (struct problem){ .detail = NULL };
}

void transaction_answer(struct work *work)
{
    struct transaction *transaction = work->transaction;
    size_t count = work->error ? 1 : transaction->asked->count;
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
