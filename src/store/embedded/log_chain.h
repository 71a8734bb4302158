/* Proves that the logs of records continue the tables without a gap. Every batch of a log begins
 * with its sequence and the number of its changes, so batch after batch, log after log, each must
 * begin where the one before ended: a log that is missing, emptied or cut shows as a gap, or as an
 * end before what was acknowledged. */
#ifndef LAGRA_STORE_EMBEDDED_LOG_CHAIN_H
#define LAGRA_STORE_EMBEDDED_LOG_CHAIN_H

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"
#include "store/embedded/records_files.h"

struct log_end {
    uint64_t number; /* of the log */
    uint64_t end;    /* of its last whole batch */
};

struct log_chain {
    uint64_t sequence;    /* of the last change that can be read */
    struct log_end *ends; /* of the logs that were read, in order */
    size_t end_count;
    /* Logs from this number on do not continue what is before them; 0: none. The end of the one
     * before was never made durable, so nothing in these was acknowledged. */
    uint64_t loose_from;
};

/* manifest: what the tables hold, and which logs were closed how long. *ret_chain is to be released,
 * whatever is returned.
 * returns STORE_OK (also with damage), STORE_IO */
enum store_result log_chain_follow(int records, const struct records_files *files,
                                   const struct manifest *manifest, struct damage *damage,
                                   struct log_chain *ret_chain);
/* Not all of them are empty. */
bool log_chain_has_records(const struct log_chain *chain);
void log_chain_release(struct log_chain *chain);
/* Cuts each log behind its last whole batch: zeros that were written ahead, and what a crash has left
 * of batches that were never acknowledged. RocksDB would skip a hole of zeros, and then read a batch behind
 * it without the ones that were in it. And syncs it: what was read may be in memory alone after a kill.
 * returns STORE_OK, STORE_IO (logged) */
enum store_result log_chain_settle(int records, const struct records_files *files,
                                   const struct log_chain *chain);

#endif
