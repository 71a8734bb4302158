/* The list of deferred tasks, which operators see in the console's overview. */
#include "admin/admin_private.h"

#include "base/clock.h"
#include "service/deferred_tasks.h"
#include "service/task_retry.h"

/* Number of first tasks shown: those due, and those that have failed and will be retried. */
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
