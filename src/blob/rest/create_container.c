/* Create Container as a request and as an answer. rest: Create-Container */
#include "blob/container_operations.h"
#include "blob/rest/request.h"
#include "service/metadata.h"

/* This server has no encryption scopes; naming the account's own key asks for nothing else. */
#define ACCOUNT_SCOPE "$account-encryption-key"

/* A scope that this server cannot honour is refused, never dropped (promise 5).
 * rest: Create-Container, "x-ms-default-encryption-scope" */
static enum error check_encryption_scope(struct call *call)
{
    const char *scope_name = "x-ms-default-encryption-scope";
    const char *deny_name = "x-ms-deny-encryption-scope-override";
    struct bytes scope = call_header(call, scope_name);
    struct bytes deny = call_header(call, deny_name);

    if (scope.ptr && !bytes_is(scope, ACCOUNT_SCOPE)) {
        call_fail_header(call, E_InvalidHeaderValue, scope_name, scope);
        return call_fail(call, E_InvalidHeaderValue, "The account has no such encryption scope.");
    }
    if (deny.ptr && !bytes_is_nocase(deny, "false")) {
        call_fail_header(call, E_InvalidHeaderValue, deny_name, deny);
        return call_fail(call, E_InvalidHeaderValue,
                         "The account has no encryption scopes to deny.");
    }
    return OK;
}

/* Containers that the service makes itself, and nobody else. decision: 44 */
static bool is_of_service(struct bytes name)
{
    return bytes_is(name, "$logs") || bytes_is(name, "$blobchangefeed");
}

enum error create_container_check(struct call *call, struct create_container_parameters *p)
{
    enum error e = check_encryption_scope(call);

    if (e)
        return e;
    if (is_of_service(blob_resource(call->input.resource)->container))
        return E_InvalidResourceName;
    e = public_access_from_header(call, &p->access);
    if (e)
        return e;
    p->space = guid_new();
    return metadata_from_headers(call, &p->metadata);
}

void create_container_answer(struct answer *a, const struct create_container_parameters *p,
                             const struct create_container_result *r)
{
    (void)p;
    answer_status(a, 201);
    answer_etag(a, r->etag, r->modified);
}
