/* A list of operations on its way: see list.h. Its parts go through the states of service/exchange.c one
 * after another; here is what is before, between and behind them. */
#include "service/service_private.h"

#include <assert.h>

#include "service/control.h"

/* Longer lists are run in the pool: others would wait for the worker. */
#define RUN_BY_WORKER_MAX 8u
/* Finds bugs; the most that one part may need is what one operation may. */
#define SCRATCH_CAP_BYTES ((size_t)4 << 30)

struct list {
    struct list_parameters *asked;
    const struct list_functions *functions;
    struct work *works;    /* one a part */
    struct bytes *answers; /* rendered; ptr NULL: not done yet */
    size_t next;           /* all parts before it are done */
    struct arena *scratch; /* of the parts that are under way */
    struct arena_mark fresh;
    struct response response;       /* to the part that is being answered */
    uint64_t seen;                  /* when the list as a whole was checked */
    size_t group[COMMIT_PARTS_MAX]; /* parts that are decided, and committed as one */
    size_t group_count;
    uint64_t group_bytes;
    size_t alone; /* parts before it are committed each by itself */
};

/* ---- before the first part ---- */

static struct list *list_new(struct flow *flow)
{
    struct arena *arena = flow->work.call.arena;
    struct list *list = arena_alloc(arena, sizeof *list);

    list->asked = (struct list_parameters *)(void *)flow->work.decision.parameters;
    list->functions = flow->work.call.operation->functions->list;
    list->scratch = arena_new(SCRATCH_CAP_BYTES);
    list->fresh = arena_mark(list->scratch);
    return list;
}

void list_free(struct flow *flow)
{
    if (!flow->list)
        return;
    for (size_t i = 0; i < flow->list->asked->count && flow->list->works; i++)
        deciding_end(&flow->list->works[i].decision);
    arena_free(flow->list->scratch);
    flow->list = NULL;
}

static struct bytes render(struct flow *flow, const struct work *work, struct bytes id)
{
    const struct list *list = flow->list;
    struct list_answer answer = {
        .id = id,
        .response = work->answer.response,
        .reason = work->error ? bytes_from_string(error_message(work->error))
                              : http_reason(work->answer.response->status),
    };

    return list->functions->render(flow->work.call.arena, list->asked, &answer);
}

/* The outcome of the list: the answers of its parts, or the only one. */
static enum state conclude(struct flow *flow, const struct bytes *answers, size_t count)
{
    struct list_result *result = arena_alloc(flow->work.call.arena, sizeof *result);

    result->base.now = flow->work.decision.now;
    result->answers = answers;
    result->count = count;
    flow->work.decision.result = &result->base;
    flow->current = &flow->work;
    return LIST_APPLIED;
}

/* Nothing of it is done; why not is the answer of the only part. */
static enum state refuse_all(struct flow *flow, enum error e)
{
    struct list *list = flow->list;
    struct work *work = &flow->work;
    struct response *whole = work->answer.response;
    struct bytes *answer = arena_alloc(work->call.arena, sizeof *answer);

    response_init(&list->response, work->call.arena);
    work->answer.response = &list->response;
    work->answer.now = work->decision.now;
    work->answer.of_part = true;
    work->error = e;
    answer_error(&work->answer, e, &work->problem);
    answer_common(work);
    *answer = render(flow, work, bytes_of(NULL, 0));
    work->answer.response = whole;
    work->answer.of_part = false;
    work->error = OK;
    list->asked->count = 0;
    return conclude(flow, answer, 1);
}

/* What the parts ask for is known before any is done. One that cannot be routed is refused alone. */
static enum error route_parts(struct flow *flow)
{
    struct list *list = flow->list;
    struct work *work = &flow->work;

    list->works = arena_array(work->call.arena, list->asked->count, sizeof *list->works);
    list->answers = arena_array(work->call.arena, list->asked->count, sizeof *list->answers);
    for (size_t i = 0; i < list->asked->count; i++) {
        struct work *part = &list->works[i];
        struct request *request = &list->asked->parts[i].request;
        enum error e, found = OK;

        request->authority = work->call.request->authority;
        request->peer = work->call.request->peer;
        request->peer_is_loopback = work->call.request->peer_is_loopback;
        request->secure = work->call.request->secure;
        request->listener_tag = work->call.request->listener_tag;
        work_init(part, work->call.endpoint, work->call.arena, request, &list->response);
        part->answer.of_part = true;
        part->error = route_part(&part->call, &work->call);
        if (part->error)
            continue;
        part->call.operation = operation_find(part->call.service, &part->call, &found);
        e = list->functions->admit(&work->call, list->asked, &part->call);
        if (e)
            return e;
    }
    return OK;
}

/* Held at APPLIED means that all parts are applied and none is durable: as work_commit() has it. */
static void hold_syncer(const struct work *work)
{
#ifdef LAGRA_GATES
    if (work->call.gate.action == GATE_HOLD && work->call.gate.gate == GATE_APPLIED)
        gate_hold_syncer(true);
#else
    (void)work;
#endif
}

enum state list_begin(struct flow *flow)
{
    struct work *work = &flow->work;
    enum error e = work_check(work);

    if (e == DECIDE_AGAIN)
        return LIST;
    if (e == DECIDE_BLOCKING)
        return LIST_BEGIN_IN_POOL;
    if (e) {
        work->error = e;
        return CORS;
    }
    flow->list = list_new(flow);
    flow->list->seen = work->decision.seen;
    if (work->decision.malformed)
        work->problem = *work->decision.malformed_because;
    e = work->decision.malformed ? work->decision.malformed : route_parts(flow);
    if (e)
        return refuse_all(flow, e);
    if (!exchange_charge(flow->exchange)) {
        work->error = E_ServerBusy;
        return CORS;
    }
    hold_syncer(work);
    return flow->list->asked->count > RUN_BY_WORKER_MAX ? LIST_IN_POOL : PART;
}

/* ---- parts that are committed as one ----
 *
 * What a commit costs beside what it writes is paid once for all of them. They do not depend on each
 * other: when the commit is refused, each is decided and committed again by itself. */

static size_t index_of(const struct list *list, const struct work *part)
{
    return (size_t)(part - list->works);
}

/* Does some part of the group change what the current part was decided on? */
static bool group_changes(const struct list *list, const struct work *part)
{
    for (size_t i = 0; i < list->group_count && part->decision.before; i++) {
        const struct work *other = &list->works[list->group[i]];

        if (guid_equal(&other->decision.partition.space, &part->decision.partition.space) &&
            bytes_equal(other->decision.partition.key, part->decision.partition.key))
            return true;
    }
    return false;
}

/* One that rests on another partition has a commit of its own. */
static bool may_join(const struct list *list, const struct work *part)
{
    struct store_limits limits = store_limits(part->decision.store);

    return list->next >= list->alone && list->group_count < limits.group_parts &&
           limits.group_parts > 1 && part->decision.part_count == 1 &&
           list->group_bytes + changes_bytes(part->decision.changes) <= limits.commit_bytes;
}

static enum error commit_parts(const struct list *list)
{
    struct decision *decisions[COMMIT_PARTS_MAX];

    assert(list->group_count > 0);
    for (size_t i = 0; i < list->group_count; i++)
        decisions[i] = &list->works[list->group[i]].decision;
    return deciding_commit_together(decisions, list->group_count);
}

/* Commits the group, and renders the answers of its parts. */
static void commit_group(struct flow *flow)
{
    struct list *list = flow->list;
    struct work *current = flow->current;
    size_t count = list->group_count;
    enum error e = commit_parts(list);

    list->group_count = 0;
    list->group_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        struct work *part = &list->works[list->group[i]];

        part->is_grouped = false;
        if (e) {
            deciding_end(&part->decision);
            continue;
        }
        flow->current = part;
        list_part_done(flow);
    }
    flow->current = current;
    if (e) {
        list->alone = list->group[count - 1] + 1;
        list->next = list->group[0];
    }
}

enum state list_part_decided(struct flow *flow, enum state next)
{
    struct list *list = flow->list;
    struct work *part = flow->current;
    size_t index = index_of(list, part);

    if (next != DECIDED && next != PART_DONE)
        return next;
    if (group_changes(list, part)) {
        commit_group(flow);
        if (list->next == index)
            return DECIDE;
        deciding_end(&part->decision);
        part->error = OK;
        return PART;
    }
    if (next != DECIDED || work_is_gated(part) || !may_join(list, part))
        return next;
    part->is_grouped = true;
    list->group[list->group_count++] = index;
    list->group_bytes += changes_bytes(part->decision.changes);
    return PART;
}

/* ---- one part ---- */

/* The first part that is neither done nor in the group; the group is committed when nothing joins it. */
static void find_next(struct flow *flow)
{
    struct list *list = flow->list;
    uint32_t most = store_limits(flow->work.decision.store).group_parts;

    for (;;) {
        while (list->next < list->asked->count &&
               (list->answers[list->next].ptr || list->works[list->next].is_grouped))
            list->next++;
        if (list->group_count == 0 ||
            (list->group_count < most && list->next < list->asked->count &&
             !work_is_gated(&list->works[list->next])))
            return;
        commit_group(flow);
    }
}

enum state list_next(struct flow *flow)
{
    struct list *list = flow->list;
    struct work *part;

    find_next(flow);
    if (list->next == list->asked->count)
        return conclude(flow, list->answers, list->asked->count);
    part = flow->current = &list->works[list->next];
    if (list->group_count == 0)
        arena_rewind(list->scratch, list->fresh);
    work_move(part, list->scratch);
    part->decision.access = flow->work.decision.access;
    if (!part->error)
        part->error = route_authenticate(&part->call);
    if (!part->error)
        part->error = prepare_head(&part->call, &part->decision);
    if (part->error)
        return PART_DONE;
    /* Parts have no bodies. */
    assert(!part->call.operation->functions->parse && !part->call.operation->functions->gather);
    part->decision.attempt = arena_mark(list->scratch);
    return PART_FOUND;
}

enum state list_part_done(struct flow *flow)
{
    struct list *list = flow->list;
    struct work *part = flow->current;
    size_t index = index_of(list, part);

    response_init(part->answer.response, part->decision.arena);
    part->answer.now = part->decision.now;
    if (part->error)
        answer_error(&part->answer, part->error, &part->problem);
    else
        operation_answer(&part->answer, part->decision.parameters, part->decision.result);
    assert(!part->answer.content.wanted); /* bytes of a content would have to be sent */
    answer_common(part);
    control_reply(part);
    list->answers[index] = render(flow, part, list->asked->parts[index].id);
    deciding_end(&part->decision);
    decision_saw(&flow->work.decision, part->decision.seen);
    return PART;
}

/* ---- after the wait ---- */

/* Of each part by itself: one may have come to be and another not. The gravest counts for all. */
enum store_result list_settled(struct flow *flow)
{
    const struct list *list = flow->list;
    struct store *store = flow->work.decision.store;
    enum store_result whole = store_settled(store, flow->work.decision.seen);

    for (size_t i = 0; i < list->asked->count && whole != STORE_WAIT; i++) {
        enum store_result part = store_settled(store, list->works[i].decision.seen);

        if (whole == STORE_OK || (whole == STORE_CONFLICT && part != STORE_OK))
            whole = part;
    }
    return whole;
}

enum state list_decide_again(struct flow *flow)
{
    struct list *list = flow->list;
    struct decision *whole = &flow->work.decision;
    bool any = false;

    whole->seen = list->seen;
    for (size_t i = 0; i < list->asked->count; i++) {
        struct work *part = &list->works[i];

        if (store_settled(whole->store, part->decision.seen) != STORE_CONFLICT) {
            decision_saw(whole, part->decision.seen);
            continue;
        }
        any = true;
        part->error = OK;
        list->answers[i].ptr = NULL;
    }
    list->next = 0;
    return any ? PART : CUT;
}
