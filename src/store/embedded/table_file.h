/* Reads RocksDB's tables without RocksDB, for salvage: block by block, so that a damaged one costs
 * only its own records, and exchanged blocks cost none.
 *
 *   table    data blocks, then others, then the index, then the footer
 *   index    a block that names blocks of the index, which name data blocks
 *   footer   the last 53 bytes: 1 kind of checksum (1: CRC-32C), varint offset and size of a block
 *            that is not needed here, varint offset and size of the index, ... 4 le version (5),
 *            8 le magic
 *   block    its bytes, 1 kind of compression (0 means none), 4 le masked CRC-32C of both
 *   entry of a data block    varints: shared with the key before, not shared, length of the value;
 *            the rest of the key, the value
 *   entry of the index       varints: shared (0), length of the key; a key at or after the last of
 *            the block, varint offset and size of the block
 *   key      the user's, 8 le: sequence << 8 | kind of change
 *
 * keyspace.c configures this: no compression, CRC-32C, an index of two levels. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_FILE_H
#define LAGRA_STORE_EMBEDDED_TABLE_FILE_H

#include "store/store.h"

/* The kinds of changes that the store writes to tables and logs. A merge adds to a counter. */
enum change_kind { CHANGE_DELETE = 0, CHANGE_PUT = 1, CHANGE_MERGE = 2 };

/* One change of a key. */
struct table_entry {
    struct bytes key; /* the user's */
    uint64_t sequence;
    enum change_kind kind;
    struct bytes value; /* empty for a delete */
};

/* Returns false to stop. */
typedef bool table_visit(void *context, const struct table_entry *entry);
/* Called for an unreadable block; its records are after `after` (empty: from the beginning) and up
 * to `to` (ptr NULL means unknown). */
typedef void table_lost(void *context, struct bytes after, struct bytes to);

/* Visits every readable entry, in any order.
 *
 * Returns STORE_OK, STORE_CORRUPT (the index is unreadable: nothing was visited), STORE_IO (logged,
 * or the visitor stopped). */
enum store_result table_file_read(int fd, table_visit *visit, table_lost *lost, void *context);

#endif
