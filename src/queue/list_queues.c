/* List Queues: every queue is a partition of the account's space. */
#include "queue/queue_operations.h"

static bool add(void *page, struct bytes name, struct bytes value, bool *ret_full)
{
    struct queue_sink *sink = page;
    struct queue queue;

    if (!queue_decode(value, &queue))
        return false;
    sink->add(sink, name, &queue);
    *ret_full = sink->full;
    return true;
}

/* The queues of the account in order of name, a page at a time. rest: List-Queues1 */
enum error list_queues_decide(struct decision *d, const struct list_queues_parameters *p,
                              struct list_queues_result *r)
{
    p->sink->begin(p->sink);
    return listing_of_space(d, queue_account_space(d->input->account), &p->listing, p->from, add,
                            p->sink, &r->next);
}
