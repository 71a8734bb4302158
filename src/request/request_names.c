/* See request.h. */
#include "request/request.h"

#include <assert.h>

#include "request/request_private.h"

bool request_names(const struct endpoint *endpoint, const struct request *request,
                   struct arena *arena, struct bytes *ret_account, struct bytes *ret_container)
{
    struct call *call = arena_alloc(arena, sizeof *call);
    struct problem problem = { .detail = NULL };
    struct bytes object = { NULL, 0 };

    assert(!endpoint->accounts);
    *ret_account = *ret_container = object;
    call->endpoint = endpoint;
    call->service = endpoint->service;
    call->loose = endpoint->options->loose;
    call->method = request->method;
    call->arena = arena;
    call->version = bytes_from_string("");
    call->problem = &problem;
    call_set_request(call, request);
    if (route_names(call))
        return false;
    call->service->names(call->input.resource, ret_container, &object);
    *ret_account = call->account_name;
    /* Table names are compared case-insensitively. */
    *ret_container = arena_copy_lower(arena, *ret_container);
    return ret_account->len > 0 && ret_container->len > 0;
}
