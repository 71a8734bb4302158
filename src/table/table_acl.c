/* Get Table ACL, Set Table ACL: stored access policies. A change holds at once.
 * rest: Get-Table-ACL, Set-Table-ACL */
#include "table/table_operations.h"

enum error get_table_acl_decide(struct decision *d, const struct get_table_acl_parameters *p,
                                struct get_table_acl_result *r)
{
    (void)p;
    if (!policies_decode(table_state(d)->table.policies, &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}

/* Replaces all policies: what is not sent is gone. */
enum error set_table_acl_decide(struct decision *d, const struct set_table_acl_parameters *p,
                                struct set_table_acl_result *r)
{
    struct table table = table_state(d)->table;

    (void)r;
    table.policies = policies_encode(d->arena, &p->policies);
    table_write(d->changes, d->arena, &table);
    return OK;
}
