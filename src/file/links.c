/* Hard and symbolic links, which SMB shares do not support. rest: Create-Hard-Link,
 * Create-Symbolic-Link, Read-Symbolic-Link "Protocol availability" */
#include "file/file_operations.h"

/* Always fails, but only after the share was found and the caller authorized.
 * returns E_UnsupportedQueryParameter
 * decision: 615 */
enum error link_decide(struct decision *d, const struct link_parameters *p, struct link_result *r)
{
    (void)r;
    problem_set_field(d->problem, "QueryParameterName", bytes_from_string("restype"));
    problem_add_field(d->problem, "QueryParameterValue", p->restype);
    problem_add_field(d->problem, "Reason", bytes_from_string("Only a share for NFS has links."));
    return E_UnsupportedQueryParameter;
}
