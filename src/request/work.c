/* An operation, independent of its exchange. Nothing here suspends: if data is not in memory, the
 * thread waits for it or the caller is informed, depending on the decision's access. */
#include "request/request_private.h"

#include <assert.h>

void work_init(struct work *work, const struct endpoint *endpoint, struct arena *arena,
               const struct request *request, struct response *response)
{
    assert(!work->call.endpoint); /* must be zeroed */
    prepare_init(&work->call, &work->decision, endpoint, arena, request, &work->problem);
    work->answer = (struct answer){ .call = &work->call, .arena = arena, .response = response };
    response_init(response, arena);
}

void work_init_part(struct work *part, const struct work *whole, struct request *request,
                    struct response *response)
{
    const struct request *came = whole->call.request;

    request->authority = came->authority;
    request->peer = came->peer;
    request->is_forwarded = came->is_forwarded;
    request->secure = came->secure;
    request->listener_tag = came->listener_tag;
    request->placement = came->placement;
    work_init(part, whole->call.endpoint, whole->call.arena, request, response);
    part->answer.of_part = true;
}

enum error work_check(struct work *work)
{
    assert(work->call.operation);
    work->error = OK;
    return deciding_check(&work->decision);
}

/* ---- parts of a batch ---- */

enum error work_route_part(struct work *part, const struct call *whole)
{
    enum error found = OK;

    part->error = route_part(&part->call, whole);
    if (!part->error)
        part->call.operation = operation_find(part->call.service, &part->call, &found);
    return part->error;
}

/* Moves the work to another arena for later allocations, and resets its response. */
static void move(struct work *work, struct arena *arena)
{
    assert(work->decision.part_count == 0 && !work->is_grouped);
    work->call.arena = arena;
    work->decision.arena = arena;
    work->answer.arena = arena;
    response_init(work->answer.response, arena);
}

enum error work_begin_part(struct work *part, struct arena *arena)
{
    move(part, arena);
    if (!part->error)
        part->error = route_authenticate(&part->call);
    if (!part->error)
        part->error = prepare_head(&part->call, &part->decision);
    if (part->error)
        return part->error;
    /* Parts have no bodies. */
    assert(!part->call.operation->functions->parse && !part->call.operation->functions->gather);
    part->decision.attempt = arena_mark(arena);
    return OK;
}

void work_answer_part(struct work *part)
{
    response_init(part->answer.response, part->decision.arena);
    part->answer.now = part->decision.now;
    if (part->error)
        answer_error(&part->answer, part->error, &part->problem);
    else
        operation_answer(&part->answer, part->decision.parameters, part->decision.result);
    assert(!part->answer.content.wanted); /* parts cannot send blob content */
}
