/* The first half of salvage: copies every readable change from tables and logs to a scratch key
 * space, in which the newest change of each key wins. */
#ifndef LAGRA_STORE_EMBEDDED_SALVAGE_RECORDS_H
#define LAGRA_STORE_EMBEDDED_SALVAGE_RECORDS_H

#include "store/embedded/keyspace.h"
#include "store/inspect.h"
#include "store/store.h"

/* A value of the scratch key space: 8 le sequence, 1 kind of change (table_file.h), the value. All
 * merges are retained, each under SCRATCH_MERGE, the key, 8 be sequence; no key of the store starts
 * with it. */
#define SCRATCH_HEADER 9u
#define SCRATCH_MERGE  'm'

/* folder: of the damaged data; synced: the open file, or -1; durable: the sequence in it. Reports
 * unreadable data to the listener. Returns STORE_OK, STORE_IO (logged). */
enum store_result salvage_records(int folder, int synced, uint64_t durable,
                                  struct keyspace *scratch,
                                  const struct salvage_listener *listener);
/* Applies a batch, waiting for RocksDB to catch up if necessary. Returns STORE_OK, STORE_IO. */
enum store_result salvage_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch);

/* Salvages bytes of pieces, from the extents of one folder to the same offsets in another. */

struct salvage_extent {
    uint32_t id;
    int from; /* -1: missing or damaged */
    int to;
};

struct salvage_pieces {
    int from; /* the folders extents/; -1: missing */
    int to;
    struct salvage_extent *list;
    size_t count;
    size_t capacity;
};

/* Copies the sectors with correct CRCs. Returns STORE_OK (also if bytes are lost), STORE_FULL,
 * STORE_IO (of the new folder). */
enum store_result salvage_copy_piece(struct salvage_pieces *pieces, const struct piece *piece);
/* Makes everything durable and closes the files. Returns STORE_OK, STORE_IO. */
enum store_result salvage_finish_pieces(struct salvage_pieces *pieces);

#endif
