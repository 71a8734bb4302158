/* See testing.h. */
#include "admin/testing.h"

#include "admin/fault_rule.h"
#include "admin/management_answer.h"
#include "base/clock.h"
#include "base/json.h"
#include "service/waiting.h"

#define BODY_MAX_BYTES    ((size_t)32 << 10)
/* A rule with its text, and what reading it takes. */
#define RULE_MEMORY_MAX   ((size_t)4 << 20)
/* How far a clock is moved in all: its dates still have four digits for their year. */
#define MOVED_SECONDS_MAX UINT64_C(315360000)

static const char faults_path[] = "/-/faults", time_path[] = "/-/time";

/* ---- answers ---- */

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

static enum http_step refuse_method(struct exchange *exchange, const char *allowed)
{
    response_header_string(&exchange->response, "Allow", allowed);
    return refuse(exchange, 405, "there is no such method here");
}

/* ---- faults ---- */

struct shown {
    struct json_writer out;
    struct bytes only; /* ptr NULL: all */
    bool found;
};

/* The text is JSON. */
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

/* name: ptr NULL: all */
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
        return refuse(exchange, 404, "there is no rule of that name");
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
        step = refuse(exchange, 409, "there are 64 rules that have not ended");
    arena_free(arena);
    return step;
}

/* name: ptr NULL: all */
static enum http_step drop_faults(struct exchange *exchange, struct bytes name)
{
    if (!name.ptr)
        faults_drop_all();
    else if (!faults_drop(name))
        return refuse(exchange, 404, "there is no rule of that name");
    return show_faults(exchange, 200, bytes_of(NULL, 0));
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

/* {"forwardSeconds": 3600}: and nothing else. */
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

static enum http_step move_time(struct exchange *exchange, const struct management *management,
                                struct bytes body)
{
    uint64_t seconds = 0;

    if (!read_forward(exchange->arena, body, &seconds))
        return refuse(exchange, 400,
                      "the body is {\"forwardSeconds\": N}, a whole number from 1 to 315360000");
    if (clock_moved() / TICKS_PER_SECOND + seconds > MOVED_SECONDS_MAX)
        return refuse(exchange, 409, "the clock has been moved by 10 years in all");
    clock_move(seconds * TICKS_PER_SECOND);
    waiting_look();
    task_runner_look(management->tasks);
    return show_time(exchange);
}

/* ---- the way of a request ---- */

bool testing_is_asked(const struct request *request)
{
    struct bytes path = request->path, faults = bytes_from_string(faults_path);

    return bytes_is(path, time_path) || bytes_equal(path, faults) ||
           (bytes_has_prefix(path, faults) && path.ptr[faults.len] == '/');
}

/* Of a rule; ptr NULL: of all. */
static struct bytes rule_name(const struct request *request)
{
    size_t prefix = sizeof faults_path - 1;

    return request->path.len == prefix ? bytes_of(NULL, 0) : bytes_from(request->path, prefix + 1);
}

enum http_step testing_head(struct exchange *exchange, const struct management *management)
{
    const struct request *request = &exchange->request;
    bool is_time = bytes_is(request->path, time_path);
    struct bytes name = is_time ? bytes_of(NULL, 0) : rule_name(request);
    struct text *body;

    if (!management->tasks)
        return refuse(exchange, 404, "this server was started without --testing");
    if (request->query.ptr || (name.ptr && !fault_name_is_valid(name)))
        return refuse(exchange, 400,
                      "a rule's name has up to 64 letters, digits, '.', '_' and '-', and no query");
    if (request->method & (METHOD_GET | METHOD_HEAD))
        return is_time ? show_time(exchange) : show_faults(exchange, 200, name);
    if (request->method == METHOD_DELETE && !is_time)
        return drop_faults(exchange, name);
    if (request->method != METHOD_PUT || (!is_time && !name.ptr))
        return refuse_method(exchange, is_time    ? "GET, HEAD, PUT"
                                       : name.ptr ? "GET, HEAD, PUT, DELETE"
                                                  : "GET, HEAD, DELETE");
    if (request->content_length != HTTP_LENGTH_UNKNOWN && request->content_length > BODY_MAX_BYTES)
        return refuse(exchange, 413, "the body is too long");
    body = arena_alloc(exchange->arena, sizeof *body);
    text_init(body, exchange->arena, 1024);
    exchange->application = body;
    return HTTP_WANT_BODY;
}

enum http_step testing_body(struct exchange *exchange, struct bytes data, size_t *ret_taken)
{
    struct text *body = exchange->application;

    *ret_taken = data.len;
    if (exchange->server_is_busy || body->len + data.len > BODY_MAX_BYTES) {
        exchange->application = NULL;
        return refuse(exchange, 413, "the body is too long");
    }
    text_add(body, data);
    return HTTP_WANT_BODY;
}

enum http_step testing_end(struct exchange *exchange, const struct management *management)
{
    const struct text *body = exchange->application;

    if (bytes_is(exchange->request.path, time_path))
        return move_time(exchange, management, text_bytes(body));
    return put_fault(exchange, management, rule_name(&exchange->request), text_bytes(body));
}
