/* See container_operations.h. */
#include "blob/container_operations.h"

#include "service/placement.h"

/* ---- Create Container ---- */

/* Creates a container. Its space is new, so it contains nothing of a deleted container of the same
 * name.
 *
 * Returns OK, E_ContainerAlreadyExists.
 * rest: Create-Container; unlike there, no wait of 30 seconds after a deletion is needed
 * (semantics 5, ContainerBeingDeleted) */
enum error create_container_decide(struct decision *d, const struct create_container_parameters *p,
                                   struct create_container_result *r)
{
    struct container container;
    enum store_result result;
    bool is_elsewhere;
    enum error e;

    (void)r;
    result = container_read(d->before, d->arena, &container);
    if (result == STORE_OK)
        return E_ContainerAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    e = placement_of_new(d, &is_elsewhere);
    if (e || is_elsewhere)
        return e;

    container = (struct container){
        .space = p->space,
        .created = d->now,
        .public_access = p->access,
        .metadata = p->metadata,
    };
    container_write_changed(d, &container);
    return OK;
}

/* ---- Get Container Properties ---- */

/* rest: Get-Container-Properties */
enum error get_container_properties_decide(struct decision *d,
                                           const struct get_container_properties_parameters *p,
                                           struct get_container_properties_result *r)
{
    (void)p;
    r->container = blob_state(d)->container;
    return OK;
}

/* ---- Get and Set Container ACL ---- */

enum error get_container_acl_decide(struct decision *d,
                                    const struct get_container_acl_parameters *p,
                                    struct get_container_acl_result *r)
{
    const struct container *container = &blob_state(d)->container;

    (void)p;
    r->access = container->public_access;
    if (!policies_decode(container->policies, &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}

/* Replaces the public access and all policies; those absent from the request are removed. */
enum error set_container_acl_decide(struct decision *d,
                                    const struct set_container_acl_parameters *p,
                                    struct set_container_acl_result *r)
{
    struct container container = blob_state(d)->container;

    (void)r;
    container.public_access = p->access;
    container.policies = policies_encode(d->arena, &p->policies);
    container_write_changed(d, &container);
    return OK;
}

void container_write_state(struct decision *d)
{
    container_write_changed(d, &blob_state(d)->container);
}
