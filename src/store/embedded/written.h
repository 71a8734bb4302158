/* The keys written since some moment, each once, so that the store can return to that moment
 * without scanning everything. Beyond WRITTEN_BYTES_MAX the keys are forgotten: any may have been
 * written. One thread at a time. */
#ifndef LAGRA_STORE_EMBEDDED_WRITTEN_H
#define LAGRA_STORE_EMBEDDED_WRITTEN_H

#include "base/arena.h"

/* For the keys and the hash table. */
#define WRITTEN_BYTES_MAX ((size_t)8 << 20)

struct written {
    struct arena *arena;  /* for the keys; NULL: none yet */
    struct bytes *places; /* open addressing; ptr NULL: empty */
    size_t count, capacity;
    bool is_all; /* the keys are unknown: nothing is stored */
};

/* All zero: no keys. */
void written_release(struct written *written);
/* Adds every key that a RocksDB batch writes or deletes. data: as returned by
 * rocksdb_writebatch_data() */
void written_add_batch(struct written *written, struct bytes data);

#endif
