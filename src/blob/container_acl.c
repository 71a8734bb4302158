/* Get Container ACL, Set Container ACL: public access and stored access policies.
 * rest: Get-Container-ACL, Set-Container-ACL; a change holds at once, for there is one server */
#include "blob/container_operations.h"

enum error get_container_acl_decide(struct decision *d,
                                    const struct get_container_acl_parameters *p,
                                    struct get_container_acl_result *r)
{
    const struct container *container = &blob_state(d)->container;

    (void)p;
    if (!policies_decode(container->policies, &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    r->access = container->public_access;
    r->etag = container->etag;
    r->modified = container->modified;
    return OK;
}

/* Replaces the public access and all policies: what is not sent is gone. */
enum error set_container_acl_decide(struct decision *d,
                                    const struct set_container_acl_parameters *p,
                                    struct set_container_acl_result *r)
{
    struct container container = blob_state(d)->container;

    container.public_access = p->access;
    container.policies = policies_encode(d->arena, &p->policies);
    container_write_changed(d, &container);
    r->etag = container.etag;
    r->modified = container.modified;
    return OK;
}
