/* An operation independent of its exchange. Nothing here suspends. If data is not in memory, the
 * thread waits for it or the caller is informed, depending on the decision's access. */
#include "request/request_private.h"

#include <assert.h>

void work_init(struct work *work, const struct endpoint *endpoint, struct arena *arena,
               const struct request *request, struct response *response)
{
    assert(!work->call.endpoint); /* it is zeroed */
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

void work_move(struct work *work, struct arena *arena)
{
    assert(work->decision.part_count == 0 && !work->is_grouped);
    work->call.arena = arena;
    work->decision.arena = arena;
    work->answer.arena = arena;
    response_init(work->answer.response, arena);
}

enum error work_check(struct work *work)
{
    assert(work->call.operation);
    work->error = OK;
    return deciding_check(&work->decision);
}
