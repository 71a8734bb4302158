/* Reading files at an offset, whatever signals come. */
#ifndef LAGRA_BASE_FILE_H
#define LAGRA_BASE_FILE_H

#include <stdint.h>
#include <sys/types.h>

/* Reads `size` bytes at the offset into `to`, or as many as the file has there.
 * returns how many; -1 on an error (errno) */
ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset);

#endif
