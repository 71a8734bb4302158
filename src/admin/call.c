/* Responses to operators: see admin_private.h. */
#include "admin/admin_private.h"

#include <assert.h>

void admin_begin_answer(struct admin_call *call, int status)
{
    call->status = status;
    text_init(&call->answer, call->arena, 1024);
    call->out = (struct json_writer){ .to = &call->answer };
    json_write_begin(&call->out, '{');
}

void admin_fail(struct admin_call *call, int status, const char *code, const char *format, ...)
{
    va_list args;

    assert(status >= 400);
    admin_begin_answer(call, status);
    json_write_member(&call->out, "code", bytes_from_string(code));
    va_start(args, format);
    json_write_member(&call->out, "error", arena_vprintf(call->arena, format, args));
    va_end(args);
}

void admin_fail_error(struct admin_call *call, enum error e)
{
    admin_fail(call, error_status(e), error_code(e), "%s", error_message(e));
}

void admin_write_instant(struct json_writer *out, const char *name, instant at)
{
    char text[INSTANT_ISO_SIZE];

    if (at == 0)
        return;
    instant_format_iso(at, text);
    json_write_member(out, name, bytes_from_string(text));
}
