/* Create Container. */
#include "blob/container_private.h"

/* This server has no encryption scopes; naming the account's own key asks for nothing else. */
#define ACCOUNT_SCOPE "$account-encryption-key"

struct create_parameters {
    struct guid space; /* of the new incarnation: fresh, so that it starts empty */
    enum public_access access;
    struct bytes metadata;
};

/* A scope that this server cannot honour is refused, never dropped (promise 5).
 * rest: Create-Container, "x-ms-default-encryption-scope" */
static enum error check_encryption_scope(struct decision *d)
{
    const char *scope_name = "x-ms-default-encryption-scope";
    const char *deny_name = "x-ms-deny-encryption-scope-override";
    struct bytes scope = call_header(d->call, scope_name);
    struct bytes deny = call_header(d->call, deny_name);

    if (scope.ptr && !bytes_is(scope, ACCOUNT_SCOPE)) {
        fail_header(d, E_InvalidHeaderValue, scope_name, scope);
        return fail(d, E_InvalidHeaderValue, "The account has no such encryption scope.");
    }
    if (deny.ptr && !bytes_is_nocase(deny, "false")) {
        fail_header(d, E_InvalidHeaderValue, deny_name, deny);
        return fail(d, E_InvalidHeaderValue, "The account has no encryption scopes to deny.");
    }
    return OK;
}

enum error check_create_container(struct decision *d)
{
    struct create_parameters *p = arena_alloc(d->arena, sizeof *p);
    enum error e;

    e = check_encryption_scope(d);
    if (e)
        return e;
    e = public_access_from_header(d, &p->access);
    if (e)
        return e;
    e = metadata_from_headers(d, &p->metadata);
    if (e)
        return e;
    p->space = guid_new();
    d->call->parameters = p;
    return OK;
}

/* Creates a container with its metadata and public access; its space is new, so nothing of a
 * deleted container of the same name is in it.
 *
 * returns  OK, E_ContainerAlreadyExists
 * rest: Create-Container; the wait of 30 seconds after a deletion is not needed here
 * (semantics 5, ContainerBeingDeleted) */
enum error create_container(struct decision *d)
{
    const struct create_parameters *p = d->call->parameters;
    struct container container;
    enum store_result result;

    result = container_read(d->before, d->arena, &container);
    if (result == STORE_OK)
        return E_ContainerAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return fail_store(d, result);

    container = (struct container){
        .space = p->space,
        .created = d->now,
        .etag = etag_after((struct etag){ 0 }, d->now),
        .modified = d->now,
        .public_access = p->access,
        .metadata = p->metadata,
    };
    container_write(d->changes, d->arena, &container);

    answer(d, 201);
    answer_etag(d, container.etag, container.modified);
    return OK;
}
