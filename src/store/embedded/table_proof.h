/* Tables whose sums a start has left to be taken, so that it does not wait for reading all records. Nothing of them is used
 * before it is proven: RocksDB reads by the program's pread() (interposed.h), which comes here first, and the sectors that
 * it asks for are read and summed unless that was done. A table without sums of its sectors (table_sectors.h) is read as a
 * whole. All others are proven in the background (table_keeper.h), after which a read costs nothing more.
 *
 * What was written since the start is not among them: they are known by inode and time of their last change. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_PROOF_H
#define LAGRA_STORE_EMBEDDED_TABLE_PROOF_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/manifest.h"

struct unproven;

struct table_proof {
    int folder;              /* of the data; -1: not needed */
    int records;             /* its folder records/ */
    int sums;                /* its folder of sums; -1: there is none */
    struct unproven *tables; /* by inode */
    size_t count;
    struct lock lock; /* over the reading of a whole table, and what follows */
    char *finding;    /* the first; NULL: none */
    void (*damaged)(void *context);
    void *context;
    _Atomic uint64_t bytes_read; /* to prove them */
};

void table_proof_init(struct table_proof *proof);
/* Proves the tables from now on when they are read; their files are there, and as long as they should be. None: nothing is
 * done. folder: of the data. Start-up thread, before RocksDB opens them.
 * returns STORE_OK, STORE_IO (logged) */
enum store_result table_proof_begin(struct table_proof *proof, int folder,
                                    const struct manifest_table *tables, size_t count);
/* The first finding, "records/NNNNNN.sst ..", or NULL. Any thread; it stays until the end. */
const char *table_proof_finding(struct table_proof *proof);
/* What is to be called when something is found, once; at once if it has been. */
void table_proof_on_damage(struct table_proof *proof, void (*damaged)(void *context),
                           void *context);
/* Proves what is left of one table; false: it could not be, and was logged. A table that RocksDB has deleted is left out. */
bool table_proof_finish(struct table_proof *proof, size_t table, const atomic_bool *stop);
/* All are proven: reads are not looked at any longer. Once, before the end. */
void table_proof_leave(struct table_proof *proof);
/* RocksDB reads none of them any longer. Whatever begin returned, or without it. */
void table_proof_end(struct table_proof *proof);

/* ---- what the next start is to do ---- */

/* A start that finds the mark takes all sums before it serves: the one before has found damage. */
bool table_proof_is_asked(int folder);
/* The mark is taken away once all sums are right. returns STORE_OK, STORE_IO (logged) */
enum store_result table_proof_unask(int folder);

#endif
