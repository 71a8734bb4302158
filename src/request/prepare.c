/* Prepares the decision of a routed and authenticated call: finds the operation, checks the
 * headers and conditions, gathers and parses the body. */
#include "request/gather.h"
#include "request/request_private.h"
#include "service/request_body.h"

#include <assert.h>

/* The conditional headers of a call.
 * rest: Specifying-Conditional-Headers-for-Blob-Service-Operations; semantics 4 */

static const struct {
    const char *name, *shown;
    unsigned bit;
} all[] = {
    { "if-match", "If-Match", IF_MATCH },
    { "if-none-match", "If-None-Match", IF_NONE_MATCH },
    { "if-modified-since", "If-Modified-Since", IF_MODIFIED_SINCE },
    { "if-unmodified-since", "If-Unmodified-Since", IF_UNMODIFIED_SINCE },
    { "x-ms-if-tags", "x-ms-if-tags", IF_TAGS },
};
#define COUNT (sizeof all / sizeof all[0])

/* Returns the values of the headers selected by these bits. */
static struct condition_headers headers_of(const struct call *call, unsigned bits)
{
    struct condition_headers headers = { .form = call->service->etags };
    struct bytes *const fields[COUNT] = { &headers.if_match, &headers.if_none_match,
                                          &headers.if_modified_since, &headers.if_unmodified_since,
                                          &headers.if_tags };

    for (size_t i = 0; i < COUNT; i++) {
        if (all[i].bit & bits)
            *fields[i] = call_header(call, all[i].name);
    }
    return headers;
}

/* Reports the header that conditions_parse() has refused. */
static enum error blame(struct call *call, enum error e)
{
    struct conditions conditions;

    for (size_t i = 0; i < COUNT; i++) {
        struct condition_headers alone = headers_of(call, all[i].bit);
        struct bytes value = call_header(call, all[i].name);

        if (!conditions_parse(call->arena, &alone, &conditions))
            continue;
        if (alone.form == ETAG_TIMESTAMP) /* message of the real service. decision: 141 */
            return call_fail(
                call, E_InvalidInput,
                "The etag value '%.*s' specified in one of the request headers is not "
                "valid. Please make sure only one etag value is specified and is valid.",
                BYTES_ARG(value));
        return call_fail_header(call, e, all[i].shown, value);
    }
    return e;
}

enum error route_conditions(struct call *call)
{
    struct condition_headers headers = headers_of(call, IF_HTTP4 | IF_TAGS);
    enum error e = conditions_parse(call->arena, &headers, &call->input.conditions);

    if (e)
        return blame(call, e);
    if (call->input.conditions.given & IF_TAGS)
        call->input.demands = (struct demands){ .letters = "t",
                                                .actions = ACTION_BLOB_TAGS_READ,
                                                .not_public = true };
    return OK;
}

/* decision: 881 */
static unsigned rules_of_version(const struct call *call)
{
    unsigned rules = 0;

    if (!call_since(call, "2013-08-15"))
        rules |= CONDITIONS_SINGLE;
    if (!call_since(call, "2016-05-31"))
        rules |= CONDITIONS_READ_ANY;
    if (!call_since(call, "2017-04-17"))
        rules |= CONDITIONS_UNCOMMITTED_ANY;
    return rules;
}

/* Adds the rules of the request's version to the conditions. Called once the version and the
 * operation are known. Refuses unreadable dates unless the operation is a read, which ignores them.
 * decisions: 848, 881
 * returns  OK, E_InvalidHeaderValue */
static enum error conditions_of_operation(struct call *call)
{
    unsigned unreadable = call->input.conditions.unreadable;

    call->input.conditions.rules = rules_of_version(call);
    assert(call->operation);
    if (call->operation->rights.effect == READS)
        return OK;
    for (size_t i = 0; i < COUNT; i++) {
        if (all[i].bit & unreadable)
            return call_fail_header(call, E_InvalidHeaderValue, all[i].shown,
                                    call_header(call, all[i].name));
    }
    return OK;
}

/* ---- headers ---- */

void prepare_init(struct call *call, struct decision *d, const struct endpoint *endpoint,
                  struct arena *arena, const struct request *request, struct problem *problem)
{
    assert(!call->endpoint && !d->service);
    endpoint = endpoint_of_request(endpoint, request);
    call->endpoint = endpoint;
    call->service = endpoint->service;
    call->loose = endpoint->options->loose;
    call->no_public_access = endpoint->options->no_public_access;
    call->rehydrates_ticks = endpoint->options->rehydrate_seconds * TICKS_PER_SECOND;
    call->method = request->method;
    call->arena = arena;
    call->request_id = guid_is_zero(&request->id) ? guid_new() : request->id;
    call->version = bytes_from_string("");
    call->input.placement = request->placement;
    call->problem = problem;
    call_set_request(call, request);
    d->service = endpoint->service;
    d->input = &call->input;
    d->arena = arena;
    d->store = endpoint->store;
    d->access = STORE_NO_WAIT;
    d->always_waits = endpoint->options->always_wait;
    d->problem = problem;
}

void prepare_secondary(const struct call *call, struct decision *d)
{
    if (call->secondary && call->endpoint->secondary)
        d->store = call->endpoint->secondary;
}

/* Checks the permission before any state is known. A caller without the right learns nothing else,
 * not even whether the operation exists. */
static enum error permit_unseen(struct call *call, enum error found)
{
    static const struct rights of_nobody = {
        .type = RIGHTS_ANY, .account = RIGHTS_ANY, .service = RIGHTS_ANY, .create = ""
    };
    struct permit_facts unknown = { .known = false };
    struct bytes detail = { NULL, 0 };
    enum error e;

    if (found && call->request->method == METHOD_OPTIONS)
        return found;
    if (!found && call->service->has_access_control && call->operation->passes &&
        account_is_hierarchical(call->account))
        unknown.acl = unknown.acl_of_agent = ACL_PERMITS;
    e = permit(found ? &of_nobody : &call->operation->rights, &call->input.demands,
               &call->input.identity, &unknown, call->arena, &detail);
    if (e)
        problem_of_permission(call->problem, call->arena, detail);
    return e ? e : found;
}

/* Checks the length of the body, if it is known yet. decision: 875 */
static enum error check_body(struct call *call)
{
    const struct operation *row = call->operation;
    uint64_t length = call->content_length;

    if (length == HTTP_LENGTH_UNKNOWN || row->body == BODY_IGNORED)
        return OK;
    if (row->body == BODY_REFUSED)
        return length > 0 ? body_fail_length(call) : OK;
    return length > row->body_max ? E_RequestBodyTooLarge : OK;
}

static enum error find_operation(struct call *call)
{
    enum error e = OK;

    if (call->service->operation_count == 0)
        e = call_fail(call, E_NotImplemented, "The %s service is not built yet.",
                      call->service->name);
    else
        call->operation = operation_find(call->service, call, &e);
    e = permit_unseen(call, e);
    if (e)
        return e;
    if (!call->operation->functions)
        return call_fail(call, E_NotImplemented, "%s is not built yet.", call->operation->name);
    if (call->secondary && call->operation->rights.effect == WRITES)
        return E_WriteNotAllowed;
    e = body_read_structured(call);
    return e ? e : check_body(call);
}

/* Initializes the parameters, and calls the operation's check of the headers. */
static enum error check(struct call *call, struct decision *d)
{
    const struct operation *row = call->operation;

    assert(row && row->functions);
    d->operation = row;
    d->level = row->level == LEVEL_ANY ? 0 : call->input.resource->level;
    d->parameters = arena_alloc(call->arena, row->functions->parameters_size);
    d->parameters->operation = row;
    call->inline_max = STORE_INLINE_BYTES;
    if (call_header(call, "content-md5").ptr)
        call->wants_md5 = true;
    if (call_header(call, "x-ms-content-crc64").ptr)
        call->wants_crc64 = true;
    return row->functions->check(call, d->parameters);
}

enum error prepare_head(struct call *call, struct decision *d)
{
    enum error e = find_operation(call);

    call->input.is_before_append_blobs = !call_since(call, "2015-02-21");
    if (!e)
        e = call->service->check_names(call->input.resource);
    if (!e)
        e = conditions_of_operation(call);
    return e ? e : check(call, d);
}

/* ---- the body ---- */

enum error prepare_gather(struct call *call, struct decision *d, struct stage **stage)
{
    struct gathering gathering = {
        .endpoint = call->endpoint,
        .call = call,
        .decision = d,
        .stage = stage,
        .seen = &d->seen_before,
    };
    enum error e = call->operation->functions->gather(&gathering, d->parameters);

    assert(!decision_is_unfinished(e));
    decision_saw(d, d->seen_before);
    return e;
}

/* Errors in the body are reported after decide has checked existence, lease and conditions
 * (decision: 2). */
void prepare_body(struct call *call, struct decision *d)
{
    const struct operation_functions *functions = call->operation->functions;

    assert(d->operation == call->operation && d->part_count == 0 && d->attempts == 0);
    if (functions->parse)
        d->malformed = functions->parse(call, d->parameters);
    if (d->malformed) {
        struct problem *because = arena_alloc(d->arena, sizeof *because);

        *because = *d->problem;
        d->malformed_because = because;
    }
    d->attempt = arena_mark(d->arena);
}
