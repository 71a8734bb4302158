/* A list of operations that is done whole or not at all, on its way: see list.h. Its parts are
 * prepared here, and decided on one snapshot; the changes of all are those of the list, which goes
 * through the states of service/exchange.c as one operation does. */
#include "service/service_private.h"

#include <assert.h>

/* Longer lists, and larger ones, are decided in the pool: others would wait for the worker. */
#define WORKER_PARTS_MAX 8u
#define WORKER_BYTES_MAX (64u << 10)

struct whole_list {
    struct list_parameters *asked;
    const struct list_functions *functions;
    struct work *works; /* one a part */
    size_t failed;      /* the part that the list's error is of */
    bool has_failed;
};

/* ---- before the first attempt ---- */

static enum error fail_part(struct work *work, size_t index, enum error e)
{
    work->whole->failed = index;
    work->whole->has_failed = true;
    work->problem = work->whole->works[index].problem;
    return e;
}

/* Who asked for the list asks for its parts; what roles let him do may differ by where a part is.
 * decision: 188 */
static void identify(struct work *part, const struct work *list)
{
    struct call *call = &part->call;
    struct identity *identity = &call->input.identity;
    const struct trust_holder *trust = part->call.endpoint->trust;
    struct bytes container = { NULL, 0 }, object;

    *identity = list->call.input.identity;
    if (identity->kind != IDENTITY_BEARER)
        return;
    call->service->names(call->input.resource, &container, &object);
    identity->actions = trust_actions(trust_now(trust), identity->oid, call->account_name,
                                      call->service->name[0], container);
}

/* The part as an operation of its own, up to its body. */
static enum error prepare(struct work *work, struct work *part, struct list_part *asked)
{
    struct call *call = &part->call;
    struct request *request = &asked->request;
    enum error e;

    request->authority = work->call.request->authority;
    request->peer = work->call.request->peer;
    request->peer_is_loopback = work->call.request->peer_is_loopback;
    request->secure = work->call.request->secure;
    request->listener_tag = work->call.request->listener_tag;
    request->content_length = asked->body.len;
    work_init(part, work->call.endpoint, work->call.arena, request, work->answer.response);
    part->answer.of_part = true;
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
    struct whole_list *whole = work->whole;

    for (size_t i = 0; i < whole->asked->count; i++) {
        struct work *part = &whole->works[i];
        enum error e = prepare(work, part, &whole->asked->parts[i]);

        if (e)
            return fail_part(work, i, e);
        e = whole->functions->admit(&work->call, whole->asked, &part->call);
        if (e) {
            part->problem = work->problem;
            return fail_part(work, i, e);
        }
    }
    return OK;
}

static enum state refuse(struct work *work, enum error e)
{
    work->error = e;
    return CORS;
}

enum state whole_list_begin(struct flow *flow)
{
    struct work *work = &flow->work;
    struct arena *arena = work->call.arena;
    enum error e;

    if (work->decision.access == STORE_NO_WAIT && work->call.input.body.length > WORKER_BYTES_MAX)
        return LIST_BEGIN_IN_POOL;
    e = work_check(work);
    if (e == DECIDE_AGAIN)
        return LIST;
    if (e == DECIDE_BLOCKING)
        return LIST_BEGIN_IN_POOL;
    if (e)
        return refuse(work, e);
    if (work->decision.malformed) {
        work->problem = *work->decision.malformed_because;
        return refuse(work, work->decision.malformed);
    }
    work->whole = arena_alloc(arena, sizeof *work->whole);
    work->whole->asked = (struct list_parameters *)(void *)work->decision.parameters;
    work->whole->functions = work->call.operation->functions->list;
    work->whole->works = arena_array(arena, work->whole->asked->count, sizeof *work->whole->works);
    e = prepare_all(work);
    work->decision.attempt = arena_mark(arena); /* attempts begin behind what was prepared */
    if (e)
        return refuse(work, e);
    return work->whole->asked->count > WORKER_PARTS_MAX ? DECIDE_IN_POOL : DECIDE;
}

/* ---- an attempt ---- */

/* Where the parts lie: the first one is located, and the partition kept as it is. */
static enum error locate_first(struct work *work, struct decision *d)
{
    enum error e = d->service->locate(d, &work->decision.partition);
    enum store_result result = STORE_OK;

    decision_move_parts(&work->decision, d);
    if (e)
        return operation_missing(d, e);
    decision_open_subject(&work->decision, work->decision.partition);
    decision_read_clock(&work->decision);
    if (work->whole->asked->count > WORKER_PARTS_MAX)
        result = snapshot_hold(work->decision.before);
    return result ? decision_fail_store(d, result) : OK;
}

/* The others lie there too (OP_admit saw to it): what was found above the first is above them. */
static void locate_other(struct work *work, struct decision *d)
{
    const struct decision *first = &work->whole->works[0].decision;

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
    d->before = NULL; /* the list's */
    return e;
}

enum error whole_list_decide(struct decision *d, void *of)
{
    struct work *work = of;
    struct whole_list *whole = work->whole;

    (void)d;
    whole->has_failed = false;
    for (size_t i = 0; i < whole->asked->count; i++) {
        enum error e = decide_part(work, &whole->works[i], i);

        if (e)
            return decision_is_unfinished(e) ? e : fail_part(work, i, e);
    }
    return OK;
}

/* ---- the answer ---- */

static struct bytes render(struct work *work, size_t index, enum error e)
{
    struct whole_list *whole = work->whole;
    struct work *part = &whole->works[index];
    struct response response;
    struct list_answer answer = {
        .id = whole->asked->parts[index].id,
        .part = &part->call,
        .response = &response,
    };

    response_init(&response, work->call.arena);
    part->answer.response = &response;
    part->answer.arena = work->call.arena;
    part->answer.now = work->decision.now;
    part->answer.part = index;
    part->answer.parts = whole->asked->count;
    if (e)
        answer_error(&part->answer, e, &part->problem);
    else
        operation_answer(&part->answer, part->decision.parameters, part->decision.result);
    assert(!part->answer.content.wanted); /* bytes of a content would have to be sent */
    answer.reason = http_reason(response.status);
    return whole->functions->render(work->call.arena, whole->asked, &answer);
}

void whole_list_answer(struct work *work)
{
    struct whole_list *whole = work->whole;
    size_t count = work->error ? 1 : whole->asked->count;
    struct bytes *answers;
    struct list_result *result;

    if (work->error && !whole->has_failed) {
        answer_error(&work->answer, work->error, &work->problem);
        return;
    }
    answers = arena_array(work->call.arena, count, sizeof *answers);
    result = arena_alloc(work->call.arena, sizeof *result);
    for (size_t i = 0; i < count; i++)
        answers[i] = render(work, work->error ? whole->failed : i, work->error);
    result->base.now = work->decision.now;
    result->answers = answers;
    result->count = count;
    work->decision.result = &result->base;
    work->error = OK;
    operation_answer(&work->answer, work->decision.parameters, work->decision.result);
}
