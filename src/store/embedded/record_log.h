/* Reads RocksDB's files of records: its write-ahead logs and its MANIFEST have the same format.
 * RocksDB's own reader would silently mistake a record with a damaged length for the torn end of
 * the file.
 *
 *   file     blocks of 32 KiB, the last one short
 *   block    fragments; fewer than 7 bytes at its end are zeros
 *   fragment 4 le  masked CRC-32C of type and bytes
 *            2 le  length
 *            1     type: 1 whole record, 2 first, 3 middle, 4 last fragment of one
 *            the bytes
 *
 * The recyclable format (types 5 to 8) and compressed logs are not used: keyspace.c never enables
 * them. */
#ifndef LAGRA_STORE_EMBEDDED_RECORD_LOG_H
#define LAGRA_STORE_EMBEDDED_RECORD_LOG_H

#include "store/store.h"

#define RECORD_LOG_BLOCK 32768u

struct record_log {
    int fd;             /* owned by the caller */
    uint64_t limit;     /* bytes of the file to read */
    uint64_t block_at;  /* offset of the block in memory */
    size_t block_size;  /* bytes of it */
    size_t at;          /* the next fragment in it */
    uint64_t whole_end; /* end of the last complete record returned */
    bool skips;         /* skipping the rest of a record whose start is damaged */
    unsigned char *block;
    char *record;
    size_t record_capacity;
};

enum record_log_result {
    RECORD_LOG_RECORD,
    RECORD_LOG_END,  /* the file ends after a complete record */
    RECORD_LOG_TORN, /* the bytes after whole_end are not a complete record */
    RECORD_LOG_IO,   /* logged */
};

/* limit: UINT64_MAX for the entire file. */
void record_log_init(struct record_log *log, int fd, uint64_t limit);
void record_log_release(struct record_log *log);
/* Returns the next record; valid until the next call. After a result other than RECORD_LOG_RECORD
 * there is no next one, unless record_log_skip() finds one. */
enum record_log_result record_log_next(struct record_log *log, struct bytes *ret_record);
/* Continues at the next block after RECORD_LOG_TORN, for salvage. Returns false at the end. */
bool record_log_skip(struct record_log *log);

#endif
