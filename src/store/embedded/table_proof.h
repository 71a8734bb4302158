/* Verifies tables lazily, so that a start does not have to read all records. Nothing in them is
 * used before it is verified: RocksDB reads through the program's pread() (interposed.h), which
 * first calls this, and the sectors it needs are read and checked unless that was done before. A
 * table without sector checksums (table_sectors.h) is read completely. Everything else is verified
 * in the background (table_keeper.h), after which reads cost nothing extra.
 *
 * Tables written since the start are not covered: the others are identified by inode and change
 * time. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_PROOF_H
#define LAGRA_STORE_EMBEDDED_TABLE_PROOF_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/manifest.h"

struct unproven;

struct table_proof {
    int folder;              /* of the data; -1: not needed */
    int records;             /* its folder records/ */
    int sums;                /* its folder sums/; -1: there is none */
    struct unproven *tables; /* by inode */
    size_t count;
    struct lock lock; /* held while an entire table is read and the result recorded */
    char *finding;    /* the first one; NULL means none */
    void (*damaged)(void *context);
    void *context;
    _Atomic uint64_t bytes_read; /* for verification */
};

void table_proof_init(struct table_proof *proof);
/* Starts verifying the tables when they are read; their files exist with the right sizes. Does
 * nothing if none exist. folder: of the data. Startup thread, before RocksDB opens them.
 *
 * Returns STORE_OK, STORE_IO (logged). */
enum store_result table_proof_begin(struct table_proof *proof, int folder,
                                    const struct manifest_table *tables, size_t count);
/* Returns the first finding, "records/NNNNNN.sst ..", or NULL. Thread-safe; valid until the end. */
const char *table_proof_finding(struct table_proof *proof);
/* Sets a function that is called once when damage is found, or immediately if it was found
 * before. */
void table_proof_on_damage(struct table_proof *proof, void (*damaged)(void *context),
                           void *context);
/* Verifies the rest of a table; returns false if that failed, which is logged. Skips a table that
 * RocksDB has deleted. */
bool table_proof_finish(struct table_proof *proof, size_t table, const atomic_bool *stop);
/* Stops checking reads: all tables are verified. Once, before the end. */
void table_proof_leave(struct table_proof *proof);
/* Called when RocksDB no longer reads any of them, regardless of the result of table_proof_begin(),
 * and even if that was not called. */
void table_proof_end(struct table_proof *proof);

/* ---- requests to the next start ---- */

/* Returns true if the mark is set: this start must verify everything before it serves, because the
 * previous one found damage. */
bool table_proof_is_asked(int folder);
/* Removes the mark once all checksums have been verified. Returns STORE_OK, STORE_IO (logged). */
enum store_result table_proof_unask(int folder);

#endif
