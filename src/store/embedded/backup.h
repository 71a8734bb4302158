/* The state held for a backup (store/backup.h): a RocksDB checkpoint in the data folder, whose
 * tables are hard links, and a hold on extents (extents.h). */
#ifndef LAGRA_STORE_EMBEDDED_BACKUP_H
#define LAGRA_STORE_EMBEDDED_BACKUP_H

#include "store/backup.h"

/* Removes the records of a backup that a crash interrupted. folder: of the data. Called on the
 * startup thread. */
void backup_remove_records(int folder);

/* For the table of operations. */
enum store_result embedded_backup_begin(struct store *store, struct backup_state *ret_state);
bool embedded_backup_copied(struct store *store, uint32_t extent);
bool embedded_backup_end(struct store *store);

#endif
