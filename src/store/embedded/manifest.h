/* What RocksDB's MANIFEST says: which files of tables the records are in, from which log on they
 * must be read, which logs were closed and how long they were then. Ours, to know it before RocksDB
 * opens the folder, because opening deletes what the MANIFEST does not name.
 *
 * A MANIFEST is a file of records (record_log.h), each a list of (varint tag, fields). Only what
 * RocksDB 7.8 writes for one column family is understood; anything else is refused, not guessed. */
#ifndef LAGRA_STORE_EMBEDDED_MANIFEST_H
#define LAGRA_STORE_EMBEDDED_MANIFEST_H

#include "store/embedded/records_files.h"

/* A file of a table, NNNNNN.sst. */
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
    uint64_t first_log;     /* logs below are in tables */
    uint64_t last_sequence; /* in tables up to here */
    uint64_t size;          /* bytes of whole records */
    bool has_next_file;     /* else RocksDB does not open it: its first records are lost */
    bool torn;              /* more bytes follow */
};

/* Reads up to `limit` bytes. *ret_manifest is initialised in any case.
 * returns STORE_OK, STORE_CORRUPT (it lacks records that each has, or has one that is not understood; not
 * logged), STORE_IO */
enum store_result manifest_read(int fd, uint64_t limit, struct manifest *ret_manifest);
void manifest_release(struct manifest *manifest);
/* Of each of the files, whether it is a table that the MANIFEST names; of malloc. There may be many of both. */
bool *manifest_find_named(const struct manifest *manifest, const struct records_files *files);

#endif
