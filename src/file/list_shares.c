/* List Shares: each share is a partition of the account's space, with the records of deleted
 * shares first, then the snapshots, then the share. rest: List-Shares */
#include "file/share_operations.h"

enum error list_shares_decide(struct decision *d, const struct list_shares_parameters *p,
                              struct list_shares_result *r)
{
    return listing_of_space(d, file_account_space(d->input->account), &p->listing, p->from, p->sink,
                            &r->next);
}
