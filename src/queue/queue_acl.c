/* Get Queue ACL, Set Queue ACL: stored access policies.
 * rest: Get-Queue-ACL, Set-Queue-ACL; a change holds at once, for there is one server */
#include "queue/queue_operations.h"

enum error get_queue_acl_decide(struct decision *d, const struct get_queue_acl_parameters *p,
                                struct get_queue_acl_result *r)
{
    (void)p;
    if (!policies_decode(queue_state(d)->queue.policies, &r->policies))
        return decision_fail_store(d, STORE_CORRUPT);
    return OK;
}

/* Replaces all policies: what is not sent is gone. */
enum error set_queue_acl_decide(struct decision *d, const struct set_queue_acl_parameters *p,
                                struct set_queue_acl_result *r)
{
    struct queue queue = queue_state(d)->queue;

    (void)r;
    queue.policies = policies_encode(d->arena, &p->policies);
    queue_write(d, &queue);
    return OK;
}
