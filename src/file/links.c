/* Links, which a share for SMB does not have. rest: Create-Hard-Link, Create-Symbolic-Link, Read-Symbolic-Link
 * "Protocol availability" */
#include "file/file_operations.h"

/* The share was found, and who asks may do it.
 * returns  E_UnsupportedQueryParameter
 * decision: 615 */
enum error link_decide(struct decision *d, const struct link_parameters *p, struct link_result *r)
{
    (void)r;
    problem_set_field(d->problem, "QueryParameterName", bytes_from_string("restype"));
    problem_add_field(d->problem, "QueryParameterValue", p->restype);
    problem_add_field(d->problem, "Reason", bytes_from_string("Only a share for NFS has links."));
    return E_UnsupportedQueryParameter;
}
