/* Reading RocksDB's tables without RocksDB, for salvage: block after block, so that one that is
 * damaged costs its own records only, and blocks that stand in each other's place cost none.
 *
 *   table    data blocks, then others, then the index, then the footer
 *   index    a block that names blocks of the index, which name data blocks
 *   footer   the last 53 bytes: 1 kind of checksum (1: CRC-32C), varint offset and size of a block
 *            that is not needed here, varint offset and size of the index, ... 4 le version (5),
 *            8 le magic
 *   block    its bytes, 1 kind of compression (0: none), 4 le masked CRC-32C of both
 *   entry of a data block    varints: shared with the key before, not shared, length of the value;
 *            the rest of the key, the value
 *   entry of the index       varints: shared (0), length of the key; a key at or after the last of
 *            the block, varint offset and size of the block
 *   key      the user's, 8 le: sequence << 8 | kind of change
 *
 * That is what keyspace.c asks for: no compression, CRC-32C, an index of two levels. */
#ifndef LAGRA_STORE_EMBEDDED_TABLE_FILE_H
#define LAGRA_STORE_EMBEDDED_TABLE_FILE_H

#include "store/store.h"

/* The kinds of changes in tables and logs that the store makes. A merge adds to a counter. */
enum change_kind { CHANGE_DELETE = 0, CHANGE_PUT = 1, CHANGE_MERGE = 2 };

/* One change of one key. */
struct table_entry {
    struct bytes key; /* the user's */
    uint64_t sequence;
    enum change_kind kind;
    struct bytes value; /* empty for a delete */
};

/* Returns false to end. */
typedef bool table_visit(void *context, const struct table_entry *entry);
/* A block cannot be read; its records lie behind `after` (empty: from the beginning) and up to `to`
 * (ptr NULL: nobody knows). */
typedef void table_lost(void *context, struct bytes after, struct bytes to);

/* Visits every entry that can be read. Entries may come in any order.
 * returns STORE_OK, STORE_CORRUPT (its index cannot be read: nothing was visited), STORE_IO (logged,
 * or the visitor ended it) */
enum store_result table_file_read(int fd, table_visit *visit, table_lost *lost, void *context);

#endif
