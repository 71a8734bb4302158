/* Proves, before RocksDB opens the folder records/, that everything is there that was acknowledged;
 * else the start is refused and nothing has been changed. It matters that this comes first, because
 * RocksDB's opening deletes every file that its MANIFEST does not name.
 *
 *  1. Which MANIFEST: the one CURRENT names. Its first bytes, as many as were recorded, must be those
 *     recorded; else the copy is put back (manifest_guard.h). One newer than the checkpoint is taken as it
 *     is: a crash may have come between RocksDB's beginning it and the checkpoint.
 *  2. Every table that it names is there, as long and with the sum that it says (table_sums.h); where there are many, the
 *     sum is taken when the table is first read (table_proof.h).
 *  3. The logs go on where the tables end, without a gap (log_chain.h), at least up to the sequence
 *     that `synced` says is durable.
 * What 2 and 3 prove holds for any MANIFEST, also for one that was cut where nobody can tell: it
 * then names older tables, and the logs that continued those are missing. So 1 mends, 2 and 3
 * refuse.
 *
 * Where nothing was ever served, what 1 to 3 would refuse is what a start has left that was cut off: it is set aside, and the
 * key space is new.
 *
 * After that, files that RocksDB would delete or must not read are moved to aside/: tables that the
 * MANIFEST does not name (left by a crash), and logs behind one whose end a power cut took. Logs are
 * cut behind their last whole batch and synced (log_chain.h), so that what was proven stays true. */
#ifndef LAGRA_STORE_EMBEDDED_RECORDS_PROOF_H
#define LAGRA_STORE_EMBEDDED_RECORDS_PROOF_H

#include "store/embedded/damage.h"
#include "store/embedded/manifest.h"
#include "store/embedded/manifest_guard.h"
#include "store/embedded/records_files.h"

struct records_proof {
    bool is_new;   /* there is nothing yet: RocksDB may make a new key space */
    bool has_logs; /* some of them are in logs alone, which RocksDB's opening writes into tables */
    uint64_t sequence; /* the records go up to here */
    /* Those whose sums are still to be taken, before they are used (table_proof.h); of malloc */
    struct manifest_table *unproven;
    size_t unproven_count;
};

/* How far to look. */
enum proof_mode {
    PROOF_LOOK, /* changes nothing */
    PROOF_MEND, /* puts back what can be, moves aside what RocksDB would delete */
};

/* Of so many bytes of tables PROOF_MEND leaves no sums to be taken: 12 ms of CPU. Of more, all: what a start reads does not
 * grow with what is stored. Unless the start before it has asked for all of them (table_proof_is_asked()). */
#define PROOF_WHOLE_BYTES (64ull << 20)

/* folder: of the data; synced: the open file; durable: the sequence it says; whole_bytes: PROOF_WHOLE_BYTES, or as a test
 * wants it.
 * returns STORE_OK      what RocksDB will find is everything
 *         STORE_CORRUPT damage->first says what is missing; nothing was changed
 *         STORE_IO      logged */
enum store_result records_prove(int folder, int synced, uint64_t durable, enum proof_mode mode,
                                uint64_t whole_bytes, struct damage *damage,
                                struct records_proof *ret_proof);

#endif
