/* The store's part of a backup: a consistent copy of a store that is in use. The copying is done by
 * backup/backup.h, possibly in another process.
 *
 * The state of a backup is that of one moment between the call and the return of
 * store_backup_begin(), in all spaces, and includes everything acknowledged before the call. It
 * consists of a folder of immutable record files and of the extents up to an end. The extents stay
 * in use: bytes appended after that end are not part of the state, and pieces of the state keep
 * their bytes until the backup reports that it has copied their extent, or ends. decision: 370 */
#ifndef LAGRA_STORE_BACKUP_H
#define LAGRA_STORE_BACKUP_H

#include "store/store.h"

/* In the data folder during a backup: the records of the state. Startup removes one left by a
 * crash. */
#define BACKUP_RECORDS "backup.tmp"

/* In a data folder: see store_backup_keep_sums(). Not part of a backup; it may be deleted. */
#define SUMS_FOLDER    "sums"

/* In the folder of a backup: the list of its files (backup/backup.h). Startup refuses such a
 * folder, since backups share files. */
#define BACKUP_LIST    "backup.list"

/* The extents of the state; its records are in BACKUP_RECORDS. */
struct backup_state {
    uint32_t last_extent; /* extents/xxxxxxxx (hex) up to this one; 0: none */
    uint64_t last_end;    /* end of the last extent's part */
};

/* Begins a backup. Waits for the disk. Any thread that may block.
 *
 * Returns STORE_OK
 *         STORE_BUSY  a backup is already running
 *         STORE_FULL, STORE_SHORTAGE, STORE_IO (logged)
 *         STORE_NOT_FOUND  the engine has no files */
enum store_result store_backup_begin(struct store *store, struct backup_state *ret_state);
/* Reports that all extents up to this one have been copied. Returns false if the state has been
 * given up because the space of deleted pieces was needed; the copy is then incomplete. Any
 * thread. */
bool store_backup_copied(struct store *store, uint32_t extent);
/* Ends the backup; returns like store_backup_copied(). Waits for the disk. */
bool store_backup_end(struct store *store);

/* Makes a data folder from copied files: verifies that the logs continue the tables, truncates them
 * after the last complete batch, and writes `synced` and then `format`, all durably. Does not read
 * the tables.
 *
 * folder: a descriptor
 *
 * Returns STORE_OK, STORE_CORRUPT (*ret_problem says what is missing), STORE_IO (logged). */
enum store_result store_backup_seal(int folder, uint64_t *ret_sequence, const char **ret_problem);

/* For a file that was copied to a data folder under this name: if it is a table of records, saves
 * its partial checksums next to the copy, so that the first start there need not read the whole
 * table. Failure to save them is ignored. */
void store_backup_keep_sums(int folder, const char *name, int fd, uint64_t size);

#endif
