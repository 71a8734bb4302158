/* See internal_request.h. */
#include "request/internal_request.h"

#include <inttypes.h>

#include "request/request_private.h"
#include "service/other_cells.h"

/* Host of internal requests: an IP address, which contains no account name and thus selects path
 * style. */
static const struct bytes own_host = BYTES("127.0.0.1");

static struct bytes method_text(enum http_method method)
{
    return bytes_from_string(method == METHOD_PUT      ? "PUT"
                             : method == METHOD_POST   ? "POST"
                             : method == METHOD_DELETE ? "DELETE"
                             : method == METHOD_HEAD   ? "HEAD"
                                                       : "GET");
}

static uint64_t body_length(const struct internal_request *internal)
{
    return internal->source ? internal->source->length : internal->body.len;
}

/* Returns the requested headers and the length of the body. */
static const struct http_header *make_headers(struct arena *arena,
                                              const struct internal_request *internal)
{
    static const struct bytes length = BYTES("content-length");
    struct http_header *headers = arena_array(arena, internal->header_count + 1, sizeof *headers);

    headers[0] =
        (struct http_header){ length, arena_printf(arena, "%" PRIu64, body_length(internal)),
                              length };
    if (internal->header_count > 0)
        memcpy(headers + 1, internal->headers, internal->header_count * sizeof *headers);
    return headers;
}

/* A body in memory that must be staged. */
struct memory_source {
    struct gather_source source; /* must be first */
    struct bytes rest;
};

static enum error read_memory(struct gather_source *source, char *to, size_t max, size_t *ret_count)
{
    struct memory_source *memory = (struct memory_source *)(void *)source;

    *ret_count = memory->rest.len < max ? memory->rest.len : max;
    if (*ret_count > 0)
        memcpy(to, memory->rest.ptr, *ret_count);
    memory->rest = bytes_from(memory->rest, *ret_count);
    return OK;
}

/* Gathers the body from its source, or to encrypt it. */
static enum error gather(struct work *work, const struct internal_request *internal,
                         struct stage **stage)
{
    struct call *call = &work->call;
    struct decision *d = &work->decision;
    struct memory_source memory = {
        .source = { .read = read_memory, .length = internal->body.len, .max = internal->body.len },
        .rest = internal->body
    };
    struct gather_source *source = internal->source;

    if (!source && call->input.key && call->operation->body == BODY_STAGED)
        source = &memory.source;
    if (!source)
        return OK;
    return gather_body(&(struct gathering){ .endpoint = call->endpoint,
                                            .call = call,
                                            .decision = d,
                                            .stage = stage,
                                            .seen = &d->seen_before },
                       source);
}

/* Chooses the cell of a new container, and requests the pages of other cells. */
static enum error prepare_divided(struct call *call)
{
    choose_cell(call);
    return other_cells_matter(call) ? other_cells_fetch(call) : OK;
}

/* Prepares the request for its decision. */
static enum error prepare(struct work *work, const struct internal_request *internal,
                          struct stage **stage)
{
    struct call *call = &work->call;
    struct decision *d = &work->decision;
    enum error e = route_request(call);

    if (e)
        return e;
    call->input.identity = (struct identity){ .kind = IDENTITY_ACCOUNT_KEY };
    call->input.by_service = internal->by_service;
    call->input.by_operator = !internal->by_service;
    call->is_for_cell = internal->is_for_cell;
    e = prepare_head(call, d);
    if (!e && internal->is_for_cell)
        e = call->operation->functions->merged_path
                ? other_cells_count_moves(call)
                : E_InvalidInput; /* other cells can only request lists */
    else if (!e && internal->is_divided)
        e = prepare_divided(call);
    if (e)
        return e;
    call->input.body =
        (struct body){ .length = internal->body.len, .inline_bytes = internal->body };
    if (internal->source || call_needs_scope(call))
        e = work_check_before_body(work);
    if (!e)
        e = gather(work, internal, stage);
    if (e)
        return e;
    prepare_body(call, d);
    return OK;
}

void internal_request_run(const struct endpoint *endpoint, struct arena *arena,
                          const struct internal_request *internal,
                          struct internal_response *ret_answer)
{
    struct work *work = arena_alloc(arena, sizeof *work);
    struct request *request = arena_alloc(arena, sizeof *request);
    struct stage *stage = NULL;
    enum error e;

    *request = (struct request){
        .method = internal->method,
        .method_text = method_text(internal->method),
        .authority = own_host,
        .path = internal->path,
        .query = internal->query,
        .headers = make_headers(arena, internal),
        .header_count = internal->header_count + 1,
        .content_length = body_length(internal),
        .placement = internal->placement,
        .peer = own_host,
        .secure = true,
    };
    *ret_answer = (struct internal_response){ .error = OK };
    work_init(work, endpoint, arena, request, &ret_answer->response);
    work->decision.access = STORE_MAY_BLOCK;
    e = prepare(work, internal, &stage);
    if (!e)
        e = deciding_run_request(&work->decision, deciding_operation, NULL);
    ret_answer->elsewhere = work->problem.elsewhere;
    if (!e && work->decision.result->placed.cell > 0) {
        ret_answer->elsewhere = work->decision.result->placed;
        e = E_MisdirectedRequest;
    }
    ret_answer->error = e;
    ret_answer->operation = work->call.operation;
    ret_answer->detail = bytes_from_string(work->problem.detail);
    work->answer.now = work->decision.now;
    if (!e)
        operation_answer(&work->answer, work->decision.parameters, work->decision.result);
    if (stage)
        stage_close(stage);
}
