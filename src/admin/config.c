/* The server's effective configuration, as printed by `lagra config check` before a start. */
#include "admin/admin_private.h"

void admin_config(struct admin_call *call)
{
    json_write_name(&call->out, "options");
    call->admin->write_options(call->admin->options, &call->out);
}
