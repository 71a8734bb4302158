/* Requests and responses of the operations on access control lists. rest: Path-Update,
 * Path-Get-Properties */
#include "base/encode.h"
#include "base/json.h"
#include "blob/access_control_operations.h"
#include "service/answer.h"
#include "service/call.h"

OPERATION_CHECKS_NOTHING(get_access_control)

/* Adds x-ms-owner, -group and -permissions. */
static void answer_owner(struct answer *a, const struct posix_acl *acl)
{
    answer_header(a, "x-ms-owner", acl->owner);
    answer_header(a, "x-ms-group", acl->group);
    answer_header(a, "x-ms-permissions", posix_mode_text(a->call->arena, acl));
}

void answer_access_control(struct answer *a, const struct blob *blob)
{
    struct posix_acl acl;

    if (account_is_hierarchical(a->call->account) &&
        posix_acl_decode(blob->acl, blob->is_directory, &acl))
        answer_owner(a, &acl);
}

void get_access_control_answer(struct answer *a, const struct get_access_control_parameters *p,
                               const struct get_access_control_result *r)
{
    (void)p;
    answer_owner(a, &r->acl);
    answer_header(a, "x-ms-acl", posix_entries_text(a->call->arena, &r->acl.entries));
}

enum error check_access_check(struct call *call, struct check_access_parameters *p)
{
    struct bytes action = call_query(call, "fsaction");

    if (!action.ptr)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "fsAction", action, NULL);
    if (!posix_permissions_parse(action, &p->permissions))
        return call_fail_query(
            call, E_InvalidQueryParameterValue, "fsAction", action,
            "fsAction must be rwx, with - for permissions that are not checked.");
    return OK;
}

OPERATION_ANSWERS_NOTHING(check_access)

/* ---- set ---- */

enum error access_control_read_id(struct call *call, const char *name, struct bytes *ret_id)
{
    *ret_id = call_header(call, name);
    if (ret_id->ptr && !posix_id_is_valid(*ret_id))
        return call_fail_header(call, E_InvalidHeaderValue, name, *ret_id);
    return OK;
}

/* Reports the kind of the account before an error of the request, as the real service does. */
static enum error for_kind(const struct call *call, enum error e)
{
    return e && call->account && !account_is_hierarchical(call->account)
               ? E_HierarchicalNamespaceNotEnabled
               : e;
}

/* An account SAS has other letters. decision: 1322 */
static void demand_letters(struct call *call, bool sets_owner, bool sets_list)
{
    const struct identity *identity = &call->input.identity;

    if (identity->kind == IDENTITY_SAS && identity->sas->kind != SAS_ACCOUNT)
        call->input.demands.letters = !sets_owner ? "p" : sets_list ? "op" : "o";
}

static enum error read_access_control(struct call *call, struct set_access_control_parameters *p)
{
    struct bytes acl = call_header(call, "x-ms-acl");
    struct bytes mode = call_header(call, "x-ms-permissions");
    enum error e = access_control_read_id(call, "x-ms-owner", &p->owner);

    if (!e)
        e = access_control_read_id(call, "x-ms-group", &p->group);
    if (e)
        return e;
    if (acl.ptr && mode.ptr)
        return call_fail(call, E_InvalidInput,
                         "x-ms-acl and x-ms-permissions are mutually exclusive.");
    if (!acl.ptr && !mode.ptr && !p->owner.ptr && !p->group.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, "x-ms-acl", acl);
    p->has_entries = acl.ptr != NULL;
    p->has_mode = mode.ptr != NULL;
    if (acl.ptr && !posix_entries_parse(acl, POSIX_SET, &p->entries))
        return E_InvaldAccessControlList;
    if (mode.ptr && !posix_mode_parse(mode, &p->mode))
        return E_InvalidPermission;
    demand_letters(call, p->owner.ptr || p->group.ptr, p->has_entries || p->has_mode);
    if (p->owner.ptr)
        call->input.demands = (struct demands){
            .letters = call->input.demands.letters ? call->input.demands.letters : "o",
            .actions = ACTION_BLOB_SUPER_USER,
        };
    return OK;
}

enum error set_access_control_check(struct call *call, struct set_access_control_parameters *p)
{
    return for_kind(call, read_access_control(call, p));
}

void set_access_control_answer(struct answer *a, const struct set_access_control_parameters *p,
                               const struct set_access_control_result *r)
{
    (void)p;
    (void)r;
    answer_string(a, "x-ms-namespace-enabled", "true");
}

/* ---- set, modify or remove in a directory ---- */

static enum error read_how(struct call *call, enum posix_change *ret_how)
{
    static const char *const modes[] = {
        [POSIX_SET] = "set", [POSIX_MODIFY] = "modify", [POSIX_REMOVE] = "remove"
    };
    struct bytes mode = call_query(call, "mode");

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (bytes_is_nocase(mode, modes[i])) {
            *ret_how = (enum posix_change)i;
            return OK;
        }
    return call_fail_query(call, E_InvalidQueryParameterValue, "mode", mode,
                           "mode must be set, modify or remove.");
}

static enum error read_max(struct call *call, uint64_t *ret_max)
{
    struct bytes text = call_query(call, "maxrecords");

    *ret_max = ACL_RECORDS_MAX;
    if (!text.ptr)
        return OK;
    if (!bytes_parse_u64(text, UINT32_MAX, ret_max) || *ret_max == 0)
        return call_fail_query(call, E_InvalidQueryParameterValue, "maxRecords", text,
                               "maxRecords must be a number above 0.");
    if (*ret_max > ACL_RECORDS_MAX)
        *ret_max = ACL_RECORDS_MAX;
    return OK;
}

static enum error read_recursive(struct call *call,
                                 struct set_access_control_recursive_parameters *p)
{
    struct bytes continuation = call_query(call, "continuation");
    struct bytes forced = call_query(call, "forceflag");
    enum error e = read_how(call, &p->how);

    if (!e)
        e = read_max(call, &p->max);
    if (e)
        return e;
    demand_letters(call, false, true);
    if (!posix_entries_parse(call_header(call, "x-ms-acl"), p->how, &p->entries))
        return E_InvaldAccessControlList;
    p->is_forced = bytes_is_nocase(forced, "true");
    if (forced.len > 0 && !p->is_forced && !bytes_is_nocase(forced, "false"))
        return call_fail_query(call, E_InvalidQueryParameterValue, "forceFlag", forced,
                               "Neither true nor false.");
    if (continuation.len > 0) {
        p->from = base64_decode(call->arena, continuation);
        if (p->from.len == 0 || p->from.len > ACL_NAME_MAX || !bytes_is_utf8(p->from))
            return call_fail_query(call, E_InvalidQueryParameterValue, "continuation", continuation,
                                   "Not a continuation token of this operation.");
    }
    p->recursion = arena_alloc(call->arena, sizeof *p->recursion);
    return OK;
}

enum error set_access_control_recursive_check(struct call *call,
                                              struct set_access_control_recursive_parameters *p)
{
    return for_kind(call, read_recursive(call, p));
}

static void write_failure(struct json_writer *writer, const struct acl_failure *failed)
{
    json_write_begin(writer, '{');
    json_write_member(writer, "errorMessage",
                      bytes_from_string(error_message(E_AuthorizationPermissionMismatch)));
    json_write_member(writer, "name", bytes_of(failed->name, failed->length));
    json_write_member(writer, "type",
                      bytes_from_string(failed->is_directory ? "DIRECTORY" : "FILE"));
    json_write_end(writer, '}');
}

/* The body has no Content-Type, as recorded. */
void set_access_control_recursive_answer(struct answer *a,
                                         const struct set_access_control_recursive_parameters *p,
                                         const struct set_access_control_recursive_result *r)
{
    struct text out;
    struct json_writer writer = { .to = &out };

    (void)p;
    text_init(&out, a->call->arena, 256);
    json_write_begin(&writer, '{');
    json_write_number(&writer, "directoriesSuccessful", r->done.directories);
    json_write_name(&writer, "failedEntries");
    json_write_begin(&writer, '[');
    for (uint64_t i = 0; i < r->done.failures; i++)
        write_failure(&writer, &r->failed[i]);
    json_write_end(&writer, ']');
    json_write_number(&writer, "failureCount", r->done.failures);
    json_write_number(&writer, "filesSuccessful", r->done.files);
    json_write_end(&writer, '}');
    text_add_char(&out, '\n');
    answer_string(a, "x-ms-namespace-enabled", "true");
    if (r->next.len > 0)
        answer_header(a, "x-ms-continuation", base64_encode(a->call->arena, r->next));
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(&out);
}
