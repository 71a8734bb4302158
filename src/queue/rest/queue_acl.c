/* Get Queue ACL, Set Queue ACL as requests and answers. rest: Get-Queue-ACL, Set-Queue-ACL */
#include "queue/queue_operations.h"
#include "service/answer.h"
#include "service/signed_identifiers.h"

#define POLICY_PERMISSIONS "raup"

enum error get_queue_acl_check(struct call *call, struct get_queue_acl_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_queue_acl_answer(struct answer *a, const struct get_queue_acl_parameters *p,
                          const struct get_queue_acl_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 512);
    signed_identifiers_xml(&out, &r->policies);
    answer_xml(a, 200, &out);
}

enum error set_queue_acl_check(struct call *call, struct set_queue_acl_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

enum error set_queue_acl_parse(struct call *call, struct set_queue_acl_parameters *p)
{
    return signed_identifiers_read(call, POLICY_PERMISSIONS, &p->policies);
}

void set_queue_acl_answer(struct answer *a, const struct set_queue_acl_parameters *p,
                          const struct set_queue_acl_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}
