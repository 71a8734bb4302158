/* The checksums of a table's sectors, saved next to it, so that a part of a table can be verified
 * without reading the rest.
 *
 *   sums/NNNNNN   in the data folder, for records/NNNNNN.sst: 4 le CRC-32C for each sector of
 *                 64 KiB, the last one shorter
 *
 * Such a file needs no protection of its own: its checksums combined are that of the entire table,
 * which the MANIFEST contains. A file that is missing or does not match is not used. So it is never
 * synced, and may be deleted. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_SECTORS_H
#define LAGRA_STORE_EMBEDDED_TABLE_SECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_SECTOR_BYTES (64u << 10)

size_t table_sectors_count(uint64_t size);
/* Reads a sector of the file's first `size` bytes into a buffer of TABLE_SECTOR_BYTES, and returns
 * its checksum in *ret_sum. no_wait: only from the page cache. Returns false with errno (EAGAIN:
 * not in the cache), 0 means the file is shorter. */
bool table_sectors_read(int fd, uint64_t size, size_t sector, bool no_wait, void *buffer,
                        uint32_t *ret_sum);
/* Computes the checksums of all sectors; from malloc. Returns NULL with errno, 0 means the file is
 * shorter. */
uint32_t *table_sectors_take(int fd, uint64_t size);
/* Returns the checksum of the entire table. */
uint32_t table_sectors_join(const uint32_t *sums, uint64_t size);
/* Opens sums/ in the data folder, and creates it if it is missing. Returns -1 if that fails, which
 * is not an error. */
int table_sectors_open(int folder);
/* folder: sums/; crc: of the entire table. Returns false if none exist, or they do not
 * match. */
bool table_sectors_load(int folder, uint64_t number, uint64_t size, uint32_t crc, uint32_t *to);
/* Saves them; a failure is ignored. */
void table_sectors_save(int folder, uint64_t number, const uint32_t *sums, uint64_t size);
/* Returns true if there is a file for that table. */
bool table_sectors_are_kept(int folder, uint64_t number);

#endif
