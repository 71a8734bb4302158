/* Verifies that the logs of records continue the tables without a gap. Every batch of a log starts
 * with its sequence and its number of changes, so each batch must start where the previous one
 * ended, across all logs. A log that is missing, empty or truncated is detected as a gap, or as an
 * end before the last acknowledged change. */
#ifndef LAGRA_STORE_EMBEDDED_LOG_CHAIN_H
#define LAGRA_STORE_EMBEDDED_LOG_CHAIN_H

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"
#include "store/embedded/records_files.h"

struct log_end {
    uint64_t number; /* of the log */
    uint64_t end;    /* of its last complete batch */
};

struct log_chain {
    uint64_t sequence;    /* of the last readable change */
    struct log_end *ends; /* of the logs that were read, in order */
    size_t end_count;
    /* Logs from this number on do not continue the previous one; 0 means none. The end of that one
     * was never made durable, so nothing in these logs was acknowledged. */
    uint64_t loose_from;
};

/* manifest: contents of the tables, and lengths of closed logs. *ret_chain must be released,
 * regardless of the result.
 *
 * Returns STORE_OK (also if there is damage), STORE_IO. */
enum store_result log_chain_follow(int records, const struct records_files *files,
                                   const struct manifest *manifest, struct damage *damage,
                                   struct log_chain *ret_chain);
/* Returns true if any of them has records. */
bool log_chain_has_records(const struct log_chain *chain);
void log_chain_release(struct log_chain *chain);
/* Truncates each log after its last complete batch: removes zeros written ahead, and the remains of
 * batches that were never acknowledged because of a crash. RocksDB would skip a hole of zeros, and
 * then read a later batch without those lost in the hole. Also syncs the logs, because after a
 * crash the bytes read may be only in memory.
 *
 * Returns STORE_OK, STORE_IO (logged). */
enum store_result log_chain_settle(int records, const struct records_files *files,
                                   const struct log_chain *chain);

#endif
