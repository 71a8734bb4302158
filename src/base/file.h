/* Files: reads at an offset, page cache residency, durable replacement, directory listing,
 * paths. */
#ifndef LAGRA_BASE_FILE_H
#define LAGRA_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

/* Reads `size` bytes at the offset, or fewer at the end of the file; restarts after signals.
 * Returns the number of bytes read, or -1 with errno. */
ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Returns true if all these bytes of a file are in the page cache, so that reading them does
 * not wait for a disk. Returns false if that is unknown. The file must belong to this process's
 * user. */
bool file_is_cached(int fd, uint64_t offset, uint64_t length);
/* System call number of cachestat(2), from Linux 6.5, which is missing in Debian 12's headers. */
#define FILE_CACHESTAT 451

/* Creates a directory and its parents with owner-only access, like mkdir -p. Returns false with
 * errno on failure. */
bool file_make_folders(const char *folder);

/* Makes a directory's own entry in its parent durable. Returns false with errno on failure. */
bool file_sync_name(int folder);

/* Replaces a small file durably and atomically: a reader finds the old or the new contents, even
 * after a crash. Only the owner may read the file. Its name has at most NAME_MAX - 4 bytes; the
 * temporary file is NAME.new. Returns false with errno on failure. */
bool file_replace(int folder, const char *name, struct bytes contents);

/* Identifies the contents that a file had when it was last checked. All zeros if it did not
 * exist. */
struct file_mark {
    uint64_t device, inode, size;
    int64_t changed_ns;
};
/* Returns true if the file was replaced or changed since, and updates the mark. path: or NULL */
bool file_has_changed(const char *path, struct file_mark *seen);

/* Returns "folder/name", allocated with malloc(). */
char *file_path(const char *folder, const char *name);

/* Opens a subdirectory for listing; "." opens the directory itself, whose descriptor stays with the
 * caller. Does not follow symbolic links. Returns NULL with errno on failure. */
DIR *file_list(int folder, const char *name);
/* Like readdir(). On NULL, errno is 0 at the end of the directory, else an error after which there
 * may be more entries. */
struct dirent *file_next_entry(DIR *folder);

#endif
