/* The keys that were written since some moment, each once, so that one can go back to that moment without
 * looking through all that there is. Beyond WRITTEN_BYTES_MAX it no longer knows which: then any may have been
 * written. One thread at a time. */
#ifndef LAGRA_STORE_EMBEDDED_WRITTEN_H
#define LAGRA_STORE_EMBEDDED_WRITTEN_H

#include "base/arena.h"

/* Of the keys, and of the table that finds them. */
#define WRITTEN_BYTES_MAX ((size_t)8 << 20)

struct written {
    struct arena *arena;  /* of the keys; NULL: none yet */
    struct bytes *places; /* open addressing; ptr NULL: empty */
    size_t count, capacity;
    bool is_all; /* it is not known which: nothing is held */
};

/* All zero: no key. */
void written_release(struct written *written);
/* Every key that a RocksDB batch writes or deletes. data: as rocksdb_writebatch_data() returns it */
void written_add_batch(struct written *written, struct bytes data);

#endif
