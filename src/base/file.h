/* Reading files at an offset, whatever signals come, and folders to their end. */
#ifndef LAGRA_BASE_FILE_H
#define LAGRA_BASE_FILE_H

#include <dirent.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads `size` bytes at the offset into `to`, or as many as the file has there.
 * returns how many; -1 on an error (errno) */
ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* readdir(). NULL: with errno 0 that was all, else an error, and there may be more. */
struct dirent *file_next_entry(DIR *folder);

#endif
