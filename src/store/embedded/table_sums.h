/* The checksums of entire table files. RocksDB protects each block of a table, but not its
 * position: two swapped blocks pass its checks, and records are silently not found. So RocksDB
 * computes a CRC-32C of each table while it writes it (option file_checksum_gen_factory) and stores
 * it in the MANIFEST, which is protected itself (manifest_guard.h); and every table is verified
 * before its first use after a start: all of them during startup, or each when it is first read
 * (table_proof.h). */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_SUMS_H
#define LAGRA_STORE_EMBEDDED_TABLE_SUMS_H

#include <inttypes.h>

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"

#define TABLE_SUM_IS_WRONG "records/%06" PRIu64 ".sst is corrupted (wrong checksum)"

/* Reads all tables, on several threads.
 *
 * Returns STORE_OK (also if there is damage), STORE_IO (one cannot be read now; a finding says
 * which). */
enum store_result table_sums_check(int records, const struct manifest *manifest,
                                   struct damage *damage);
/* Only checks that all exist with the right sizes. Returns the results of table_sums_check(). */
enum store_result table_sums_check_sizes(int records, const struct manifest *manifest,
                                         struct damage *damage);

#endif
