/* The files of the folder records/, by RocksDB's names, and the folder aside/, to which startup
 * moves files that RocksDB would delete. */
#ifndef LAGRA_STORE_EMBEDDED_RECORDS_FILES_H
#define LAGRA_STORE_EMBEDDED_RECORDS_FILES_H

#include "store/store.h"

enum records_kind { RECORDS_TABLE, RECORDS_LOG, RECORDS_MANIFEST };

struct records_file {
    enum records_kind kind;
    uint64_t number;
    uint64_t size;
};

struct records_files {
    struct records_file *list; /* by ascending number */
    size_t count;
};

#define RECORDS_NAME_SIZE 32

/* Formats "000012.sst", "000012.log" or "MANIFEST-000012". */
void records_file_name(char to[RECORDS_NAME_SIZE], enum records_kind kind, uint64_t number);
/* Returns false for other names. */
bool records_parse_name(const char *name, enum records_kind *ret_kind, uint64_t *ret_number);
/* Lists these files, ignoring others. Returns STORE_OK, STORE_IO (logged). */
enum store_result records_files_list(int records, struct records_files *ret_files);
/* Returns the number of the newest log; 0 means none. Returns STORE_OK, STORE_IO (logged). */
enum store_result records_newest_log(int records, uint64_t *ret_number);
void records_files_release(struct records_files *files);
/* Returns the total size of all logs, which opening writes to tables. Returns STORE_OK, STORE_IO
 * (logged). */
enum store_result records_log_bytes(int records, uint64_t *ret_bytes);
const struct records_file *records_files_find(const struct records_files *files,
                                              enum records_kind kind, uint64_t number);

/* Makes all files of records/ and their names durable, without waiting for RocksDB's own syncs.
 * folder: of the data. Returns STORE_OK, STORE_IO (logged). */
enum store_result records_sync_all(int folder);

/* Moves a file of records/ to aside/, which is created if necessary, and logs it. At most
 * ASIDE_BYTES are stored there; the oldest files are deleted first. folder: of the data */
#define ASIDE_BYTES (256ull << 20)
enum store_result records_move_aside(int folder, int records, const char *name, const char *why);
/* Deletes the files in it, for a full disk: a completed start has proven that none of them is
 * needed. Called on the startup thread, then by the collector. */
void records_empty_aside(int folder);

/* Returns the number in CURRENT.
 *
 * Returns STORE_OK, STORE_NOT_FOUND (CURRENT is missing, or has none), STORE_IO (logged). */
enum store_result records_current(int records, uint64_t *ret_number);
/* Makes CURRENT name that MANIFEST, durably. Returns STORE_OK, STORE_IO (logged). */
enum store_result records_set_current(int records, uint64_t number);

/* Copies bytes from..to of a file to the same offset in another. Returns STORE_OK, STORE_IO
 * (logged; also if the file is shorter). */
enum store_result records_copy(int from_fd, int to_fd, uint64_t from, uint64_t to);
/* Computes the CRC-64 of the first `length` bytes. Returns STORE_OK, STORE_NOT_FOUND (the file is
 * shorter), STORE_IO (logged). */
enum store_result records_crc64(int fd, uint64_t length, uint64_t *ret_crc);

#endif
