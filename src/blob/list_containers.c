/* List Containers: every container is a partition of the account's space. */
#include "blob/service_operations.h"

static bool add(void *page, struct bytes name, struct bytes value, bool *ret_full)
{
    struct container_sink *sink = page;
    struct container container;

    if (!container_decode(value, &container))
        return false;
    sink->add(sink, name, &container);
    *ret_full = sink->full;
    return true;
}

/* The containers of the account in order of name, a page at a time.
 * rest: List-Containers2 */
enum error list_containers_decide(struct decision *d, const struct list_containers_parameters *p,
                                  struct list_containers_result *r)
{
    p->sink->begin(p->sink, d->now);
    return listing_of_space(d, blob_account_space(d->input->account), &p->listing, p->from, add,
                            p->sink, &r->next);
}
