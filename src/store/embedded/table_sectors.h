/* The sums of a table's sectors, kept beside it, so that a part of a table is proven without reading the rest.
 *
 *   sums/NNNNNN   in the data folder, for records/NNNNNN.sst: 4 le CRC-32C for each sector of 64 KiB, the last one shorter
 *
 * Such a file needs no proof of its own: its sums joined are the sum of the whole table, which the MANIFEST has. One that is
 * missing, or of which that is not true, is not used. So it is never synced, and may be deleted. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_SECTORS_H
#define LAGRA_STORE_EMBEDDED_TABLE_SECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_SECTOR_BYTES (64u << 10)

size_t table_sectors_count(uint64_t size);
/* Reads a sector, of the file's first `size` bytes, into a buffer of TABLE_SECTOR_BYTES; returns its sum in *ret_sum.
 * no_wait: only out of the page cache. False: errno (EAGAIN: it is not there), 0: the file is shorter. */
bool table_sectors_read(int fd, uint64_t size, size_t sector, bool no_wait, void *buffer,
                        uint32_t *ret_sum);
/* Of all sectors, one behind the other; of malloc. NULL: errno, 0: the file is shorter. */
uint32_t *table_sectors_take(int fd, uint64_t size);
/* Of the whole table. */
uint32_t table_sectors_join(const uint32_t *sums, uint64_t size);
/* sums/ in the data folder, made if it is missing. returns -1: it cannot be had, and is done without */
int table_sectors_open(int folder);
/* folder: sums/; crc: of the whole table. False: there are none, or they are others. */
bool table_sectors_load(int folder, uint64_t number, uint64_t size, uint32_t crc, uint32_t *to);
/* One that cannot be written is done without. */
void table_sectors_save(int folder, uint64_t number, const uint32_t *sums, uint64_t size);
/* Is there a file of that table? */
bool table_sectors_are_kept(int folder, uint64_t number);

#endif
