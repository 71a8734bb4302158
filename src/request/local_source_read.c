/* See local_source_read.h. */
#include "request/local_source_read.h"

#include "request/request_private.h"

struct source_read {
    struct request request; /* URL, conditions and credentials, for routing and authentication */
    struct call call;
    struct problem problem;
    struct decision decision;
};

static struct source_read *begin(const struct endpoint *endpoint, struct arena *arena,
                                 const struct source_read_request *options)
{
    struct source_read *inner = arena_alloc(arena, sizeof *inner);

    inner->request = (struct request){
        .method = METHOD_HEAD,
        .method_text = BYTES("HEAD"),
        .authority = options->host,
        .path = options->path,
        .query = options->query,
        .headers = options->headers,
        .header_count = options->header_count,
        .peer = options->peer,
        .secure = options->secure,
        .is_forwarded = options->is_forwarded,
        .placement = options->placement,
    };
    prepare_init(&inner->call, &inner->decision, endpoint, arena, &inner->request, &inner->problem);
    inner->decision.access = STORE_MAY_BLOCK;
    inner->call.input.key = options->key;
    return inner;
}

static enum error authenticated(struct source_read *inner,
                                const struct source_read_request *options)
{
    struct call *call = &inner->call;

    if (!options->identity || !bytes_equal(options->account, call->account_name))
        return route_authenticate(call);
    call->input.identity = *options->identity;
    return OK;
}

enum error source_read_begin(const struct endpoint *endpoint, struct arena *arena,
                             const struct source_read_request *options,
                             struct source_read **ret_read)
{
    struct source_read *inner = begin(endpoint, arena, options);
    struct call *call = &inner->call;
    struct decision *d = &inner->decision;
    enum error e;

    *ret_read = inner;
    e = route_request(call);
    prepare_secondary(call, d);
    call->input.is_source = true;
    call->input.may_be_elsewhere = options->may_be_elsewhere;
    if (options->demands.not_public)
        call->input.demands = options->demands;
    if (!e)
        e = authenticated(inner, options);
    if (!e)
        e = prepare_head(call, d);
    if (e)
        return e;
    prepare_body(call, d); /* there is no body, but this marks where attempts start */
    return deciding_run_unawaited(d, deciding_operation, NULL);
}

struct bytes source_read_account(const struct source_read *inner)
{
    return inner->call.account_name;
}

const struct operation *source_read_operation(const struct source_read *inner)
{
    return inner->call.operation;
}

const struct result *source_read_result(const struct source_read *inner)
{
    return inner->decision.result;
}

const struct problem *source_read_problem(const struct source_read *inner)
{
    return &inner->problem;
}

uint64_t source_read_seen(const struct source_read *inner)
{
    return inner->decision.seen;
}

struct read_view *source_read_take_snapshot(struct source_read *inner)
{
    return decision_take_snapshot(&inner->decision);
}

void source_read_end(struct source_read *inner)
{
    deciding_end(&inner->decision);
}
