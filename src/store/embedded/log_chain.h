/* Proves that the logs of records continue the tables without a gap. Every batch of a log begins
 * with its sequence and the number of its changes, so batch after batch, log after log, each must
 * begin where the one before ended: a log that is missing, emptied or cut shows as a gap, or as an
 * end before what was acknowledged. */
#ifndef LAGRA_STORE_EMBEDDED_LOG_CHAIN_H
#define LAGRA_STORE_EMBEDDED_LOG_CHAIN_H

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"
#include "store/embedded/records_files.h"

struct log_chain {
    uint64_t sequence; /* of the last change that can be read */
    /* Logs from this number on do not continue what is before them; 0: none. The end of the one
     * before was never made durable, so nothing in these was acknowledged. */
    uint64_t loose_from;
};

/* manifest: what the tables hold, and which logs were closed how long.
 * returns STORE_OK (also with damage), STORE_IO */
enum store_result log_chain_follow(int records, const struct records_files *files,
                                   const struct manifest *manifest, struct damage *damage,
                                   struct log_chain *ret_chain);

#endif
