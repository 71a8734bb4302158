/* The store's part of a backup, a consistent copy of a store that is in use. backup/backup.h
 * copies the files, possibly in another process.
 *
 * A backup contains the state of all spaces at one point in time between the call and the return of
 * store_backup_begin(), with everything acknowledged before the call. It consists of a folder of
 * immutable record files and of the extents up to an end position. The extents stay in use: bytes
 * appended after that position are not part of the state, and the space of pieces in the state is
 * not reused until the backup reports that it has copied their extent, or ends. decision: 370 */
#ifndef LAGRA_STORE_BACKUP_H
#define LAGRA_STORE_BACKUP_H

#include "store/store.h"

/* Subfolder of the data folder with the records of the state, during a backup. Startup removes one
 * left by a crash. */
#define BACKUP_RECORDS "backup.tmp"

/* Subfolder of the data folder, see store_backup_keep_sums(). Not part of a backup; can be deleted
 * at any time. */
#define SUMS_FOLDER    "sums"

/* File in a backup's folder that lists its files (backup/backup.h). A server refuses to start on a
 * folder with this file, since backups share files. */
#define BACKUP_LIST    "backup.list"

/* The extents of the state; its records are in BACKUP_RECORDS. */
struct backup_state {
    /* number of the last extent, in the file extents/xxxxxxxx (hex); 0 if there are no extents */
    uint32_t last_extent;
    uint64_t last_end; /* end of the state's part of the last extent */
};

/* Starts a backup. Waits for the disk. Called on a thread that may block.
 *
 * Returns STORE_OK
 *         STORE_BUSY  a backup is already running
 *         STORE_FULL, STORE_SHORTAGE, STORE_IO (logged)
 *         STORE_NOT_FOUND  the engine has no files */
enum store_result store_backup_begin(struct store *store, struct backup_state *ret_state);
/* Reports that all extents up to this one have been copied. Returns false if the store has released
 * the state because it needed the space of deleted pieces; the copy is then incomplete.
 * Thread-safe. */
bool store_backup_copied(struct store *store, uint32_t extent);
/* Ends the backup. Returns the same as store_backup_copied(). Waits for the disk. */
bool store_backup_end(struct store *store);

/* Turns copied files into a data folder: verifies that the logs continue the tables, truncates the
 * logs after the last complete batch, and writes `synced` and then `format`, all durably. Does not
 * read the tables.
 *
 * folder: descriptor of the folder
 *
 * Returns STORE_OK, STORE_CORRUPT (*ret_problem says what is missing), STORE_IO (logged). */
enum store_result store_backup_seal(int folder, uint64_t *ret_sequence, const char **ret_problem);

/* Called for a file that was copied to a data folder under this name. If it is a record table,
 * saves its partial checksums next to the copy, so that the first start there need not read the
 * entire table. Ignores a failure to save them. */
void store_backup_keep_sums(int folder, const char *name, int fd, uint64_t size);

#endif
