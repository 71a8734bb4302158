/* Reading files at an offset, whatever signals come; what of them is in memory; folders to their end; paths, names. */
#ifndef LAGRA_BASE_FILE_H
#define LAGRA_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads `size` bytes at the offset into `to`, or as many as the file has there.
 * returns how many; -1 on an error (errno) */
ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Whether all these bytes of a file of ours are in the page cache now, so that nobody waits for a disk to
 * read them. False if that is not known. */
bool file_is_cached(int fd, uint64_t offset, uint64_t length);
/* The system call by which it is asked: cachestat(2), of Linux 6.5, which the headers of Debian 12 do not know. */
#define FILE_CACHESTAT 451

/* Makes a folder, and those above it, for the owner alone; as mkdir -p. False: errno. */
bool file_make_folders(const char *folder);

/* Makes a folder's own name durable, which is in its parent. False: errno. */
bool file_sync_name(int folder);

/* "folder/name", from malloc. */
char *file_path(const char *folder, const char *name);

/* Opens a folder in another to be listed; "." is the other one itself, whose descriptor stays the caller's. A link is
 * not followed. NULL: errno. */
DIR *file_list(int folder, const char *name);
/* readdir(). NULL: with errno 0 that was all, else an error, and there may be more. */
struct dirent *file_next_entry(DIR *folder);

#endif
