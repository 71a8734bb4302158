/* Control requests and the reply log of test builds: see control.h. */
#include "request/control.h"

#ifdef LAGRA_GATES

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/gate.h"
#include "service/deferred_tasks.h"
#include "service/waiting.h"

/* ---- control requests ---- */

static void say(struct exchange *exchange, int status, struct bytes body)
{
    response_init(&exchange->response, exchange->arena);
    exchange->response.status = status;
    exchange->response.body_kind = BODY_BYTES;
    exchange->response.body = body;
}

static void control_gate(struct exchange *exchange, struct bytes name)
{
    enum gate gate;

    if (!gate_by_name(name, &gate)) {
        say(exchange, 404, bytes_from_string("no such gate\n"));
        return;
    }
    if (exchange->request.method == METHOD_POST)
        gate_go(gate);
    say(exchange, 200, arena_printf(exchange->arena, "%u\n", gate_count(gate)));
}

static void control_job(struct exchange *exchange, struct bytes name)
{
    enum job_gate gate;

    if (!job_gate_by_name(name, &gate)) {
        say(exchange, 404, bytes_from_string("no such gate\n"));
        return;
    }
    if (exchange->request.method == METHOD_POST)
        job_gate_stop_at(gate);
    say(exchange, 200, arena_printf(exchange->arena, "%u\n", job_gate_count(gate)));
}

static void control_clock(struct exchange *exchange, struct bytes seconds)
{
    const struct endpoint *endpoint = exchange->request.listener_tag;
    uint64_t value = 0;

    if (!bytes_parse_u64(seconds, UINT32_MAX, &value)) {
        say(exchange, 400, bytes_from_string("not a number of seconds\n"));
        return;
    }
    clock_advance(value * TICKS_PER_SECOND);
    waiters_refresh();
    if (endpoint->all && endpoint->all->tasks)
        task_runner_look(endpoint->all->tasks);
    say(exchange, 200, bytes_from_string("ok\n"));
}

#define TASKS_AWAIT_MS 10000

/* Responds when all deferred tasks that are due have run. */
static void control_tasks(struct exchange *exchange)
{
    const struct endpoint *endpoint = exchange->request.listener_tag;
    struct task_runner *tasks = endpoint->all ? endpoint->all->tasks : NULL;
    const instant now = clock_now();
    bool have_run;

    if (tasks)
        task_runner_look(tasks);
    have_run = !tasks || task_runner_await(tasks, now, TASKS_AWAIT_MS);
    say(exchange, have_run ? 200 : 503, bytes_from_string(have_run ? "ok\n" : "tasks are left\n"));
}

static void control_renewals(struct exchange *exchange, struct bytes argument)
{
    gate_hold_renewals(bytes_is(argument, "hold"));
    say(exchange, 200, bytes_from_string("ok\n"));
}

static void control_collect(struct exchange *exchange)
{
    const struct endpoint *endpoint = exchange->request.listener_tag;
    struct store_usage usage;

    store_collect_now(endpoint->store, &usage);
    say(exchange, 200,
        arena_printf(exchange->arena,
                     "extent_count=%" PRIu64 "\npiece_bytes=%" PRIu64 "\nallocated_bytes=%" PRIu64
                     "\npending_bytes=%" PRIu64 "\n",
                     usage.extent_count, usage.piece_bytes, usage.allocated_bytes,
                     usage.pending_bytes));
}

/* jemalloc(3); missing in sanitizer builds */
extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
    __attribute__((weak));

static bool read_allocated(size_t *ret_bytes)
{
    uint64_t epoch = 1;
    size_t size = sizeof *ret_bytes;

    return mallctl && mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) == 0 &&
           mallctl("stats.allocated", ret_bytes, &size, NULL, 0) == 0;
}

static void control_memory(struct exchange *exchange)
{
    const struct endpoint *endpoint = exchange->request.listener_tag;
    size_t allocated;

    store_drop_caches(endpoint->store);
    if (read_allocated(&allocated))
        say(exchange, 200, arena_printf(exchange->arena, "%zu\n", allocated));
    else
        say(exchange, 501, bytes_from_string("this allocator does not report it\n"));
}

bool control_request(struct exchange *exchange)
{
    struct bytes prefix = BYTES("/$lagra/");
    struct bytes what, argument;

    if (!bytes_has_prefix(exchange->request.path, prefix))
        return false;
    bytes_cut(bytes_from(exchange->request.path, prefix.len), '/', &what, &argument);
    if (bytes_is(what, "health"))
        return false;
    if (bytes_is(what, "gate"))
        control_gate(exchange, argument);
    else if (bytes_is(what, "job"))
        control_job(exchange, argument);
    else if (bytes_is(what, "clock"))
        control_clock(exchange, argument);
    else if (bytes_is(what, "tasks"))
        control_tasks(exchange);
    else if (bytes_is(what, "renewals"))
        control_renewals(exchange, argument);
    else if (bytes_is(what, "waiting"))
        say(exchange, 200, arena_printf(exchange->arena, "%u\n", waiters_count()));
    else if (bytes_is(what, "collect"))
        control_collect(exchange);
    else if (bytes_is(what, "memory"))
        control_memory(exchange);
    else
        say(exchange, 404, bytes_from_string("no such control\n"));
    return true;
}

/* ---- the reply log ---- */

static pthread_once_t reply_log_once = PTHREAD_ONCE_INIT;
static int reply_log = -1;

static void reply_log_open(void)
{
    const char *path = getenv("LAGRA_REPLY_LOG");

    if (path && *path)
        reply_log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

void control_reply(const struct work *work)
{
    const struct response *response = work->answer.response;
    const struct operation *operation = work->call.operation;
    struct text line;

    pthread_once(&reply_log_once, reply_log_open);
    if (reply_log < 0 || is_health_request(work->call.request)) /* not in the operation tables */
        return;
    text_init(&line, work->call.arena, 512);
    text_printf(&line, "{\"operation\":\"%s\",\"row\":%td,\"service\":\"%s\",\"method\":\"%.*s\",",
                operation ? operation->name : "",
                operation ? operation - work->call.service->operations : -1,
                work->call.service->name, BYTES_ARG(work->call.request->method_text));
    text_printf(&line, "\"status\":%d,\"code\":\"%s\",\"reports_code\":%s,\"headers\":[",
                response->status, request_log_code(&work->answer),
                call_since(&work->call, "2017-07-29") ? "true" : "false");
    for (size_t i = 0; i < response->header_count; i++)
        text_printf(&line, "%s\"%.*s\"", i > 0 ? "," : "", BYTES_ARG(response->headers[i].name));
    text_add_string(&line, "]}\n");
    if (write(reply_log, line.ptr, line.len) < 0)
        reply_log = -1;
}

#endif
