/* A thread that verifies in the background the tables that a start has left unverified
 * (table_proof.h), and then saves the sector checksums of all tables for the next start
 * (table_sectors.h): only of those that RocksDB wrote some time ago, since most new ones are soon
 * merged into others. Not used for a store small enough to be verified at startup. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_KEEPER_H
#define LAGRA_STORE_EMBEDDED_TABLE_KEEPER_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "store/embedded/keyspace.h"
#include "store/embedded/records_files.h"
#include "store/embedded/table_proof.h"

struct table_keeper {
    struct table_proof *proof;
    const struct keyspace *keyspace;
    uint64_t whole_bytes;      /* total size of tables up to which a start verifies all of them */
    int folder;                /* of the data; owned by the keeper, like the next two */
    int records;               /* its folder records/ */
    int sums;                  /* of sums/; -1: not needed yet */
    uint64_t first_new;        /* tables from this number on were written by this process */
    uint64_t version;          /* of the key space at the last check */
    struct records_files seen; /* at the last check */
    struct thread thread;
    struct lock lock;
    pthread_cond_t work;
    atomic_bool stopping; /* written under lock */
};

/* folder: of the data. Returns STORE_OK, STORE_IO (no descriptor; logged). */
enum store_result table_keeper_open(struct table_keeper *keeper, int folder,
                                    const struct keyspace *keyspace, struct table_proof *proof,
                                    uint64_t whole_bytes);
/* Returns false if no thread could be created; table_keeper_stop() must be called anyway. */
bool table_keeper_start(struct table_keeper *keeper);
/* Ends the thread; the key space is still open. */
void table_keeper_stop(struct table_keeper *keeper);
/* Saves the checksums of the last tables of this process, once the key space is closed. If the
 * thread was never started, only releases what open acquired. */
void table_keeper_close(struct table_keeper *keeper);

#endif
