/* Operations of `lagra account scope`. */
#include "admin/admin_private.h"

#include "admin/resource_request.h"
#include "admin/stored_scopes.h"
#include "base/log.h"
#include "observe/access_log.h"

enum { NAME };

static void fail(struct admin_call *call, enum error e, struct bytes name)
{
    if (e == E_InvalidInput)
        admin_fail(call, 400, "InvalidScopeName",
                   "A name must have %u to %u letters, digits and single dashes between them.",
                   SCOPE_NAME_MIN, SCOPE_NAME_MAX);
    else if (e == E_NotImplemented)
        admin_fail(
            call, 409, "EncryptionKeyRequired",
            "Encryption scopes require --encryptionKey: without it, their keys would be stored "
            "unprotected next to the data.");
    else if (e == E_ResourceAlreadyExists)
        admin_fail(call, 409, "ScopeAlreadyExists", "The encryption scope %.*s already exists.",
                   BYTES_ARG(name));
    else if (e == E_ResourceNotFound)
        admin_fail(call, 404, "ScopeNotFound", "The encryption scope %.*s does not exist.",
                   BYTES_ARG(name));
    else if (e == E_OutOfRangeInput)
        admin_fail(call, 409, "TooManyScopes", "There are already %u encryption scopes.",
                   SCOPES_MAX);
    else
        admin_fail_error(call, e);
}

static void write_scope(struct json_writer *out, const struct encryption_scope *scope)
{
    json_write_member(out, "name", scope->name);
    json_write_member(out, "state", bytes_from_string(scope->is_disabled ? "disabled" : "enabled"));
    admin_write_instant(out, "created", scope->created);
    admin_write_instant(out, "changed", scope->changed);
}

static void change(struct admin_call *call, struct bytes of, enum scope_change how)
{
    static const char *const notes[] = { [SCOPE_ADD] = "an encryption scope was added",
                                         [SCOPE_ENABLE] = "an encryption scope was enabled",
                                         [SCOPE_DISABLE] = "an encryption scope was disabled" };
    struct encryption_scope scope;
    struct bytes account;
    enum error e;

    if (!resource_find_account(call, of, &account))
        return;
    if (call->admin->follows_root) {
        admin_fail(call, 409, "AccountsAreInRootCell",
                   "Encryption scopes of a cluster can only be changed at the owner of cell 1.");
        return;
    }
    e = stored_scope_change(call->admin->store, call->admin->endpoints->endpoints[0].scopes,
                            call->arena, account, call->given[NAME], how, &scope);
    if (e) {
        fail(call, e, call->given[NAME]);
        return;
    }
    log_line(LOG_INFO, "%s: %.*s of account %.*s", notes[how], BYTES_ARG(scope.name),
             BYTES_ARG(account));
    audit_note(notes[how], account);
    json_write_member(&call->out, "account", account);
    write_scope(&call->out, &scope);
}

/* Arguments: name, account. */
void admin_scope_add(struct admin_call *call)
{
    change(call, call->given[1], SCOPE_ADD);
}

/* Arguments: name, state, account. */
void admin_scope_set(struct admin_call *call)
{
    struct bytes state = call->given[1];

    if (bytes_is(state, "enabled"))
        change(call, call->given[2], SCOPE_ENABLE);
    else if (bytes_is(state, "disabled"))
        change(call, call->given[2], SCOPE_DISABLE);
    else
        admin_fail(call, 400, "InvalidArgument", "The state must be enabled or disabled.");
}

/* Arguments: account. */
void admin_scope_list(struct admin_call *call)
{
    struct encryption_scope *scopes;
    struct bytes account;
    size_t count;
    enum error e;

    if (!resource_find_account(call, call->given[0], &account))
        return;
    e = stored_scopes_list(call->admin->store, call->arena, account, &scopes, &count);
    if (e) {
        admin_fail_error(call, e);
        return;
    }
    json_write_member(&call->out, "account", account);
    json_write_name(&call->out, "scopes");
    json_write_begin(&call->out, '[');
    for (size_t i = 0; i < count; i++) {
        json_write_begin(&call->out, '{');
        write_scope(&call->out, &scopes[i]);
        json_write_end(&call->out, '}');
    }
    json_write_end(&call->out, ']');
}
