/* See testing.h. */
#include "admin/testing.h"

#include "admin/fault_rule.h"
#include "admin/management_answer.h"
#include "admin/saved_states.h"
#include "base/clock.h"
#include "base/json.h"
#include "service/waiting.h"

#define BODY_MAX_BYTES    ((size_t)32 << 10)
/* Memory for a rule with its text, and for parsing it. */
#define RULE_MEMORY_MAX   ((size_t)4 << 20)
/* Maximum time to wait, after the clock was moved, for tasks that have become due. */
#define AWAIT_MS          5000
/* Maximum total time by which the clock can be moved, so that years have four digits. */
#define MOVED_SECONDS_MAX UINT64_C(315360000)

/* A request: its target and its body. */
struct testing_request {
    struct exchange *exchange;
    const struct management *management;
    enum http_method method;
    struct bytes name; /* ptr NULL for all */
    struct bytes body;
};

typedef enum http_step ask_fn(const struct testing_request *request);

/* State of a request in exchange->application. */
struct testing_call {
    struct pool_job job; /* for requests that block */
    struct text body;
    struct testing_request request;
    ask_fn *run_in_pool;
    enum http_step step; /* result of the job, once it has run */
    bool has_run;
};

static void run_job(struct pool_job *job)
{
    struct testing_call *call = (struct testing_call *)(void *)job;

    call->step = call->run_in_pool(&call->request);
    call->has_run = true;
    exchange_resume(call->request.exchange); /* the call may already be freed */
}
_Static_assert(offsetof(struct testing_call, job) == 0,
               "a pointer to the job is a pointer to its call");

/* Runs the request on a pool thread, which may block. */
static enum http_step run_in_pool(const struct testing_request *request, ask_fn *ask)
{
    struct testing_call *call = request->exchange->application;

    call->request = *request;
    call->run_in_pool = ask;
    call->job = (struct pool_job){ .run = run_job };
    exchange_suspend(request->exchange);
    decision_pool_submit(request->management->pool, &call->job);
    return HTTP_WAIT;
}

/* ---- responses ---- */

static enum http_step answer_json(struct exchange *exchange, int status, struct text *json)
{
    text_add_char(json, '\n');
    return management_answer(exchange, status, "application/json", text_bytes(json));
}

static enum http_step refuse(struct exchange *exchange, int status, const char *why)
{
    struct text text;
    struct json_writer out = { .to = &text };

    text_init(&text, exchange->arena, 128);
    json_write_begin(&out, '{');
    json_write_member(&out, "error", bytes_from_string(why));
    json_write_end(&out, '}');
    return answer_json(exchange, status, &text);
}

static enum http_step refuse_method(struct exchange *exchange, unsigned allowed)
{
    struct text names;

    text_init(&names, exchange->arena, 32);
    text_add_string(&names, allowed & METHOD_GET ? "GET, HEAD" : "");
    if (allowed & METHOD_PUT)
        text_add_string(&names, names.len > 0 ? ", PUT" : "PUT");
    if (allowed & METHOD_DELETE)
        text_add_string(&names, names.len > 0 ? ", DELETE" : "DELETE");
    response_header(&exchange->response, bytes_from_string("Allow"), text_bytes(&names));
    return refuse(exchange, 405, "this method is not supported here");
}

/* ---- faults ---- */

struct shown {
    struct json_writer out;
    struct bytes only; /* ptr NULL for all */
    bool found;
};

/* Writes a rule and its state. The rule's text is JSON. */
static void show_rule(const struct fault_state *state, void *context)
{
    struct shown *shown = context;

    if (shown->only.ptr && !bytes_equal(shown->only, state->name))
        return;
    shown->found = true;
    json_write_begin(&shown->out, '{');
    json_write_member(&shown->out, "name", state->name);
    json_write_number(&shown->out, "matched", state->matched);
    json_write_number(&shown->out, "fired", state->fired);
    json_write_bool(&shown->out, "active", !state->is_over);
    json_write_name(&shown->out, "rule");
    text_add(shown->out.to, state->text);
    shown->out.follows = true;
    json_write_end(&shown->out, '}');
}

/* Shows a rule, or all rules if name.ptr is NULL. */
static enum http_step show_faults(struct exchange *exchange, int status, struct bytes name)
{
    struct text text;
    struct shown shown = { .out = { .to = &text }, .only = name };

    text_init(&text, exchange->arena, 1024);
    if (!name.ptr) {
        json_write_begin(&shown.out, '{');
        json_write_name(&shown.out, "faults");
        json_write_begin(&shown.out, '[');
    }
    faults_each(show_rule, &shown);
    if (name.ptr && !shown.found)
        return refuse(exchange, 404, "no rule has that name");
    if (!name.ptr) {
        json_write_end(&shown.out, ']');
        json_write_end(&shown.out, '}');
    }
    return answer_json(exchange, status, &text);
}

static enum http_step put_fault(struct exchange *exchange, const struct management *management,
                                struct bytes name, struct bytes body)
{
    struct arena *arena = arena_new(RULE_MEMORY_MAX);
    struct fault_rule rule;
    const char *problem = fault_rule_read(arena, management->endpoints, arena_copy(arena, name),
                                          arena_copy(arena, body), &rule);
    enum http_step step;

    if (!problem && faults_put(arena, &rule))
        return show_faults(exchange, 200, name);
    if (problem)
        step = refuse(exchange, 400, arena_string(exchange->arena, bytes_from_string(problem)));
    else
        step = refuse(exchange, 409, "there are already 64 rules that have not ended");
    arena_free(arena);
    return step;
}

/* Drops a rule, or all rules if name.ptr is NULL. */
static enum http_step drop_faults(struct exchange *exchange, struct bytes name)
{
    if (!name.ptr)
        faults_drop_all();
    else if (!faults_drop(name))
        return refuse(exchange, 404, "there is no rule of that name");
    return show_faults(exchange, 200, bytes_of(NULL, 0));
}

static enum http_step ask_faults(const struct testing_request *request)
{
    if (request->method == METHOD_PUT)
        return put_fault(request->exchange, request->management, request->name, request->body);
    if (request->method == METHOD_DELETE)
        return drop_faults(request->exchange, request->name);
    return show_faults(request->exchange, 200, request->name);
}

/* ---- time ---- */

static enum http_step show_time(struct exchange *exchange)
{
    struct text text;
    struct json_writer out = { .to = &text };
    char now[INSTANT_ISO_SIZE];

    instant_format_iso(clock_now(), now);
    text_init(&text, exchange->arena, 128);
    json_write_begin(&out, '{');
    json_write_member(&out, "now", bytes_from_string(now));
    json_write_number(&out, "movedSeconds", clock_moved() / TICKS_PER_SECOND);
    json_write_end(&out, '}');
    return answer_json(exchange, 200, &text);
}

/* Parses {"forwardSeconds": 3600} and nothing else. */
static bool read_forward(struct arena *arena, struct bytes body, uint64_t *ret_seconds)
{
    struct json_reader reader;
    struct json_member member;
    unsigned count = 0;
    bool is_good = true;

    json_object_init(&reader, arena, body, 0);
    while (is_good && json_next(&reader, &member)) {
        count++;
        is_good = bytes_is(member.name, "forwardSeconds") && member.kind == JSON_NUMBER &&
                  bytes_parse_u64(member.text, MOVED_SECONDS_MAX, ret_seconds);
    }
    return is_good && !reader.bad && count == 1 && *ret_seconds > 0;
}

/* Waits until the tasks that have become due are complete, as if the time had really passed, and
 * then responds. Called on the pool thread. */
static enum http_step await_tasks(const struct testing_request *request)
{
    task_runner_await(request->management->tasks, clock_now(), AWAIT_MS);
    return show_time(request->exchange);
}

static enum http_step move_time(const struct testing_request *request)
{
    struct exchange *exchange = request->exchange;
    uint64_t seconds = 0;

    if (!read_forward(exchange->arena, request->body, &seconds))
        return refuse(
            exchange, 400,
            "the body must be {\"forwardSeconds\": N}, with an integer from 1 to 315360000");
    if (clock_moved() / TICKS_PER_SECOND + seconds > MOVED_SECONDS_MAX)
        return refuse(exchange, 409, "the clock cannot be moved by more than 10 years in total");
    clock_move(seconds * TICKS_PER_SECOND);
    waiters_refresh();
    task_runner_look(request->management->tasks);
    return run_in_pool(request, await_tasks);
}

static enum http_step ask_time(const struct testing_request *request)
{
    if (request->method == METHOD_PUT)
        return move_time(request);
    return show_time(request->exchange);
}

/* ---- snapshots ---- */

static enum http_step show_snapshots(const struct testing_request *request)
{
    struct text text;
    struct json_writer out = { .to = &text };

    text_init(&text, request->exchange->arena, 256);
    json_write_begin(&out, '{');
    json_write_name(&out, "snapshots");
    saved_states_show(request->management->saved, &out);
    json_write_end(&out, '}');
    return answer_json(request->exchange, 200, &text);
}

static enum http_step answer_saved(const struct testing_request *request, enum saved_result result)
{
    switch (result) {
    case SAVED_DONE:
        return show_snapshots(request);
    case SAVED_NONE:
        return refuse(request->exchange, 404, "no snapshot has that name");
    case SAVED_TOO_MANY:
        return refuse(request->exchange, 409, "there are already 16 snapshots");
    case SAVED_NO_ROOM:
        return refuse(request->exchange, 507, "not enough free disk space");
    case SAVED_TOO_FAR:
        return refuse(request->exchange, 409,
                      "more than 128 MiB of records have changed since the snapshot");
    case SAVED_FAILED:
        return refuse(request->exchange, 500, "the data directory could not be read or written");
    case SAVED_NEVER:
        break;
    }
    return refuse(request->exchange, 409, "the store does not support snapshots");
}

/* Handles NAME and NAME/loaded. Called on the pool thread. */
static enum http_step change_snapshots(const struct testing_request *request)
{
    struct saved_states *saved = request->management->saved;
    struct bytes name, rest;

    if (!request->name.ptr)
        return show_snapshots(request);
    bytes_cut(request->name, '/', &name, &rest);
    if (request->method == METHOD_DELETE)
        return answer_saved(request, saved_states_drop(saved, name));
    return answer_saved(request,
                        rest.ptr ? saved_states_load(saved, name) : saved_states_save(saved, name));
}

/* Handles requests for snapshots. Refuses them if SMB is served, because SMB handles might refer to
 * files that do not exist in the snapshot. */
static enum http_step handle_snapshots(const struct testing_request *request)
{
    struct bytes name, rest = { NULL, 0 };

    if (request->name.ptr)
        bytes_cut(request->name, '/', &name, &rest);
    if (rest.ptr && (!bytes_is(rest, "loaded") || request->method != METHOD_PUT))
        return refuse(request->exchange, 404,
                      "use PUT /-/snapshots/NAME/loaded to load a snapshot");
    if (request->name.ptr && request->management->has_smb)
        return refuse(request->exchange, 409, "snapshots are not available while SMB is served");
    return run_in_pool(request, change_snapshots);
}

/* ---- request processing ---- */

static const struct place {
    const char *path;
    ask_fn *ask;
    unsigned methods; /* for the collection */
    unsigned of_one;  /* for a single item; 0 if none exist */
    unsigned with_bodies;
} places[] = {
    { "/-/faults", ask_faults, METHOD_GET | METHOD_DELETE, METHOD_GET | METHOD_PUT | METHOD_DELETE,
      METHOD_PUT },
    { "/-/time", ask_time, METHOD_GET | METHOD_PUT, 0, METHOD_PUT },
    { "/-/snapshots", handle_snapshots, METHOD_GET, METHOD_PUT | METHOD_DELETE, 0 },
};

/* Returns the entry for a path, or NULL. Sets *ret_name to the rest of the path; ptr NULL if there
 * is none */
static const struct place *find_place(struct bytes path, struct bytes *ret_name)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct bytes prefix = bytes_from_string(places[i].path);

        *ret_name = bytes_of(NULL, 0);
        if (bytes_equal(path, prefix))
            return &places[i];
        if (!bytes_has_prefix(path, prefix) || path.ptr[prefix.len] != '/' || places[i].of_one == 0)
            continue;
        *ret_name = bytes_from(path, prefix.len + 1);
        return &places[i];
    }
    return NULL;
}

bool is_testing_request(const struct request *request)
{
    struct bytes name;

    return find_place(request->path, &name) != NULL;
}

static bool is_name(struct bytes name)
{
    struct bytes first, rest;

    bytes_cut(name, '/', &first, &rest);
    return fault_name_is_valid(first);
}

static enum http_method method_of(const struct request *request)
{
    return request->method == METHOD_HEAD ? METHOD_GET : request->method;
}

enum http_step testing_head(struct exchange *exchange, const struct management *management)
{
    const struct request *request = &exchange->request;
    struct bytes name;
    const struct place *place = find_place(request->path, &name);
    unsigned methods = name.ptr ? place->of_one : place->methods;
    struct testing_call *call;

    if (!management->tasks)
        return refuse(exchange, 404, "this server was started without --testing");
    if (request->query.ptr || (name.ptr && !is_name(name)))
        return refuse(exchange, 400,
                      "a name must have up to 64 letters, digits, '.', '_' and '-', and there must "
                      "be no query");
    if ((method_of(request) & methods) == 0)
        return refuse_method(exchange, methods);
    if (request->content_length != 0 && (request->method & place->with_bodies) == 0)
        return refuse(exchange, 400, "the request must have no body");
    if (request->content_length != HTTP_LENGTH_UNKNOWN && request->content_length > BODY_MAX_BYTES)
        return refuse(exchange, 413, "the body is too long");
    call = arena_alloc(exchange->arena, sizeof *call);
    text_init(&call->body, exchange->arena, 0);
    exchange->application = call;
    return HTTP_WANT_BODY;
}

enum http_step testing_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct testing_call *call = exchange->application;
    struct text *body = &call->body;

    *ret_taken = data.len;
    if (exchange->server_is_busy || body->len + data.len > BODY_MAX_BYTES)
        return refuse(exchange, 413, "the body is too long");
    text_add(body, data);
    return HTTP_WANT_BODY;
}

enum http_step testing_end(struct exchange *exchange, const struct management *management)
{
    const struct testing_call *call = exchange->application;
    struct testing_request request = { .exchange = exchange,
                                       .management = management,
                                       .method = method_of(&exchange->request),
                                       .body = text_bytes(&call->body) };

    if (call->has_run)
        return call->step;
    return find_place(exchange->request.path, &request.name)->ask(&request);
}
