/* Inside file/ only: what lists of a directory show of its entries, beside their names. Each lies in its own
 * partition, and is read a little later than the names; so it is one that the entry had meanwhile.
 * decision: 332 */
#ifndef LAGRA_FILE_ENTRY_FILE_H
#define LAGRA_FILE_ENTRY_FILE_H

#include "file/file.h"

/* More entries are not read on a worker. */
#define ENTRIES_ON_WORKER 64u
/* What is read of one is no more than a record can have. */
#define ENTRY_ARENA_MAX   ((size_t)1 << 20)

/* Another file may have the entry's name by now: *entry is that one's then. No part is added. arena: of
 * *ret_file.
 * returns STORE_OK; STORE_NOT_FOUND: nothing has the name any more; as snapshot_get() */
enum store_result entry_file_read(struct decision *d, uint64_t directory, struct arena *arena,
                                  struct tree_entry *entry, struct file *ret_file);

#endif
