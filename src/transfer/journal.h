/* Internal to transfer/: the journal of copied items, a file that outlives the process. An item is
 * added after the sink has created it, so everything in the journal exists; an item created just
 * before a kill may be missing, and is created again. A torn record is ignored. Thread-safe for
 * adding records. */
#ifndef LAGRA_TRANSFER_JOURNAL_H
#define LAGRA_TRANSFER_JOURNAL_H

#include "transfer/item.h"

struct journal;

/* Creates the file, or continues it. pair: hash of source and target.
 *
 * returns NULL with *ret_problem (static) on failure; errno is set if that is "it cannot be
 * read" */
struct journal *journal_open(const char *path, const struct item_hash *pair,
                             const char **ret_problem);
/* Returns true if it continues an earlier journal. */
bool journal_goes_on(const struct journal *journal);
/* Returns true if an earlier run has added the item. */
bool journal_has(const struct journal *journal, const struct item_hash *hash);
/* Returns the position, from 0, of the item among the records of earlier runs, or JOURNAL_NONE.
 * Items added by one thread are in order. */
#define JOURNAL_NONE UINT64_MAX
uint64_t journal_number(const struct journal *journal, const struct item_hash *hash);
/* Returns false with errno on failure. */
bool journal_add(struct journal *journal, const struct item_hash *hash);
/* is_over: also deletes the file, because everything, or nothing, was copied. */
void journal_close(struct journal *journal, bool is_over);

#endif
