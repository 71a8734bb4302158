/* `lagra slowest`, and the console's overview: the slowest requests of the last hour. */
#include "admin/admin_private.h"

#include "base/clock.h"
#include "observe/slowest.h"

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
