/* The files of the folder records/ by RocksDB's names, and the folder aside/ where a start puts
 * what it does not understand instead of letting RocksDB delete it. */
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
    struct records_file *list; /* by rising number */
    size_t count;
};

#define RECORDS_NAME_SIZE 32

/* "000012.sst", "000012.log", "MANIFEST-000012" */
void records_file_name(char to[RECORDS_NAME_SIZE], enum records_kind kind, uint64_t number);
/* False: it is none of these. */
bool records_parse_name(const char *name, enum records_kind *ret_kind, uint64_t *ret_number);
/* Lists them; other files are left out. returns STORE_OK, STORE_IO (logged) */
enum store_result records_files_list(int records, struct records_files *ret_files);
/* The number of the newest log; 0: none. returns STORE_OK, STORE_IO (logged) */
enum store_result records_newest_log(int records, uint64_t *ret_number);
void records_files_release(struct records_files *files);
/* Bytes of all logs, which an opening writes into tables. returns STORE_OK, STORE_IO (logged) */
enum store_result records_log_bytes(int records, uint64_t *ret_bytes);
const struct records_file *records_files_find(const struct records_files *files,
                                              enum records_kind kind, uint64_t number);

/* Makes all files of records/ durable, and their names: what lies there before RocksDB's own syncs are waited for.
 * folder: of the data. returns STORE_OK, STORE_IO (logged) */
enum store_result records_sync_all(int folder);

/* Moves a file of records/ into aside/, which is made when needed, and says so in the log. At most
 * ASIDE_BYTES are kept there, the oldest go first. folder: of the data. */
#define ASIDE_BYTES (256ull << 20)
enum store_result records_move_aside(int folder, int records, const char *name, const char *why);
/* Gives up what lies there, for a disk that is full: the start that is over has proven that nothing
 * of it is needed. Start-up thread, then the collector. */
void records_empty_aside(int folder);

/* The number that CURRENT names.
 * returns STORE_OK, STORE_NOT_FOUND (it is missing, or names none), STORE_IO (logged) */
enum store_result records_current(int records, uint64_t *ret_number);
/* Makes CURRENT name that MANIFEST, durably. returns STORE_OK, STORE_IO (logged) */
enum store_result records_set_current(int records, uint64_t number);

/* Copies bytes from..to of a file to the same place in another. returns STORE_OK, STORE_IO (logged;
 * also when the file is shorter) */
enum store_result records_copy(int from_fd, int to_fd, uint64_t from, uint64_t to);
/* CRC-64 of the first `length` bytes. returns STORE_OK, STORE_NOT_FOUND (the file is shorter),
 * STORE_IO (logged) */
enum store_result records_crc64(int fd, uint64_t length, uint64_t *ret_crc);

#endif
