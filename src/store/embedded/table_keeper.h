/* A thread that proves in the background what a start has left unproven (table_proof.h), and then keeps the sums of the
 * sectors of all tables, for the next start (table_sectors.h): of those that RocksDB has written a while ago, since most new
 * ones are soon merged into others. A store that a start proves as a whole has none. */
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
    uint64_t whole_bytes;      /* of tables: up to here a start proves all */
    int folder;                /* of the data; the keeper's own, as the next two */
    int records;               /* its folder records/ */
    int sums;                  /* that of sums; -1: not needed yet */
    uint64_t first_new;        /* tables from this number on are of this run */
    uint64_t version;          /* of the key space at the last look */
    struct records_files seen; /* at the last look */
    struct thread thread;
    struct lock lock;
    pthread_cond_t work;
    atomic_bool stopping; /* written under lock */
};

/* folder: of the data. returns STORE_OK, STORE_IO (no descriptor; logged) */
enum store_result table_keeper_open(struct table_keeper *keeper, int folder,
                                    const struct keyspace *keyspace, struct table_proof *proof,
                                    uint64_t whole_bytes);
/* False: no thread; to be stopped all the same. */
bool table_keeper_start(struct table_keeper *keeper);
/* Ends the thread; the key space is still open. */
void table_keeper_stop(struct table_keeper *keeper);
/* Keeps the sums of the last tables of this run, once the key space is closed. Never started: gives back what open took. */
void table_keeper_close(struct table_keeper *keeper);

#endif
