/* See inner.h. */
#include "service/inner.h"

#include "service/service_private.h"

struct inner {
    struct request request;
    struct response response;
    struct work work;
};

static struct inner *begin(const struct endpoint *endpoint, struct arena *arena,
                           const struct inner_request *asked)
{
    struct inner *inner = arena_alloc(arena, sizeof *inner);

    inner->request = (struct request){
        .method = asked->method,
        .method_text = bytes_from_string(asked->method == METHOD_GET ? "GET" : "HEAD"),
        .authority = asked->host,
        .path = asked->path,
        .query = asked->query,
        .headers = asked->headers,
        .header_count = asked->header_count,
        .peer = asked->peer,
        .secure = asked->secure,
    };
    work_init(&inner->work, endpoint, arena, &inner->request, &inner->response);
    inner->work.decision.access = STORE_MAY_BLOCK;
    return inner;
}

static enum error authenticated(struct inner *inner, const struct inner_request *asked)
{
    struct call *call = &inner->work.call;

    if (!asked->identity || !bytes_equal(asked->account, call->account_name))
        return route_authenticate(&inner->work);
    call->input.identity = *asked->identity;
    return OK;
}

static enum error decide(struct inner *inner)
{
    work_parse(&inner->work); /* there is no body: attempts begin here */
    return work_run(&inner->work);
}

enum error inner_read(const struct endpoint *endpoint, struct arena *arena,
                      const struct inner_request *asked, struct inner **ret_inner)
{
    struct inner *inner = begin(endpoint, arena, asked);
    enum error e;

    *ret_inner = inner;
    e = route_request(&inner->work);
    if (asked->demands.not_public)
        inner->work.call.input.demands = asked->demands;
    if (!e)
        e = authenticated(inner, asked);
    if (!e)
        e = work_find(&inner->work);
    return e ? e : decide(inner);
}

struct bytes inner_account(const struct inner *inner)
{
    return inner->work.call.account_name;
}

const struct operation *inner_operation(const struct inner *inner)
{
    return inner->work.call.operation;
}

const struct result *inner_result(const struct inner *inner)
{
    return inner->work.result;
}

const struct problem *inner_problem(const struct inner *inner)
{
    return &inner->work.problem;
}

uint64_t inner_seen(const struct inner *inner)
{
    return inner->work.decision.seen;
}

struct snapshot *inner_take_snapshot(struct inner *inner)
{
    return decision_take_snapshot(&inner->work.decision);
}

void inner_end(struct inner *inner)
{
    deciding_end(&inner->work.decision);
}
