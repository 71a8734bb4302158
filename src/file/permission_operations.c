#include "file/permission_operations.h"

#include "acl/permission_store.h"

/* rest: Create-Permission */
enum error create_permission_decide(struct decision *d,
                                    const struct create_permission_parameters *p,
                                    struct create_permission_result *r)
{
    return permission_keep(d, file_state(d)->share.space, p->descriptor, &r->number);
}

/* returns OK, or an error of permission_find_key()
 * rest: Get-Permission; decision: 308 */
enum error get_permission_decide(struct decision *d, const struct get_permission_parameters *p,
                                 struct get_permission_result *r)
{
    uint64_t number;
    enum error e =
        permission_find_key(d, file_state(d)->share.space, p->key, &number, &r->canonical);

    if (e)
        return e;
    return security_descriptor_decode(d->arena, r->canonical, &r->descriptor)
               ? OK
               : decision_fail_store(d, STORE_CORRUPT);
}
