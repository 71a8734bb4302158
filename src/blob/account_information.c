/* Get Account Information, of the service, a container or a blob: the same everywhere.
 * rest: Get-Account-Information */
#include "blob/service_operations.h"

enum error get_account_information_decide(struct decision *d,
                                          const struct get_account_information_parameters *p,
                                          struct get_account_information_result *r)
{
    (void)d;
    (void)p;
    (void)r;
    return OK; /* nothing of it depends on what is stored */
}
