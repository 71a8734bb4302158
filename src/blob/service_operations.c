/* See service_operations.h. */
#include "blob/service_operations.h"

/* Returns the same for the service, a container or a blob; reads nothing.
 * rest: Get-Account-Information */
enum error get_account_information_decide(struct decision *d,
                                          const struct get_account_information_parameters *p,
                                          struct get_account_information_result *r)
{
    (void)d;
    (void)p;
    (void)r;
    return OK;
}

/* Every container is a partition of the account's space. rest: List-Containers2 */
enum error list_containers_decide(struct decision *d, const struct list_containers_parameters *p,
                                  struct list_containers_result *r)
{
    return listing_of_space(d, blob_account_space(d->input->account), &p->listing, p->from, p->sink,
                            &r->next);
}
