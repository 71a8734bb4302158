/* Internal to backup/: the files of a backup. Functions that return false have set work->problem,
 * unless documented otherwise. */
#ifndef LAGRA_BACKUP_PRIVATE_H
#define LAGRA_BACKUP_PRIVATE_H

#include "backup/backup.h"
#include "backup/list.h"

#define BACKUP_NAME_TMP  ".tmp"
#define BACKUP_PATH_SIZE 64 /* of a file in a backup */

/* ---- work.c ---- */

/* Sets the problem, unless there is one already. Returns false. */
bool work_fail(struct backup_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Like work_fail(), followed by ": " and the message of errno. */
bool work_fail_errno(struct backup_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void work_begin(struct backup_work *work);
/* Accounts for `bytes` read. Sleeps to stay within the rate limit. Returns false if the work was
 * cancelled. */
bool work_read(struct backup_work *work, uint64_t bytes);
/* Counts a completed file. Returns false if the work was cancelled. */
bool work_file(struct backup_work *work);

/* ---- copy.c ---- */

/* Computes the CRC-32C of an entire file; holes count as zeros. */
bool file_sum(struct backup_work *work, int fd, const char *name, uint32_t *ret_crc);
/* Copies the first `end` bytes to an empty file, extends it to `size` bytes and makes it durable.
 * Preserves holes; shares blocks if the file system supports it. ret_crc: file_sum() of the copy */
bool file_copy(struct backup_work *work, int from, int to, const char *name, uint64_t end,
               uint64_t size, uint32_t *ret_crc);
/* Compares the data of two files: sets *ret_same to true if every range with data in `from` has the
 * same bytes in `to`. */
bool file_covers(struct backup_work *work, int from, int to, const char *name, bool *ret_same);

/* ---- folder.c ---- */

/* Opens a subdirectory; make: creates it first, and fails if it exists. Returns -1 with problem on
 * failure. */
int folder_at(struct backup_work *work, int folder, const char *name, bool make);
/* Creates a directory durably, if it does not exist, and opens it. Returns -1 and sets the problem
 * on failure; then no directory is created. ret_made: it did not exist; may be NULL */
int folder_make(struct backup_work *work, const char *path, bool *ret_made);
/* Removes a backup, complete or not: its files and its two subdirectories. Returns false if
 * something remains. */
bool folder_remove(struct backup_work *work, int parent, const char *name);
/* Create, sync or remove the subdirectories `records` and `extents` of a backup or data directory.
 * Removal also deletes their files and those left by an interrupted restore; missing ones are
 * ignored. */
bool folder_make_parts(struct backup_work *work, int folder);
bool folder_sync_parts(struct backup_work *work, int folder);
bool folder_remove_parts(struct backup_work *work, int folder);
bool folder_sync_all(struct backup_work *work, int folder);
bool backup_is_name(const char *name);
/* Returns the name of the newest backup in a directory; empty if none exists. */
bool backup_find_newest(struct backup_work *work, int folder, char ret_name[BACKUP_NAME_SIZE]);
/* Opens a backup, or the newest one in a directory of backups, and reads its list (to be released
 * on success). Returns its descriptor, or -1 with problem. */
int backup_open(struct backup_work *work, const char *folder, struct backup_list *ret_list);

#endif
