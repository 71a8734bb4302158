/* A consistent copy of a store that is in use: what the store does for it. Copying is the backup's
 * (backup/backup.h), perhaps in another process.
 *
 * The state of a backup is that of one moment between the begin and the return of store_backup_begin(),
 * over all spaces, and has everything that was acknowledged before. It is two things: a folder of records
 * that nobody changes, and the extents up to an end. The extents stay in use: what is appended behind that
 * end is not of the state, and what the state refers to keeps its bytes until the backup says that it has
 * copied an extent, or ends. decision: 370 */
#ifndef LAGRA_STORE_BACKUP_H
#define LAGRA_STORE_BACKUP_H

#include "store/store.h"

/* In the data folder, while a backup runs: the records of the state. A start removes what a kill left. */
#define BACKUP_RECORDS "backup.tmp"

/* In a data folder: see store_backup_keep_sums(). No part of a backup, it may be deleted. */
#define SUMS_FOLDER    "sums"

/* In a folder that is a backup: the list of its files (backup/backup.h). A start refuses such a folder, since
 * backups share files. */
#define BACKUP_LIST    "backup.list"

/* What a state is made of, beside BACKUP_RECORDS. */
struct backup_state {
    uint32_t last_extent; /* extents/xxxxxxxx (hex) up to this one; 0: none */
    uint64_t last_end;    /* of the last one, bytes from here on are not of the state */
};

/* Begins the only backup at this time. Waits for the disk. Any thread that may.
 * returns STORE_OK
 *         STORE_BUSY  one runs already
 *         STORE_FULL, STORE_SHORTAGE, STORE_IO (logged), STORE_NOT_FOUND: the engine has no files */
enum store_result store_backup_begin(struct store *store, struct backup_state *ret_state);
/* Extents up to this one have been copied. False: the state is held no longer, because the room of what was
 * deleted since was needed; what was copied before is not whole. Any thread. */
bool store_backup_copied(struct store *store, uint32_t extent);
/* Ends it; false as store_backup_copied(). Waits for the disk. */
bool store_backup_end(struct store *store);

/* Makes a data folder of copies: proves that the logs continue the tables, cuts what is behind their last
 * whole batch, and writes `synced` and `format`, the latter last. All durably. Tables are not read.
 * folder: a descriptor
 * returns STORE_OK, STORE_CORRUPT (*ret_problem says what is missing), STORE_IO (logged) */
enum store_result store_backup_seal(int folder, uint64_t *ret_sequence, const char **ret_problem);

/* Of a file that a data folder has a copy of, named as there: when it is a table of records, keeps beside the copy what proves
 * parts of it, so that the first start there reads no more of it than any other. Where that cannot be kept it is done without. */
void store_backup_keep_sums(int folder, const char *name, int fd, uint64_t size);

#endif
