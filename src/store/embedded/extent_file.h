/* An extent on disk: `extents/xxxxxxxx` (its id in hex), EXTENT_BYTES long, sparse. The first
 * EXTENT_UNIT bytes are its header, the rest is pieces, each at a multiple of EXTENT_UNIT.
 *
 *   header   8     "LAGRAEXT"
 *            4 le  version (1)
 *            4 le  id
 *            4 le  CRC-32C of the above
 *
 * Only the piece index records where pieces are; bytes that no index entry covers are free. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENT_FILE_H
#define LAGRA_STORE_EMBEDDED_EXTENT_FILE_H

#include "store/store.h"

#define EXTENT_BYTES (1ull << 30)
#define EXTENT_UNIT  4096u

/* Returns the bytes that a piece occupies in its extent. */
static inline uint64_t extent_room(uint64_t length)
{
    return (length + EXTENT_UNIT - 1) / EXTENT_UNIT * EXTENT_UNIT;
}

/* Creates an extent, not yet durable. Logs. Returns STORE_OK, STORE_FULL, STORE_SHORTAGE,
 * STORE_IO. */
enum store_result extent_file_create(int folder, uint32_t id, int *ret_fd);
/* Returns STORE_OK, STORE_CORRUPT (missing, or not an extent with that id), STORE_SHORTAGE,
 * STORE_IO; logged. */
enum extent_access { EXTENT_WRITES, EXTENT_READS };
enum store_result extent_file_open(int folder, uint32_t id, enum extent_access access, int *ret_fd);
/* Opens an extent for reading only, bypassing the page cache if the file system can: at multiples
 * of EXTENT_UNIT, into memory aligned likewise. Does not check the header. Returns the results of
 * extent_file_open(). */
enum store_result extent_file_open_direct(int folder, uint32_t id, int *ret_fd);
void extent_file_remove(int folder, uint32_t id);
/* Returns false if it is not the name of an extent. */
bool extent_file_id(const char *name, uint32_t *ret_id);

/* Returns STORE_OK, STORE_FULL, STORE_SHORTAGE, STORE_IO; logged. */
enum store_result extent_file_write(int fd, uint32_t id, const struct bytes *runs, size_t count,
                                    uint64_t offset);
/* Make the file, or the names in the folder, durable. Wait for the disk; errors are logged. Results
 * other than STORE_OK are final, because the lost data is unknown. */
enum store_result extent_file_sync(int fd, uint32_t id);
enum store_result extent_folder_sync(int folder);
/* Returns bytes to the file system. If that fails, they remain allocated, and the failure is
 * logged. */
void extent_file_punch(int fd, uint32_t id, uint64_t offset, uint64_t length);
/* Returns true if any of the bytes from..to are allocated on the disk. */
bool extent_file_has_data(int fd, uint64_t from, uint64_t to);
/* Returns the bytes that it occupies in the file system. */
uint64_t extent_file_allocated(int fd);

#endif
