/* Parser of RocksDB's MANIFEST: which table files the records are in, the first log that must be
 * read, and the logs that were closed, with their lengths. It is needed before RocksDB opens the
 * folder, because opening deletes files that the MANIFEST does not name.
 *
 * A MANIFEST is a file of records (record_log.h), each a list of (varint tag, fields). Only the
 * format that RocksDB 7.8 writes for one column family is supported; anything else is refused. */
#ifndef LAGRA_STORE_EMBEDDED_MANIFEST_H
#define LAGRA_STORE_EMBEDDED_MANIFEST_H

#include "store/embedded/records_files.h"

/* A table file, NNNNNN.sst. */
struct manifest_table {
    uint64_t number;
    uint64_t size;
    uint64_t level;
    uint32_t crc; /* CRC-32C of the whole file */
};

/* A log, NNNNNN.log, that was closed and synced. */
struct manifest_log {
    uint64_t number;
    uint64_t size;
};

struct manifest {
    struct manifest_table *tables; /* by number */
    size_t table_count;
    struct manifest_log *logs;
    size_t log_count;
    size_t log_capacity;
    uint64_t first_log;     /* older logs are in tables */
    uint64_t last_sequence; /* in tables up to this one */
    uint64_t size;          /* bytes of complete records */
    bool has_next_file;     /* otherwise RocksDB cannot open it: its first records are lost */
    bool torn;              /* there are more bytes */
};

/* Reads up to `limit` bytes. *ret_manifest is always initialised.
 *
 * Returns STORE_OK, STORE_CORRUPT (a mandatory record is missing, or one is not supported; not
 * logged), STORE_IO. */
enum store_result manifest_read(int fd, uint64_t limit, struct manifest *ret_manifest);
void manifest_release(struct manifest *manifest);
/* Returns for each of the files whether it is a table that the MANIFEST names; from malloc. There
 * may be many of both. */
bool *manifest_find_named(const struct manifest *manifest, const struct records_files *files);

#endif
