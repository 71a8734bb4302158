/* Inside of transfer/ only: what is copied already, in a file that outlives the process. An item is added when the sink has
 * made it, so what is in it is there; what was made and is not in it, because the process was killed in between, is made
 * again. A torn record is ignored. Records are added by any thread. */
#ifndef LAGRA_TRANSFER_JOURNAL_H
#define LAGRA_TRANSFER_JOURNAL_H

#include "transfer/item.h"

struct journal;

/* Makes the file, or goes on with it. pair: of what is copied where.
 *
 * returns NULL: *ret_problem, static; errno where that is "it cannot be read" */
struct journal *journal_open(const char *path, const struct item_hash *pair,
                             const char **ret_problem);
/* Was there one before? */
bool journal_goes_on(const struct journal *journal);
/* Was it added by an earlier run? */
bool journal_has(const struct journal *journal, const struct item_hash *hash);
/* Which record it was, from 0 on: those of one thread are in its order. JOURNAL_NONE: none of an earlier run's. */
#define JOURNAL_NONE UINT64_MAX
uint64_t journal_number(const struct journal *journal, const struct item_hash *hash);
/* False: errno. */
bool journal_add(struct journal *journal, const struct item_hash *hash);
/* is_over: the file goes too; it is that of a run that copied all, or nothing. */
void journal_close(struct journal *journal, bool is_over);

#endif
