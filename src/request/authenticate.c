/* Determines the caller's identity and its consequences before the decision. */
#include "request/request_private.h"

#include "auth/account_limits.h"

/* Handles a caller without credentials, who can read public data. For other data, a client that
 * supports challenges (since 2019-12-12) is asked to authenticate; to older clients the resource
 * does not exist. Recorded; decision: 11 */
static void admit_anonymous(const struct call *call, struct identity *identity)
{
    struct bytes version = call_header(call->list ? call->list : call, "x-ms-version");

    identity->sees_public = !call->endpoint->options->no_public_access &&
                            !(account_hindrances(call->account) & ACCOUNT_IS_NOT_PUBLIC);
    if (bytes_compare(version, bytes_from_string("2019-12-12")) >= 0)
        identity->refusal = E_NoAuthenticationInformation;
    else
        identity->refusal = E_ResourceNotFound;
    if (!identity->sees_public && (call->request->method & (METHOD_GET | METHOD_HEAD)))
        identity->refusal = E_PublicAccessNotPermitted;
}

/* A request with a SAS may specify its version in the query; otherwise the version of the SAS
 * applies. A SAS from before `api-version` existed overrides both.
 * rest: Versioning-for-the-Azure-Storage-services, Previous-Azure-Storage-service-versions */
static void read_sas_version(struct call *call)
{
    struct bytes version = call_query(call, "api-version"), sv = call_query(call, "sv");

    if (bytes_compare(sv, bytes_from_string("2014-02-14")) < 0)
        call->version = sv;
    else if (!call_header(call, "x-ms-version").ptr)
        call->version = call_version_is_valid(version) ? version : sv;
}

/* Refuses all requests to a disabled account, whatever the caller's permissions (auth invariant 3;
 * decision: 380), requests with a key of an account that refuses keys (decision: 1438), and
 * requests over the account's limits, including the bytes of the body. Requests that fail
 * authentication do not count towards the limits. */
static enum error admit_to_account(struct call *call)
{
    unsigned hindrances = account_hindrances(call->account);

    call->input.tracks_access = (hindrances & ACCOUNT_TRACKS_ACCESS) != 0;
    if (hindrances & ACCOUNT_IS_DISABLED)
        return E_AccountIsDisabled;
    if ((hindrances & ACCOUNT_REFUSES_KEYS) && identity_uses_key(&call->input.identity))
        return E_KeyBasedAuthenticationNotPermitted;
    return hindrances & ACCOUNT_IS_LIMITED ? limits_admit(call) : OK;
}

/* Applies the consequences of the identity. */
static enum error admit(struct call *call)
{
    struct identity *identity = &call->input.identity;

    if (identity->kind == IDENTITY_ANONYMOUS)
        admit_anonymous(call, identity);
    if (identity->kind != IDENTITY_SAS)
        return OK;
    if (!call->list)
        read_sas_version(call);
    if (identity->sas->encrypts && !call->loose)
        return call_fail_query(call, E_UnsupportedQueryParameter, "ses", call_query(call, "ses"),
                               "Encryption scopes are not built yet.");
    return OK;
}

enum error route_authenticate(struct call *call)
{
    struct auth_target target = {
        .account = call->account,
        .name = call->account_name,
        .path = call->request->path,
        .secondary = call->secondary,
        .service = service_data_name(call->endpoint->service)[0],
        .service_name = service_data_name(call->endpoint->service),
        .trust = call->endpoint->trust ? trust_now(call->endpoint->trust) : NULL,
    };
    struct bytes detail = { NULL, 0 };

    if (call->service->names)
        call->service->names(call->input.resource, &target.container, &target.object);

    /* A preflight request is never signed (rest: Preflight-Blob-Request), and websites ignore
     * signatures. */
    if (call->request->method == METHOD_OPTIONS || call->website)
        return admit_to_account(call);
    /* Use the wall clock. Our clock stays ahead after the wall clock was set back (clock invariant
     * 3), so each request would be refused as too old until the wall clock catches up. Test changes
     * of the clock do not apply: decision: 530 */
    enum error e = authenticate(call->request, &target, clock_unmoved(), call->arena,
                                &call->input.identity, &detail);

    if (e && detail.ptr)
        call->problem->detail = arena_string(call->arena, detail);
    if (!e)
        e = admit_to_account(call);
    return e ? e : admit(call);
}
