/* The sums of whole files of tables. RocksDB guards each block of a table, but not its place: two
 * blocks exchanged pass its checks, and records are silently not found. So RocksDB takes a CRC-32C
 * of each table while it writes it (option file_checksum_gen_factory) and keeps it in the MANIFEST,
 * which is proven itself (manifest_guard.h); and every table is read and compared before the first
 * use after a start: all of them by the start itself, or each when it is first read (table_proof.h). */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_SUMS_H
#define LAGRA_STORE_EMBEDDED_TABLE_SUMS_H

#include <inttypes.h>

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"

#define TABLE_SUM_IS_WRONG                                                                         \
    "records/%06" PRIu64 ".sst is not as it was written (its checksum is wrong)"

/* Reads all tables, on several threads.
 * returns STORE_OK (also with damage), STORE_IO (one cannot be read now; a finding says which) */
enum store_result table_sums_check(int records, const struct manifest *manifest,
                                   struct damage *damage);
/* Looks only whether all are there, and how long they are. returns as above */
enum store_result table_sums_check_sizes(int records, const struct manifest *manifest,
                                         struct damage *damage);

#endif
