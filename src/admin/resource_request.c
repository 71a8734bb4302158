/* See resource_request.h. */
#include "admin/resource_request.h"

#include "base/encode.h"
#include "base/url.h"

/* ---- the account ---- */

bool resource_find_account(struct admin_call *call, struct bytes given, struct bytes *ret_name)
{
    const struct account *only;
    size_t count;

    if (given.ptr) {
        *ret_name = given;
        if (!accounts_find(call->admin->accounts, given))
            admin_fail(call, 404, "AccountNotFound", "The account %.*s does not exist.",
                       BYTES_ARG(given));
        return call->status == 200;
    }
    only = accounts_only(call->admin->accounts, &count);
    if (only)
        *ret_name = account_name(only);
    else
        admin_fail(call, 400, "AccountNotNamed",
                   "There are %zu accounts; select one with --account.", count);
    return call->status == 200;
}

/* ---- requests ---- */

bool resource_request(struct admin_call *call, const char *service,
                      const struct internal_request *request, struct internal_response *ret_answer)
{
    cell_request_run(endpoint_find(call->admin->endpoints, bytes_from_string(service)), call->arena,
                     request, ret_answer);
    if (ret_answer->error)
        admin_fail(call, error_status(ret_answer->error), error_code(ret_answer->error), "%s%s%.*s",
                   error_message(ret_answer->error), ret_answer->detail.len > 0 ? " " : "",
                   BYTES_ARG(ret_answer->detail));
    return call->status == 200;
}

bool resource_check_name(struct admin_call *call, const char *service, struct bytes name)
{
    bool is_changed =
        strcmp(service, "blob") == 0 && !bytes_equal(url_normalize_path(call->arena, name), name);

    if (is_changed)
        admin_fail(call, error_status(E_InvalidResourceName), error_code(E_InvalidResourceName),
                   "%s", error_message(E_InvalidResourceName));
    return !is_changed;
}

struct bytes resource_path(struct arena *arena, struct bytes account, struct bytes name)
{
    return arena_printf(arena, "/%.*s/%.*s", BYTES_ARG(account),
                        BYTES_ARG(percent_encode(arena, name, "$")));
}
