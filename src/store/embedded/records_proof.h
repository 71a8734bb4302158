/* Verifies, before RocksDB opens the folder records/, that it contains everything acknowledged;
 * otherwise the start fails and nothing is changed. This must come first, because opening makes
 * RocksDB delete every file that its MANIFEST does not name.
 *
 * (1) Which MANIFEST: the one that CURRENT names. The bytes covered by the checkpoint must be as
 *     recorded; otherwise the copy is restored (manifest_guard.h). A MANIFEST newer than the
 *     checkpoint is accepted: a crash may have happened between its creation by RocksDB and the
 *     checkpoint.
 * (2) Every table that it names exists, with the recorded size and checksum (table_sums.h); if
 *     there are many, the checksum is verified when a table is first read (table_proof.h).
 * (3) The logs continue the tables without a gap (log_chain.h), at least up to the sequence that
 *     `synced` records as durable.
 * Conditions 2 and 3 hold for any MANIFEST, including one that was truncated unnoticeably: it then
 * names older tables, and the logs that continued those are missing. So 1 repairs; 2 and 3 refuse.
 *
 * If no request was ever served, files that 1 to 3 would refuse are left from an interrupted start.
 * They are moved aside, and the key space is new.
 *
 * After that, files that RocksDB would delete or must not read are moved to aside/: tables that the
 * MANIFEST does not name (left by a crash), and logs after one whose end was lost in a power
 * failure. Logs are truncated after their last complete batch and synced (log_chain.h), so that the
 * result remains valid. */
#ifndef LAGRA_STORE_EMBEDDED_RECORDS_PROOF_H
#define LAGRA_STORE_EMBEDDED_RECORDS_PROOF_H

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"
#include "store/embedded/manifest_guard.h"
#include "store/embedded/records_files.h"

struct records_proof {
    bool is_new;       /* there is no store yet: RocksDB may create a key space */
    bool has_logs;     /* some records are only in logs, which opening writes to tables */
    uint64_t sequence; /* the newest sequence of the records */
    /* tables to be verified before they are used (table_proof.h); from malloc */
    struct manifest_table *unproven;
    size_t unproven_count;
};

/* How far to go. */
enum proof_mode {
    PROOF_LOOK, /* changes nothing */
    PROOF_MEND, /* restores files if possible, and moves aside files that RocksDB would delete */
};

/* Up to this size, PROOF_MEND verifies the checksums of all tables: 12 ms of CPU. Above, it
 * verifies none: the bytes read by a start do not grow with the store. It verifies all of them if
 * the previous process has requested that (table_proof_is_asked()). */
#define PROOF_WHOLE_BYTES (64ull << 20)

/* folder: of the data; synced: the open file; durable: the sequence in it; whole_bytes:
 * PROOF_WHOLE_BYTES, or the value of a test
 *
 * Returns STORE_OK the records are complete
 *         STORE_CORRUPT damage->first says what is missing; nothing was changed
 *         STORE_IO      logged */
enum store_result records_prove(int folder, int synced, uint64_t durable, enum proof_mode mode,
                                uint64_t whole_bytes, struct damage *damage,
                                struct records_proof *ret_proof);

#endif
