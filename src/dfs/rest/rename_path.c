/* Requests of Path Create with x-ms-rename-source. rest: Path-Create */
#include "dfs/rest/request.h"
#include "service/server.h"

static const char source_name[] = "x-ms-rename-source";

/* Detects an omitted account: the first name of the path is not that of an account, and that of the
 * source is. */
struct bytes dfs_rename_account(const struct call *call)
{
    const struct accounts *accounts = call->endpoint->accounts;
    struct bytes source = call_header(call, source_name), account, first, rest;

    if (!accounts || call->request->method != METHOD_PUT || source.len < 2 || source.ptr[0] != '/')
        return bytes_of(NULL, 0);
    bytes_cut(bytes_from(source, 1), '/', &account, &rest);
    bytes_cut(bytes_from(call->request->path, 1), '/', &first, &rest);
    return !accounts_find(accounts, first) && accounts_find(accounts, account) ? account
                                                                               : bytes_of(NULL, 0);
}

static enum error fail_source(struct call *call)
{
    return call_fail_header(call, E_InvalidSourceUri, source_name, call_header(call, source_name));
}

/* Authenticates the SAS of the source. The request's own SAS is that of the destination, and permits
 * nothing at the source. decision: 1322 */
static enum error authenticate_sas(struct call *call, const struct blob_resource *source,
                                   struct bytes query, const struct identity **ret_identity)
{
    const struct trust_holder *trust = call->endpoint->trust;
    const struct auth_target target = {
        .account = call->account,
        .name = call->account_name,
        .path = call->request->path,
        .secondary = call->secondary,
        .service = 'b',
        .service_name = "blob",
        .container = source->container,
        .object = source->blob,
        .trust = trust ? trust_now(trust) : NULL,
    };
    struct identity *identity = arena_alloc(call->arena, sizeof *identity);
    struct bytes detail = { NULL, 0 };

    if (query.len == 0 ||
        authenticate_source(call->request, query, &target, call->input.identity.at, call->arena,
                            identity, &detail))
        return call_fail(call, E_AuthorizationPermissionMismatch,
                         "x-ms-rename-source has no valid shared access signature of the source.");
    if (identity_uses_key(identity) && account_refuses_keys(call->account))
        return E_KeyBasedAuthenticationNotPermitted;
    *ret_identity = identity;
    return OK;
}

/* Returns what the roles of the caller permit in the filesystem of the source. That the caller has
 * a SAS is checked with the SAS of the source. */
static unsigned granted_at(const struct call *call, struct bytes filesystem)
{
    const struct identity *identity = &call->input.identity;
    const struct trust_holder *trust = call->endpoint->trust;

    return identity->kind == IDENTITY_BEARER
               ? trust_actions(trust ? trust_now(trust) : NULL, identity->oid, call->account_name,
                               'b', filesystem)
               : identity->actions;
}

/* Reads "/filesystem/path", percent-encoded, with the query of a SAS. That of a request without a SAS
 * is not needed. If the request's path lacks the account, that of the source starts with it. */
static enum error read_source(struct call *call, struct rename_path_parameters *p)
{
    struct bytes text = call_header(call, source_name), path, query, account;
    struct blob_resource source = { .base.level = LEVEL_SERVICE };
    enum error e;

    bytes_cut(text, '?', &path, &query);
    if (path.len < 2 || path.ptr[0] != '/')
        return fail_source(call);
    path = bytes_from(path, 1);
    if (call->account_is_elsewhere)
        bytes_cut(path, '/', &account, &path);
    if (!path.ptr || dfs_read_path(call->arena, path, &source) || source.base.level != LEVEL_BLOB)
        return fail_source(call);
    p->rename.container = source.container;
    p->rename.source = source.blob;
    p->rename.may_be_elsewhere = call->endpoint->peers != NULL;
    p->rename.granted = granted_at(call, source.container);
    if (call->input.identity.kind != IDENTITY_SAS)
        return OK;
    e = authenticate_sas(call, &source, query, &p->source_identity);
    p->rename.keeps_container = !e && p->source_identity->sas->policy.ptr;
    return e;
}

/* The date belongs to a write, so it must be valid. decision: 848 */
static enum error check_date(struct call *call, const char *name)
{
    struct bytes text = call_header(call, name);
    instant date;

    if (text.len == 0 || instant_parse_http(text, &date))
        return OK;
    return call_fail_header(call, E_InvalidHeaderValue, name, text);
}

static enum error read_source_conditions(struct call *call, struct conditions *ret_conditions)
{
    const struct condition_headers headers = {
        .form = call->service->etags,
        .if_match = call_header(call, "x-ms-source-if-match"),
        .if_none_match = call_header(call, "x-ms-source-if-none-match"),
        .if_modified_since = call_header(call, "x-ms-source-if-modified-since"),
        .if_unmodified_since = call_header(call, "x-ms-source-if-unmodified-since"),
    };
    enum error e = check_date(call, "x-ms-source-if-modified-since");

    if (!e)
        e = check_date(call, "x-ms-source-if-unmodified-since");
    if (!e)
        e = conditions_parse(call->arena, &headers, ret_conditions);
    if (!e)
        e = conditions_allowed(CONDITIONS_OF_WRITE, IF_HTTP4, ret_conditions);
    return e;
}

enum error rename_path_check(struct call *call, struct rename_path_parameters *p)
{
    struct bytes lease = call_header(call, "x-ms-source-lease-id");
    struct bytes mode = call_query(call, "mode"), resource = call_query(call, "resource");
    struct guid *id = arena_alloc(call->arena, sizeof *id);
    enum error e = dfs_refuse_unbuilt(call, DFS_RENAME);

    if (!e)
        e = dfs_check_mode(call);
    if (!e && resource.len > 0 && !bytes_is_nocase(resource, "file") &&
        !bytes_is_nocase(resource, "directory"))
        e = call_fail_query(call, E_InvalidQueryParameterValue, "resource", resource,
                            "Neither file nor directory.");
    p->moves_into = !bytes_is_nocase(mode, "legacy");
    if (!e && lease.len > 0 && !guid_parse(lease, id))
        e = call_fail_header(call, E_InvalidHeaderValue, "x-ms-source-lease-id", lease);
    if (!e && lease.len > 0)
        p->rename.source_lease = id;
    if (!e)
        e = read_source_conditions(call, &p->rename.source_conditions);
    return e ? e : read_source(call, p);
}

OPERATION_ANSWERS_NOTHING(rename_path)
