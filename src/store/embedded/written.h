/* The keys written since some moment, each once, so that the store can return to that moment
 * without scanning everything, or copy the changes. Beyond a limit the keys are dropped, and any
 * key may have been written. One thread at a time. */
#ifndef LAGRA_STORE_EMBEDDED_WRITTEN_H
#define LAGRA_STORE_EMBEDDED_WRITTEN_H

#include "base/arena.h"
#include "base/ids.h"

/* For the keys and the hash table, unless `limit` is set. */
#define WRITTEN_BYTES_MAX ((size_t)8 << 20)

struct written {
    const struct guid *space; /* only its records, index records and added tasks; or NULL */
    size_t limit;             /* in bytes, or 0 for WRITTEN_BYTES_MAX */
    struct arena *arena;      /* for the keys; NULL means none yet */
    struct bytes *places;     /* open addressing; ptr NULL means empty */
    size_t count, capacity;
    bool is_all; /* any key may have been written; nothing is stored */
};

/* All zero: no keys. */
void written_release(struct written *written);
/* Returns the memory of the keys and the hash table. */
size_t written_bytes(const struct written *written);
/* Adds every key that a RocksDB batch writes or deletes. data: as returned by
 * rocksdb_writebatch_data() */
void written_add_batch(struct written *written, struct bytes data);

#endif
