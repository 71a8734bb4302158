/* Authenticates a request by checking in order: is it signed, is the Authorization header well
 * formed, is it for this account, is its date close to our clock, is the signature right. Whether
 * the account exists is checked last, with the signature, so that no earlier error depends on it.
 * rest: Authorize-with-Shared-Key; semantics 10.3 */
#include "auth/sas_private.h"

#include <assert.h>

#include "base/encode.h"
#include "base/url.h"
#include "http/site.h"

static enum error refuse(struct bytes *ret_detail, const char *detail)
{
    *ret_detail = bytes_from_string(detail);
    return E_AuthenticationFailed;
}

/* ---- requests without an Authorization header ---- */

/* Parameter names may be percent-encoded. */
static bool has_signature(struct arena *arena, struct bytes query)
{
    struct bytes name, value;

    while (url_take_parameter(&query, &name, &value)) {
        name = query_decode(arena, name);
        if (bytes_is_nocase(name, "sig"))
            return true;
    }
    return false;
}

static enum error admit_unsigned(const struct request *request, const struct auth_target *target,
                                 instant now, struct arena *arena, struct identity *ret_identity,
                                 struct bytes *ret_detail)
{
    if (has_signature(arena, request->query))
        return sas_authenticate(request, target, NULL, now, arena, ret_identity, ret_detail);
    *ret_identity = (struct identity){ .kind = IDENTITY_ANONYMOUS };
    return OK;
}

/* ---- bearer tokens ---- */

static const struct bytes bearer_prefix = BYTES("bearer ");

static bool is_bearer(struct bytes authorization)
{
    struct bytes scheme, token;

    bytes_cut(authorization, ' ', &scheme, &token);
    return bytes_is_nocase(scheme, "Bearer");
}

/* rest: Authorize-with-Azure-Active-Directory: "HTTPS is required" */
static enum error check_bearer(const struct request *request, struct bytes authorization,
                               const struct auth_target *target, instant now, struct arena *arena,
                               struct principal *ret_principal, struct bytes *ret_detail)
{
    struct bytes token = bytes_trim(bytes_from(authorization, bearer_prefix.len));

    if (!target->trust)
        return refuse(ret_detail,
                      "The server does not accept bearer tokens: see its option --oauth.");
    if (!request->secure)
        return refuse(ret_detail, "Authentication scheme Bearer is not allowed with HTTP.");
    if (request->is_forwarded && trust_is_confined(target->trust))
        return refuse(ret_detail,
                      "Unverified tokens are accepted only from this machine, but a proxy "
                      "forwarded this request: see the server's option --allowUncheckedTokens.");
    return trust_check(target->trust, token, target->name, target->service_name, now, arena,
                       ret_principal, ret_detail);
}

/* Admits a token. A SAS next to a token is restricted to the token's owner (sduoid). */
static enum error admit_bearer(const struct request *request, struct bytes authorization,
                               const struct auth_target *target, instant now, struct arena *arena,
                               struct identity *ret_identity, struct bytes *ret_detail)
{
    struct principal principal;
    enum error e = check_bearer(request, authorization, target, now, arena, &principal, ret_detail);

    if (e)
        return e;
    if (!target->account)
        return refuse(ret_detail, "Signature validation failed.");
    if (has_signature(arena, request->query))
        return sas_authenticate(request, target, &principal, now, arena, ret_identity, ret_detail);
    *ret_identity = (struct identity){
        .kind = IDENTITY_BEARER,
        .oid = principal.oid,
        .tid = principal.tid,
        .groups = principal.groups,
        .group_count = principal.group_count,
        .at = now,
        .actions = trust_actions(target->trust, principal.oid, target->name, target->service,
                                 target->container),
    };
    return OK;
}

/* ---- the Authorization header ---- */

struct credential {
    enum auth_scheme scheme;
    struct bytes account;
    struct bytes signature; /* raw bytes */
};

/* Parses "SharedKey account:signature" or "SharedKeyLite account:signature", the signature in
 * base64. rest: Authorize-with-Shared-Key "Specifying the Authorization header" */
static enum error parse_credential(struct arena *arena, struct bytes header,
                                   struct credential *ret_credential)
{
    struct credential credential;
    struct bytes scheme, rest, signature;

    bytes_cut(header, ' ', &scheme, &rest);
    if (bytes_is_nocase(scheme, "SharedKey"))
        credential.scheme = SHARED_KEY;
    else if (bytes_is_nocase(scheme, "SharedKeyLite"))
        credential.scheme = SHARED_KEY_LITE;
    else
        return E_InvalidAuthenticationInfo;

    bytes_cut(bytes_trim(rest), ':', &credential.account, &signature);
    if (credential.account.len == 0 || signature.len == 0)
        return E_InvalidAuthenticationInfo;
    credential.signature = base64_decode(arena, signature);
    if (!credential.signature.ptr)
        return E_InvalidAuthenticationInfo;
    *ret_credential = credential;
    return OK;
}

/* ---- the date ---- */

/* Checks x-ms-date, or Date without it. */
static enum error check_date(const struct signed_headers *headers, instant now, struct arena *arena,
                             struct bytes *ret_detail)
{
    static const uint64_t skew_max = AUTH_SKEW_MAX_S * TICKS_PER_SECOND;
    struct bytes text = headers->ms_date.ptr ? headers->ms_date : headers->standard[DATE];
    instant date;

    if (!text.ptr)
        return refuse(ret_detail, "Request date header not specified");
    if (!instant_parse_http(text, &date))
        return E_InvalidAuthenticationInfo;
    if (now > date && now - date > skew_max) {
        *ret_detail = arena_printf(arena, "Request date header too old: '%.*s'", BYTES_ARG(text));
        return E_AuthenticationFailed;
    }
    if (date > now && date - now > skew_max) {
        *ret_detail =
            arena_printf(arena, "Request date header is in the future: '%.*s'", BYTES_ARG(text));
        return E_AuthenticationFailed;
    }
    return OK;
}

/* ---- the signature ---- */

/* Azure's message, which lets client developers compare the strings. It reveals no secret, because
 * the entire string came from the client. */
static struct bytes mismatch_detail(struct arena *arena, const struct signed_headers *headers,
                                    struct bytes text)
{
    struct bytes scheme, signature;

    bytes_cut(headers->authorization, ':', &scheme, &signature);
    return arena_printf(arena,
                        "The MAC signature found in the HTTP request '%.*s' is not the same as any "
                        "computed signature. Server used following string to sign: '%.*s'.",
                        BYTES_ARG(signature), BYTES_ARG(text));
}

static enum error check_signature(const struct request *request,
                                  const struct signed_headers *headers,
                                  const struct auth_target *target,
                                  const struct credential *credential, struct arena *arena,
                                  struct bytes *ret_detail)
{
    unsigned differing = forms_of(headers, target);
    bool has_languages = credential->scheme == SHARED_KEY && target->service != 't';
    struct bytes first = { NULL, 0 };

    for (unsigned form = 0; form < FORMS; form++) {
        struct bytes text;

        if (form & ~differing)
            continue; /* same string as without those bits */
        text = string_to_sign(arena, request, headers, target, credential->scheme, form);
        if (account_signed(target->account, text, credential->signature) &&
            (!has_languages || form_applies(headers, form)))
            return OK;
        if (form == 0)
            first = text;
    }
    *ret_detail = mismatch_detail(arena, headers, first);
    return E_AuthenticationFailed;
}

static enum error identify(const struct request *request, const struct auth_target *target,
                           instant now, struct arena *arena, struct identity *ret_identity,
                           struct bytes *ret_detail)
{
    struct bytes authorization = request_header(request, "authorization");
    struct signed_headers headers;
    struct credential credential;
    enum error e;

    if (!authorization.ptr)
        return admit_unsigned(request, target, now, arena, ret_identity, ret_detail);
    if (is_bearer(authorization))
        return admit_bearer(request, authorization, target, now, arena, ret_identity, ret_detail);
    signed_headers_read(arena, request, target, &headers);
    e = parse_credential(arena, headers.authorization, &credential);
    if (e)
        return e;
    if (!bytes_equal(credential.account, target->name))
        return refuse(ret_detail, "The signature is of another account than the one addressed.");
    e = check_date(&headers, now, arena, ret_detail);
    if (e)
        return e;
    if (!resource_is_unambiguous(arena, target, request->query))
        return E_InvalidQueryParameterValue;
    e = check_signature(request, &headers, target, &credential, arena, ret_detail);
    if (!e)
        *ret_identity = (struct identity){ .kind = IDENTITY_ACCOUNT_KEY };
    return e;
}

/* Returns true if a browser sent the request to a name that may have been pointed at this machine
 * (DNS rebinding). Its page knows the published key. decision: 1038 */
static bool may_be_rebound(const struct request *request, struct arena *arena)
{
    return site_is_browser(request) && !site_host_is_address(arena, request) &&
           !site_host_is_ours(arena, request, bytes_of(NULL, 0));
}

/* Refuses requests that may come from other machines. Called last, so that only holders of the key
 * learn the reason. decision: 364 */
static enum error check_confined(const struct request *request, struct arena *arena,
                                 struct bytes *ret_detail)
{
    if (request->is_forwarded)
        return refuse(
            ret_detail,
            "The published key is accepted only from this machine, but a proxy forwarded this "
            "request: see the server's option --allowDevelopmentAccount.");
    if (may_be_rebound(request, arena))
        return refuse(
            ret_detail,
            "The published key is accepted only from this machine, but a browser sent this "
            "request to a name other than localhost: see the server's option "
            "--allowDevelopmentAccount.");
    return OK;
}

enum error authenticate(const struct request *request, const struct auth_target *target,
                        instant now, struct arena *arena, struct identity *ret_identity,
                        struct bytes *ret_detail)
{
    struct identity identity = { .kind = IDENTITY_ANONYMOUS };
    enum error e;

    assert(target->name.len > 0 || !target->account);
    e = identify(request, target, now, arena, &identity, ret_detail);
    if (!e && target->account && account_is_confined(target->account) &&
        (identity.kind == IDENTITY_ACCOUNT_KEY || identity.kind == IDENTITY_SAS))
        e = check_confined(request, arena, ret_detail);
    if (!e)
        *ret_identity = identity;
    return e;
}

enum error authenticate_source(const struct request *request, struct bytes query,
                               const struct auth_target *target, instant now, struct arena *arena,
                               struct identity *ret_identity, struct bytes *ret_detail)
{
    struct request of_source = *request;

    of_source.query = query;
    return sas_authenticate(&of_source, target, NULL, now, arena, ret_identity, ret_detail);
}
