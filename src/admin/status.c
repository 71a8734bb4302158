/* Operations of `lagra status`, `log-level`, `slowest` and `console`, and operations that list
 * options and deferred tasks. */
#include <stdio.h>
#include <unistd.h>

#include "admin/admin_private.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cluster/route.h"
#include "observe/slowest.h"
#include "service/deferred_tasks.h"
#include "service/task_retry.h"

static void write_instant(struct json_writer *out, const char *name, uint64_t seconds_since_1970)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(INSTANT_UNIX_EPOCH + seconds_since_1970 * TICKS_PER_SECOND, text);
    text[strlen("2019-05-09T01:19:17")] = 'Z'; /* remove the fraction */
    json_write_member(out, name, bytes_of(text, strlen("2019-05-09T01:19:17Z")));
}

static void write_listeners(struct json_writer *out, const struct admin *admin)
{
    json_write_name(out, "listeners");
    json_write_begin(out, '[');
    for (size_t i = 0; i < admin->listener_count; i++) {
        const struct admin_listener *listener = &admin->listeners[i];

        json_write_begin(out, '{');
        json_write_member(out, "name", bytes_from_string(listener->name));
        json_write_member(out, "host", bytes_from_string(listener->host));
        json_write_number(out, "port", listener->port);
        json_write_bool(out, "tls", listener->is_secure);
        json_write_end(out, '}');
    }
    json_write_end(out, ']');
}

static const char *state_of(struct store *store)
{
    if (!store_healthy(store))
        return "failed: a write or sync has failed; only reads are served";
    if (store_wants_reopening(store))
        return "out of descriptors or memory: being reopened";
    return store_is_full(store) ? "full: requests that need more space are refused" : "healthy";
}

static void write_store(struct json_writer *out, const struct admin *admin)
{
    struct store_figures figures;

    json_write_name(out, "store");
    json_write_begin(out, '{');
    json_write_member(out, "location", bytes_from_string(admin->location));
    json_write_member(out, "state", bytes_from_string(state_of(admin->store)));
    if (store_figures(admin->store, &figures)) {
        json_write_number(out, "diskFreeBytes", figures.disk_free_bytes);
        json_write_number(out, "diskReserveBytes", figures.disk_reserve_bytes);
        json_write_number(out, "contentBytes", figures.piece_bytes);
        json_write_number(out, "recordBytes", figures.record_bytes + figures.memory_table_bytes);
        json_write_bool(out, "stalled", figures.is_stalled);
    }
    json_write_end(out, '}');
}

static void write_cell(struct json_writer *out, const struct admin *admin, uint32_t cell)
{
    char address[ADDRESS_TEXT_MAX] = "";
    struct owner_target target;
    uint64_t started_ns;

    json_write_begin(out, '{');
    json_write_number(out, "cell", cell);
    if (cell != admin->cell &&
        route_find(admin->route, cell, &target, &started_ns) == ROUTE_FOUND) {
        address_write(target.address, target.port, address);
        json_write_number(out, "incarnation", target.incarnation);
    }
    json_write_member(out, "owner",
                      bytes_from_string(cell == admin->cell ? "this server"
                                        : address[0]        ? address
                                                            : "none"));
    json_write_end(out, '}');
}

/* Writes the cells of the cluster and the internal endpoints of their owners. */
static void write_cells(struct json_writer *out, const struct admin *admin)
{
    uint32_t cells[CLUSTER_CELLS_MAX];
    unsigned count;

    if (!admin->route)
        return;
    count = route_cells(admin->route, cells);
    json_write_name(out, "cells");
    json_write_begin(out, '[');
    for (unsigned i = 0; i < count; i++)
        write_cell(out, admin, cells[i]);
    json_write_end(out, ']');
}

static uint64_t sum_of(const char *family, const char *service)
{
    char labels[64] = "";
    int64_t sum;

    snprintf(labels, sizeof labels, "service=\"%s\"", service);
    sum = metric_sum(family, labels);
    return sum > 0 ? (uint64_t)sum : 0;
}

static void write_requests(struct json_writer *out, const struct admin *admin)
{
    json_write_name(out, "requests");
    json_write_begin(out, '[');
    for (size_t i = 0; i < admin->endpoints->count; i++) {
        const char *service = admin->endpoints->endpoints[i].service->name;

        json_write_begin(out, '{');
        json_write_member(out, "service", bytes_from_string(service));
        json_write_number(out, "answered", sum_of("lagra_requests_total", service));
        json_write_number(out, "inFlight", sum_of("lagra_requests_in_flight", service));
        json_write_end(out, '}');
    }
    json_write_end(out, ']');
}

void admin_status(struct admin_call *call)
{
    struct json_writer *out = &call->out;

    json_write_member(out, "version", bytes_from_string(LAGRA_VERSION));
    json_write_number(out, "pid", (uint64_t)getpid());
    write_instant(out, "upSince", call->admin->started_s);
    json_write_member(out, "logLevel", bytes_from_string(log_level_name(log_level())));
    write_listeners(out, call->admin);
    write_store(out, call->admin);
    write_cells(out, call->admin);
    write_requests(out, call->admin);
}

void admin_log_level(struct admin_call *call)
{
    const char *name = arena_string(call->arena, call->given[0]);
    enum log_level before = log_level(), level;

    if (!log_level_parse(name, &level)) {
        admin_fail(call, 400, "InvalidArgument", "The level must be debug, info, warn or error.");
        return;
    }
    log_set_level(level);
    log_line(LOG_WARN, "log level changed to %s (was %s)", log_level_name(level),
             log_level_name(before));
    json_write_member(&call->out, "level", bytes_from_string(log_level_name(level)));
    json_write_member(&call->out, "before", bytes_from_string(log_level_name(before)));
}

void admin_config(struct admin_call *call)
{
    json_write_name(&call->out, "options");
    call->admin->write_options(call->admin->options, &call->out);
}

static void write_request(struct json_writer *out, const struct slow_request *request)
{
    char id[GUID_TEXT_SIZE];

    guid_format(&request->id, id);
    json_write_begin(out, '{');
    admin_write_instant(out, "ended", request->ended);
    json_write_number(out, "microseconds", request->all_ns / 1000);
    json_write_member(out, "service", bytes_from_string(request->service));
    json_write_member(out, "operation", bytes_from_string(request->operation));
    json_write_number(out, "status", (uint64_t)request->status);
    json_write_member(out, "code", bytes_from_string(error_code(request->error)));
    json_write_member(out, "path", bytes_of(request->path, request->path_length));
    json_write_member(out, "request", bytes_from_string(id));
    json_write_end(out, '}');
}

void admin_slowest(struct admin_call *call)
{
    struct slow_request *requests = arena_array(call->arena, SLOWEST_MAX, sizeof *requests);
    size_t count = slowest_read(slowest_of_process(), clock_monotonic_ns(), requests);

    json_write_name(&call->out, "requests");
    json_write_begin(&call->out, '[');
    for (size_t i = 0; i < count; i++)
        write_request(&call->out, &requests[i]);
    json_write_end(&call->out, ']');
}

/* Maximum number of tasks shown, from the start of the list. */
#define SHOWN_MAX 100u

static void write_task(struct admin_call *call, const struct deferred_task *task, instant now)
{
    struct task_try try = { .task = *task };
    bool is_whole = task_try_read(task, &try);
    const char *name = is_whole ? task_kind_name(call->admin->endpoints, try.task.kind) : "damaged";

    json_write_begin(&call->out, '{');
    admin_write_instant(&call->out, "due", task->due);
    json_write_number(&call->out, "kind", try.task.kind);
    json_write_member(&call->out, "what", bytes_from_string(name ? name : "unknown"));
    json_write_number(&call->out, "failures", try.failures);
    json_write_number(&call->out, "lateSeconds",
                      task->due < now ? (now - task->due) / TICKS_PER_SECOND : 0);
    json_write_end(&call->out, '}');
}

void admin_todo(struct admin_call *call)
{
    struct deferred_task task, last;
    const struct deferred_task *after = NULL;
    enum store_result result;
    instant now = clock_now();
    unsigned shown = 0;

    json_write_name(&call->out, "tasks");
    json_write_begin(&call->out, '[');
    while (!(result = store_task_peek(call->admin->store, after, call->arena, &task)) &&
           shown < SHOWN_MAX) {
        write_task(call, &task, now);
        last = task;
        after = &last;
        shown++;
    }
    json_write_end(&call->out, ']');
    json_write_bool(&call->out, "isWhole", result == STORE_NOT_FOUND);
    if (result && result != STORE_NOT_FOUND)
        admin_fail(call, 500, "StoreFailed", "Cannot read the task list: %s; see the server's log.",
                   store_result_text(result));
}

/* Returns the management port's listener, which serves the console, or NULL if none exists. */
static const struct admin_listener *find_listener(const struct admin *admin)
{
    for (size_t i = 0; i < admin->listener_count; i++) {
        if (strcmp(admin->listeners[i].name, "management") == 0)
            return &admin->listeners[i];
    }
    return NULL;
}

/* Returns a host name for a browser on this machine. */
static const char *host_of(const struct admin_listener *listener)
{
    if (strcmp(listener->host, "0.0.0.0") == 0 || strcmp(listener->host, "::") == 0)
        return "localhost";
    return listener->host;
}

void admin_console_link(struct admin_call *call)
{
    const struct admin_listener *listener = find_listener(call->admin);
    char link[CONSOLE_LINK_SIZE];
    const char *host;

    if (!call->admin->console || !listener) {
        admin_fail(
            call, 404, "ConsoleIsNotServed",
            "The server has no console, which requires --managementPort and a build with npm.");
        return;
    }
    host = host_of(listener);
    console_make_link(call->admin->console, link);
    json_write_member(&call->out, "url",
                      arena_printf(call->arena,
                                   strchr(host, ':') ? "%s://[%s]:%u/console/#link=%s"
                                                     : "%s://%s:%u/console/#link=%s",
                                   listener->is_secure ? "https" : "http", host, listener->port,
                                   link));
}
