/* Get Table ACL, Set Table ACL as requests and as XML. rest: Get-Table-ACL, Set-Table-ACL */
#include "service/answer.h"
#include "service/signed_identifiers.h"
#include "table/table_operations.h"

#define POLICY_PERMISSIONS "raud"

enum error get_table_acl_check(struct call *call, struct get_table_acl_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_table_acl_answer(struct answer *a, const struct get_table_acl_parameters *p,
                          const struct get_table_acl_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 512);
    signed_identifiers_xml(&out, &r->policies);
    answer_xml(a, 200, &out);
}

enum error set_table_acl_check(struct call *call, struct set_table_acl_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

enum error set_table_acl_parse(struct call *call, struct set_table_acl_parameters *p)
{
    return signed_identifiers_read(call, POLICY_PERMISSIONS, &p->policies);
}

void set_table_acl_answer(struct answer *a, const struct set_table_acl_parameters *p,
                          const struct set_table_acl_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}
