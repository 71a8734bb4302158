/* Authorization: see permit.h. */
#include "auth/permit.h"

#include <assert.h>

/* ---- names of actions ---- */

const char *rights_action_name(char service, enum action action)
{
    static const struct {
        char service;
        enum action action;
        const char *name;
    } names[] = {
        { 'b', ACTION_SERVICE_READ, "blobServices/read" },
        { 'b', ACTION_SERVICE_WRITE, "blobServices/write" },
        { 'b', ACTION_DELEGATION_KEY, "generateUserDelegationKey/action" },
        { 'b', ACTION_CONTAINER_READ, "containers/read" },
        { 'b', ACTION_CONTAINER_WRITE, "containers/write" },
        { 'b', ACTION_CONTAINER_DELETE, "containers/delete" },
        { 'b', ACTION_CONTAINER_GET_ACL, "containers/getAcl/action" },
        { 'b', ACTION_CONTAINER_SET_ACL, "containers/setAcl/action" },
        { 'b', ACTION_BLOB_READ, "blobs/read" },
        { 'b', ACTION_BLOB_WRITE, "blobs/write" },
        { 'b', ACTION_BLOB_DELETE, "blobs/delete" },
        { 'b', ACTION_BLOB_FILTER, "blobs/filter/action" },
        { 'b', ACTION_BLOB_TAGS_READ, "blobs/tags/read" },
        { 'b', ACTION_BLOB_TAGS_WRITE, "blobs/tags/write" },
        { 'b', ACTION_BLOB_DELETE_VERSION, "blobs/deleteBlobVersion/action" },
        { 'b', ACTION_BLOB_PERMANENT_DELETE, "blobs/permanentDelete/action" },
        { 'b', ACTION_BLOB_SUPER_USER, "blobs/immutableStorage/runAsSuperUser/action" },
        { 'q', ACTION_SERVICE_READ, "queueServices/read" },
        { 'q', ACTION_SERVICE_WRITE, "queueServices/write" },
        { 'q', ACTION_DELEGATION_KEY, "generateUserDelegationKey/action" },
        { 'q', ACTION_CONTAINER_READ, "queues/read" },
        { 'q', ACTION_CONTAINER_WRITE, "queues/write" },
        { 'q', ACTION_CONTAINER_DELETE, "queues/delete" },
        { 'q', ACTION_CONTAINER_GET_ACL, "queues/getAcl/action" },
        { 'q', ACTION_CONTAINER_SET_ACL, "queues/setAcl/action" },
        { 'q', ACTION_MESSAGE_READ, "messages/read" },
        { 'q', ACTION_MESSAGE_WRITE, "messages/write" },
        { 'q', ACTION_MESSAGE_DELETE, "messages/delete" },
        { 'q', ACTION_MESSAGE_ADD, "messages/add/action" },
        { 'q', ACTION_MESSAGE_PROCESS, "messages/process/action" },
        { 't', ACTION_SERVICE_READ, "tableServices/read" },
        { 't', ACTION_SERVICE_WRITE, "tableServices/write" },
        { 't', ACTION_CONTAINER_READ, "tables/read" },
        { 't', ACTION_CONTAINER_WRITE, "tables/write" },
        { 't', ACTION_CONTAINER_DELETE, "tables/delete" },
        { 't', ACTION_CONTAINER_GET_ACL, "tables/getAcl/action" },
        { 't', ACTION_CONTAINER_SET_ACL, "tables/setAcl/action" },
        { 't', ACTION_ENTITY_READ, "entities/read" },
        { 't', ACTION_ENTITY_DELETE, "entities/delete" },
        { 't', ACTION_ENTITY_ADD, "entities/add/action" },
        { 't', ACTION_ENTITY_UPSERT, "entities/add/action, entities/update/action" },
        { 't', ACTION_ENTITY_UPDATE, "entities/update/action" },
        { 'f', ACTION_SERVICE_READ, "fileServices/read" },
        { 'f', ACTION_SERVICE_WRITE, "fileServices/write" },
        { 'f', ACTION_DELEGATION_KEY, "generateUserDelegationKey/action" },
        { 'f', ACTION_CONTAINER_READ, "shares/read" },
        { 'f', ACTION_CONTAINER_WRITE, "shares/write" },
        { 'f', ACTION_CONTAINER_DELETE, "shares/delete" },
        { 'f', ACTION_CONTAINER_GET_ACL, "shares/getAcl/action" },
        { 'f', ACTION_CONTAINER_SET_ACL, "shares/setAcl/action" },
        { 'f', ACTION_FILE_READ, "files/read, readFileBackupSemantics/action" },
        { 'f', ACTION_FILE_WRITE, "files/write, writeFileBackupSemantics/action" },
        { 'f', ACTION_FILE_DELETE, "files/delete, writeFileBackupSemantics/action" },
        { 'f', ACTION_FILE_PERMISSIONS, "files/modifypermissions/action" },
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].service == service && names[i].action == action)
            return names[i].name;
    }
    return NULL;
}

/* ---- permission letters ---- */

static bool has_any(struct bytes given, const char *wanted)
{
    if (strcmp(wanted, RIGHTS_ANY) == 0)
        return given.len > 0;
    for (; *wanted; wanted++) {
        if (given.len > 0 && memchr(given.ptr, *wanted, given.len))
            return true;
    }
    return false;
}

static bool has_all(struct bytes given, const char *wanted)
{
    for (; wanted && *wanted; wanted++) {
        if (given.len == 0 || !memchr(given.ptr, *wanted, given.len))
            return false;
    }
    return true;
}

/* ---- anonymous callers ---- */

static enum error permit_anonymous(const struct rights *needed, const struct demands *demands,
                                   const struct identity *identity,
                                   const struct permit_facts *facts)
{
    bool may = identity->sees_public && needed->anonymous != ACCESS_PRIVATE && !demands->not_public;

    if (may && (!facts->known || facts->access >= needed->anonymous))
        return OK;
    return identity->refusal ? identity->refusal : E_NoAuthenticationInformation;
}

/* ---- stored access policies ---- */

static enum error refuse(struct bytes *ret_detail, const char *detail)
{
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}

static struct bytes date_text(struct arena *arena, instant date)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(date, text);
    return arena_copy(arena, bytes_from_string(text));
}

/* Uses the wording of the real service. */
static enum error check_times(instant start, instant expiry, instant now, struct arena *arena,
                              struct bytes *ret_detail)
{
    if (now < expiry && now >= start)
        return OK;
    *ret_detail =
        arena_printf(arena,
                     "Signature not valid in the specified time frame: Start [%.*s] - "
                     "Expiry [%.*s] - Current [%.*s]",
                     BYTES_ARG(date_text(arena, start)), BYTES_ARG(date_text(arena, expiry)),
                     BYTES_ARG(date_text(arena, now)));
    return E_AuthenticationFailed;
}

/* Start, expiry and permissions must each be set by the SAS or by its policy, but not by both.
 * rest: Define-stored-access-policy; decision: 70 */
static enum error apply_policy(const struct identity *identity, const struct permit_facts *facts,
                               struct arena *arena, struct bytes *ret_permissions,
                               struct bytes *ret_detail)
{
    const struct sas *sas = identity->sas;
    const struct policy *policy = policies_find(&facts->policies, sas->policy);
    instant expiry;

    if (!policy)
        return refuse(ret_detail, "SAS identifier cannot be found for specified signed identifier");
    if ((sas->start > 0 && policy->start > 0) || (sas->expiry > 0 && policy->expiry > 0) ||
        (sas->permissions.ptr && policy->permission.ptr))
        return refuse(ret_detail, "Access policy fields can be associated with signature or SAS "
                                  "identifier but not both");
    expiry = sas->expiry > 0 ? sas->expiry : policy->expiry;
    if (expiry == 0 || (!sas->permissions.ptr && !policy->permission.ptr))
        return refuse(ret_detail, "Signature fields not well formed.");
    if (policy->permission.ptr)
        *ret_permissions = policy->permission;
    return check_times(sas->start > 0 ? sas->start : policy->start, expiry, identity->at, arena,
                       ret_detail);
}

/* ---- shared access signatures ---- */

static enum error permit_letters(struct bytes given, const char *always,
                                 const struct rights *needed, const struct demands *demands,
                                 const struct permit_facts *facts)
{
    if (!has_all(given, demands->letters))
        return E_AuthorizationPermissionMismatch;
    if (needed->all_letters ? has_all(given, always) : has_any(given, always))
        return OK;
    if (!has_any(given, needed->create))
        return E_AuthorizationPermissionMismatch;
    return facts->known && facts->exists ? E_UnauthorizedBlobOverwrite : OK;
}

static enum error permit_sas(const struct rights *needed, const struct demands *demands,
                             const struct identity *identity, const struct permit_facts *facts,
                             struct arena *arena, struct bytes *ret_detail)
{
    const struct sas *sas = identity->sas;
    bool of_account = sas->kind == SAS_ACCOUNT;
    const char *always = of_account ? needed->account : needed->service;
    struct bytes permissions = sas->permissions;
    enum error e = OK;

    if (!*always && !*needed->create)
        return E_AuthorizationFailure;
    if (of_account && strcmp(needed->type, RIGHTS_ANY) != 0 && !has_any(sas->types, needed->type))
        return E_AuthorizationResourceTypeMismatch;
    if (sas->policy.ptr && facts->known)
        e = apply_policy(identity, facts, arena, &permissions, ret_detail);
    if (e)
        return e;
    if (!permissions.ptr)
        return OK; /* the policy decides, once it is known */
    e = permit_letters(permissions, always, needed, demands, facts);
    return e ? e : facts->outside;
}

/* ---- bearer tokens ---- */

static const char only_bearer[] = "Only authentication scheme Bearer is supported";

/* Delegation keys are issued only to users identified by a token. rest: Get-User-Delegation-Key */
static bool needs_token(const struct rights *needed)
{
    return needed->action == ACTION_DELEGATION_KEY;
}

static enum error permit_actions(const struct rights *needed, const struct demands *demands,
                                 unsigned actions)
{
    unsigned wanted = (unsigned)needed->action | demands->actions;

    if (needed->action == ACTION_NONE)
        return E_AuthorizationFailure;
    return (wanted & ~actions) == 0 ? OK : E_AuthorizationPermissionMismatch;
}

/* Access control lists can grant rights that roles do not, except demands beyond the request's row.
 * source: data-lake-storage-access-control-model "How permissions are evaluated" */
static enum error permit_principal(const struct rights *needed, const struct demands *demands,
                                   const struct identity *identity,
                                   const struct permit_facts *facts)
{
    enum error e = permit_actions(needed, demands, identity->actions);

    return e == E_AuthorizationPermissionMismatch && facts->acl == ACL_PERMITS &&
                   (demands->actions & ~identity->actions) == 0
               ? OK
               : e;
}

/* The owner of the key must be a superuser to name an agent. Lists must permit a ruled agent.
 * rest: Create-user-delegation-SAS "Specify a signed user object ID"; decision: 1323 */
static enum error permit_agent(const struct identity *identity, const struct permit_facts *facts)
{
    const struct sas *sas = identity->sas;
    bool is_permitted = !facts->known || facts->acl_of_agent == ACL_PERMITS ||
                        (facts->acl_of_agent == ACL_NONE && !sas->agent_is_ruled);

    return sas->agent.len == 0 || (is_permitted && (identity->actions & ACTION_BLOB_SUPER_USER))
               ? OK
               : E_AuthorizationPermissionMismatch;
}

enum error permit(const struct rights *needed, const struct demands *demands,
                  const struct identity *identity, const struct permit_facts *facts,
                  struct arena *arena, struct bytes *ret_detail)
{
    enum error e;

    if (needed->of_anybody)
        return OK;
    switch (identity->kind) {
    case IDENTITY_ACCOUNT_KEY:
        return needs_token(needed) ? refuse(ret_detail, only_bearer) : OK;
    case IDENTITY_SAS:
        if (needs_token(needed))
            return refuse(ret_detail, only_bearer);
        e = permit_sas(needed, demands, identity, facts, arena, ret_detail);
        if (!e && identity->sas->kind == SAS_DELEGATION)
            e = permit_principal(needed, demands, identity, facts);
        return e ? e : permit_agent(identity, facts);
    case IDENTITY_BEARER:
        return permit_principal(needed, demands, identity, facts);
    case IDENTITY_ANONYMOUS:
        break;
    }
    return permit_anonymous(needed, demands, identity, facts);
}
