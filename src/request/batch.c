/* Executes a batch of independent operations; see batch.h. Its parts pass through the states of
 * request/exchange.c one at a time; this file does the work before, between and after them. */
#include "request/request_private.h"

#include <assert.h>

#include "request/cell_parts.h"
#include "request/control.h"

/* Longer batches run in the pool, so that other requests do not wait for the worker. */
#define RUN_BY_WORKER_MAX   8u
/* limit; the memory budget allows no more */
#define SCRATCH_LIMIT_BYTES (MEMORY_BUDGET_BYTES + MEMORY_LARGE_BYTES)
/* Once the parts of the group use this much memory together, they are committed before another part
 * joins. */
#define GROUP_HELD_MAX      ((size_t)4 << 20)
/* Maximum number of attempts to send parts to other cells, which may no longer have their
 * containers. */
#define SENT_MAX            16u

struct batch {
    struct batch_parameters *parameters;
    const struct batch_functions *functions;
    struct work *works;    /* one per part */
    struct bytes *answers; /* rendered responses; ptr NULL if the part is not done */
    size_t next;           /* all parts before it are done or in the group */
    struct arena *scratch; /* memory of the parts in progress */
    struct arena_mark fresh;
    struct response response;       /* to the current part */
    size_t group[COMMIT_PARTS_MAX]; /* parts that are decided and will be committed together */
    size_t group_count;
    size_t alone;             /* parts before this index are committed separately */
    unsigned elsewhere_count; /* parts to be sent to other cells */
    unsigned sent_count;      /* number of times that parts were sent */
};

static void assert_batch(const struct batch *batch)
{
    assert(batch->next <= batch->parameters->count && batch->alone <= batch->parameters->count);
    assert(batch->group_count <= COMMIT_PARTS_MAX);
}

/* ---- before the first part ---- */

static struct batch *batch_new(struct flow *flow)
{
    struct arena *arena = flow->work.call.arena;
    struct batch *batch = arena_alloc(arena, sizeof *batch);

    batch->parameters = (struct batch_parameters *)(void *)flow->work.decision.parameters;
    batch->functions = flow->work.call.operation->functions->batch;
    batch->scratch = arena_new_like(arena, SCRATCH_LIMIT_BYTES);
    batch->fresh = arena_mark(batch->scratch);
    return batch;
}

void batch_free(struct flow *flow)
{
    if (!flow->batch)
        return;
    for (size_t i = 0; i < flow->batch->parameters->count && flow->batch->works; i++)
        deciding_end(&flow->batch->works[i].decision);
    arena_free(flow->batch->scratch);
    flow->batch = NULL;
}

static struct bytes render(struct flow *flow, const struct work *work, struct bytes id)
{
    const struct batch *batch = flow->batch;
    struct batch_answer answer = {
        .id = id,
        .response = work->answer.response,
        .reason = work->error ? bytes_from_string(error_message(work->error))
                              : http_reason(work->answer.response->status),
    };

    return batch->functions->render(flow->work.call.arena, batch->parameters, &answer);
}

/* Sets the result of the batch: the responses to its parts, or a single response. */
static enum state conclude(struct flow *flow, const struct bytes *answers, size_t count)
{
    struct batch_result *result = arena_alloc(flow->work.call.arena, sizeof *result);

    result->base.now = flow->work.decision.now;
    result->answers = answers;
    result->count = count;
    flow->work.decision.result = &result->base;
    flow_set_current(flow, &flow->work);
    arena_rewind(flow->batch->scratch, flow->batch->fresh);
    assert(flow->batch->group_count == 0);
    return BATCH_APPLIED;
}

/* Refuses the batch; nothing is executed. The response contains a single part with the error. */
static enum state refuse_all(struct flow *flow, enum error e)
{
    struct batch *batch = flow->batch;
    struct work *work = &flow->work;
    struct response *whole = work->answer.response;
    struct bytes *answer = arena_alloc(work->call.arena, sizeof *answer);

    response_init(&batch->response, work->call.arena);
    work->answer.response = &batch->response;
    work->answer.now = work->decision.now;
    work->answer.of_part = true;
    work->error = e;
    answer_error(&work->answer, e, &work->problem);
    answer_common(work);
    *answer = render(flow, work, bytes_of(NULL, 0));
    work->answer.response = whole;
    work->answer.of_part = false;
    work->error = OK;
    batch->parameters->count = 0;
    return conclude(flow, answer, 1);
}

/* Routes and admits all parts before any is executed. A part that cannot be routed is refused
 * without affecting the others. */
static enum error route_parts(struct flow *flow)
{
    struct batch *batch = flow->batch;
    struct work *work = &flow->work;

    batch->works = arena_array(work->call.arena, batch->parameters->count, sizeof *batch->works);
    batch->answers =
        arena_array(work->call.arena, batch->parameters->count, sizeof *batch->answers);
    for (size_t i = 0; i < batch->parameters->count; i++) {
        struct work *part = &batch->works[i];
        enum error e;

        work_init_part(part, work, &batch->parameters->parts[i].request, &batch->response);
        if (work_route_part(part, &work->call))
            continue;
        e = batch->functions->admit(&work->call, batch->parameters, &part->call);
        if (e)
            return e;
    }
    return OK;
}

/* A hold at APPLIED means that all parts are applied and none is durable, as in
 * commit_at_gate(). */
static void hold_syncer(const struct work *work)
{
#ifdef LAGRA_GATES
    if (work->call.gate.action == GATE_HOLD && work->call.gate.gate == GATE_APPLIED)
        gate_hold_syncer(true);
#else
    (void)work;
#endif
}

enum state batch_begin(struct flow *flow)
{
    struct work *work = &flow->work;
    enum error e = work_check(work);

    if (e == DECIDE_AGAIN)
        return BATCH;
    if (e == DECIDE_BLOCKING)
        return BATCH_BEGIN_IN_POOL;
    if (e) {
        work->error = e;
        return CORS;
    }
    assert(!flow->batch);
    flow->batch = batch_new(flow);
    if (work->decision.malformed)
        work->problem = *work->decision.malformed_because;
    e = work->decision.malformed ? work->decision.malformed : route_parts(flow);
    if (e)
        return refuse_all(flow, e);
    if (arena_is_exhausted(work->call.arena)) {
        work->error = E_ServerBusy;
        return CORS;
    }
    hold_syncer(work);
    return flow->batch->parameters->count > RUN_BY_WORKER_MAX ? BATCH_IN_POOL : PART;
}

/* ---- parts that are committed together ----
 *
 * They share the fixed cost of a commit. They are independent of each other. If the commit is
 * refused, each part is decided and committed again separately. */

static size_t index_of(const struct batch *batch, const struct work *part)
{
    size_t index = (size_t)(part - batch->works);

    assert_batch(batch);
    assert(index < batch->parameters->count);
    return index;
}

/* Returns true if a part of the group changes the partition that the current part was decided
 * on. */
static bool group_changes(const struct batch *batch, const struct work *part)
{
    for (size_t i = 0; i < batch->group_count && part->decision.before; i++) {
        const struct work *other = &batch->works[batch->group[i]];

        if (guid_equal(&other->decision.partition.space, &part->decision.partition.space) &&
            bytes_equal(other->decision.partition.key, part->decision.partition.key))
            return true;
    }
    return false;
}

/* Returns true if the part may join the group. A part that depends on another partition has its own
 * commit. */
static bool may_join(const struct batch *batch, const struct work *part)
{
    return batch->next >= batch->alone && batch->group_count < COMMIT_PARTS_MAX &&
           part->decision.part_count == 1 && arena_held(batch->scratch) <= GROUP_HELD_MAX;
}

static enum error commit_parts(const struct batch *batch)
{
    struct decision *decisions[COMMIT_PARTS_MAX];

    assert(batch->group_count > 0);
    for (size_t i = 0; i < batch->group_count; i++)
        decisions[i] = &batch->works[batch->group[i]].decision;
    return deciding_commit_together(decisions, batch->group_count);
}

/* Commits the group and renders the responses to its parts. */
static void commit_group(struct flow *flow)
{
    struct batch *batch = flow->batch;
    struct work *current = flow->current;
    size_t count = batch->group_count;
    enum error e = commit_parts(batch);

    batch->group_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct work *part = &batch->works[batch->group[i]];

        assert(part->is_grouped && !part->error);
        part->is_grouped = false;
        if (e) {
            deciding_end(&part->decision);
            continue;
        }
        flow->current = part;
        batch_part_done(flow);
    }
    flow->current = current;
    if (e) {
        batch->alone = batch->group[count - 1] + 1;
        batch->next = batch->group[0];
    }
    assert_batch(batch);
}

enum state batch_part_decided(struct flow *flow, bool has_changes)
{
    struct batch *batch = flow->batch;
    struct work *part = flow->current;
    size_t index = index_of(batch, part);

    if (group_changes(batch, part)) {
        commit_group(flow);
        flow_set_current(flow, part);
        if (batch->next == index)
            return DECIDE;
        deciding_end(&part->decision);
        return PART;
    }
    if (!has_changes || work_is_gated(part) || !may_join(batch, part))
        return DECIDE;
    part->is_grouped = true;
    assert(batch->group_count < COMMIT_PARTS_MAX && !part->error);
    batch->group[batch->group_count++] = index;
    return PART;
}

/* ---- one part ---- */

static bool is_pending(const struct batch *batch, size_t index)
{
    const struct work *part = &batch->works[index];

    return !batch->answers[index].ptr && !part->is_grouped && !part->is_elsewhere;
}

/* Finds the first part that is neither done, nor in the group, nor for another cell. Commits the
 * group if no part can join it. */
static void find_next(struct flow *flow)
{
    struct batch *batch = flow->batch;

    for (;;) {
        while (batch->next < batch->parameters->count && !is_pending(batch, batch->next))
            batch->next++;
        if (batch->group_count == 0 ||
            (batch->group_count < COMMIT_PARTS_MAX && batch->next < batch->parameters->count &&
             !work_is_gated(&batch->works[batch->next])))
            return;
        commit_group(flow);
    }
}

enum state batch_next(struct flow *flow)
{
    struct batch *batch = flow->batch;
    struct work *part;

    find_next(flow);
    assert_batch(batch);
    if (batch->next == batch->parameters->count) {
        flow_set_current(flow, &flow->work);
        return batch->elsewhere_count > 0
                   ? BATCH_ELSEWHERE
                   : conclude(flow, batch->answers, batch->parameters->count);
    }
    part = &batch->works[batch->next];
    flow_set_current(flow, part);
    if (batch->group_count == 0)
        arena_rewind(batch->scratch, batch->fresh);
    part->decision.access = flow->work.decision.access;
    return work_begin_part(part, batch->scratch) ? PART_DONE : PART_FOUND;
}

/* Returns true if one of the parts before this one was executed. */
static bool has_executed(const struct batch *batch, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!batch->works[i].error)
            return true;
    return false;
}

/* Leaves a part to the owner of another cell. Retains the memory that its log entries need. */
static enum state leave(struct batch *batch, struct work *part)
{
    deciding_end(&part->decision);
    arena_rewind(batch->scratch, part->decision.attempt);
    batch->fresh = arena_mark(batch->scratch);
    batch->elsewhere_count++;
    part->is_elsewhere = true;
    return PART;
}

/* Handles a part whose container is in another cell of the cluster. The batch of a container is
 * sent to that cell as a whole; from the batch of an account, only the part is sent. Returns
 * PART_DONE if the part is refused. decision: 998, 1100 */
static enum state misdirected(struct flow *flow, struct work *part)
{
    const struct placement where = part->problem.elsewhere;
    bool of_account = flow->work.call.input.resource->level == 0;

    if (of_account && flow->work.call.endpoint->peers && where.cell > 0 &&
        flow->batch->sent_count < SENT_MAX)
        return leave(flow->batch, part);
    if (of_account || has_executed(flow->batch, index_of(flow->batch, part))) {
        part->error = E_ServerBusy; /* the container was moved in the meantime */
        return PART_DONE;
    }
    flow->work.problem.elsewhere = where;
    flow->work.error = part->error;
    deciding_end(&part->decision);
    flow_set_current(flow, &flow->work);
    return CORS;
}

/* Completes a part whose response was rendered here or in another cell. */
static void complete(struct flow *flow, struct work *part)
{
    struct batch *batch = flow->batch;
    size_t index = index_of(batch, part);

    answer_common(part);
    control_reply(part);
    observe_part(&flow->work.logged, &flow->work.call, &part->answer);
    batch->answers[index] = render(flow, part, batch->parameters->parts[index].id);
    deciding_end(&part->decision);
    decision_saw_all(&flow->work.decision, &part->decision);
    assert(batch->answers[index].ptr && part->decision.part_count == 0);
}

enum state batch_part_done(struct flow *flow)
{
    struct work *part = flow->current;

    if (part->error == E_MisdirectedRequest) {
        enum state next = misdirected(flow, part);

        if (next != PART_DONE)
            return next;
    }
    work_answer_part(part);
    complete(flow, part);
    return PART;
}

/* ---- parts for other cells ---- */

/* Ends the wait for other cells. Parts that they have not executed are decided again. */
static enum state continue_parts(struct flow *flow)
{
    struct batch *batch = flow->batch;

    for (size_t i = 0; i < batch->parameters->count; i++) {
        struct work *part = &batch->works[i];

        if (!part->is_elsewhere)
            continue;
        part->is_elsewhere = false;
        if (part->error == E_MisdirectedRequest) {
            part->error = OK;
            continue;
        }
        if (part->answer.response == &batch->response)
            work_answer_part(part);
        complete(flow, part);
    }
    batch->elsewhere_count = 0;
    batch->next = 0;
    return PART;
}

static enum state run_elsewhere(struct flow *flow)
{
    struct batch *batch = flow->batch;

    batch->sent_count++;
    return cell_parts_run(&flow->work.call, batch->parameters, batch->works) ? continue_parts(flow)
                                                                             : CUT;
}

static enum state refuse_elsewhere(struct flow *flow)
{
    for (size_t i = 0; i < flow->batch->parameters->count; i++)
        if (flow->batch->works[i].is_elsewhere)
            flow->batch->works[i].error = E_ServerBusy;
    return continue_parts(flow);
}

enum state batch_send(struct flow *flow)
{
    flow->driver.job.owner = (struct pool_owner){
        .account = pool_owner_number(0, flow->work.call.account_name),
    };
    return flow_to_gather_pool(flow, run_elsewhere, refuse_elsewhere);
}

/* ---- multipart/mixed bodies ---- */

/* rest: Blob-Batch, Performing-Entity-Group-Transactions */
enum error batch_check(struct call *call, struct batch_parameters *parameters)
{
    char id[GUID_TEXT_SIZE];

    parameters->content_type = call_header(call, "content-type");
    if (!parameters->content_type.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, "Content-Type",
                                parameters->content_type);
    guid_format(&call->request_id, id);
    parameters->boundary = arena_printf(call->arena, "batchresponse_%s", id);
    return OK;
}

void batch_answer_body(struct answer *a, const struct batch_parameters *parameters,
                       const struct text *body)
{
    answer_header(
        a, "Content-Type",
        arena_printf(a->arena, "multipart/mixed; boundary=%.*s", BYTES_ARG(parameters->boundary)));
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(body);
}
