/* Inside of backup/ only: files of backups, one after another. All functions that return false have said why
 * in work->problem, unless said otherwise. */
#ifndef LAGRA_BACKUP_PRIVATE_H
#define LAGRA_BACKUP_PRIVATE_H

#include "backup/backup.h"
#include "backup/list.h"

#define BACKUP_NAME_TMP  ".tmp"
#define BACKUP_PATH_SIZE 64 /* of a file in a backup */

/* ---- work.c ---- */

/* Says what failed, unless something has before. Returns false. */
bool work_fail(struct backup_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* As work_fail(), with ": " and the text of errno. */
bool work_fail_errno(struct backup_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void work_begin(struct backup_work *work);
/* So many bytes were read: waits until they may have been, and asks whether to go on. */
bool work_read(struct backup_work *work, uint64_t bytes);
/* One file is done. */
bool work_file(struct backup_work *work);

/* ---- copy.c ---- */

/* CRC-32C of a whole file; holes are zeros. */
bool file_sum(struct backup_work *work, int fd, const char *name, uint32_t *ret_crc);
/* Copies the first `end` bytes to an empty file, which becomes `size` bytes long and durable. Holes stay
 * holes; where the file system can, both files share their blocks. ret_crc: as file_sum() of the copy */
bool file_copy(struct backup_work *work, int from, int to, const char *name, uint64_t end,
               uint64_t size, uint32_t *ret_crc);
/* Whether `to` has all that `from` has, where that has anything. *ret_same is set on success. */
bool file_covers(struct backup_work *work, int from, int to, const char *name, bool *ret_same);

/* ---- folder.c ---- */

/* Opens a folder in another; make: makes it first, which fails if it is there. -1 with problem. */
int folder_at(struct backup_work *work, int folder, const char *name, bool make);
/* Makes a folder, if it is not there, durably, and opens it. -1 with problem, and none was made.
 * ret_made  it was not there; may be NULL */
int folder_make(struct backup_work *work, const char *path, bool *ret_made);
/* Removes a backup, or a part of one: the files of it and of its two folders. False: not all. */
bool folder_remove(struct backup_work *work, int parent, const char *name);
/* The two folders of a backup's files, and of a data folder's: makes them, makes their names durable, removes them
 * with their files, as far as they are there, and what a restore has kept beside them. */
bool folder_make_parts(struct backup_work *work, int folder);
bool folder_sync_parts(struct backup_work *work, int folder);
bool folder_remove_parts(struct backup_work *work, int folder);
bool folder_sync_all(struct backup_work *work, int folder);
bool backup_is_name(const char *name);
/* The name of the newest backup in a folder; empty: there is none. */
bool backup_find_newest(struct backup_work *work, int folder, char ret_name[BACKUP_NAME_SIZE]);
/* Opens a backup: of a folder of one, or of the newest in it, and reads its list (to be released on success).
 * Returns its descriptor, -1 with problem. */
int backup_open(struct backup_work *work, const char *folder, struct backup_list *ret_list);

#endif
