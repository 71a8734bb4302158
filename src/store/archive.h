/* Reads raw records of a space, of any service: from a backup, in order to restore a part of it, or
 * from a running store, in order to copy the space to another one. A backup's folder is not changed,
 * and can have several readers; its format: backup/backup.h. One thread; waits for the disk.
 *
 * Every record and every piece is verified against its checksum (store invariant 5). */
#ifndef LAGRA_STORE_ARCHIVE_H
#define LAGRA_STORE_ARCHIVE_H

#include "store/store.h"

struct archive;

/* folder: of one backup. *ret_problem: as store_open_embedded()
 *
 * Returns STORE_OK, STORE_NOT_FOUND if it is not a backup, STORE_CORRUPT, STORE_IO. */
enum store_result archive_open(const char *folder, struct archive **ret_archive,
                               const char **ret_problem);
/* Reads a running store. A space or a partition must not change while it is read: store_hold_space(), or
 * the caller finds out afterwards. Returns NULL if the engine has no files. */
struct archive *archive_of(struct store *store);
void archive_close(struct archive *archive);

/* Returns the key of the first partition of the space after `after` (ptr NULL: the very first), in
 * the arena.
 *
 * Returns STORE_OK, STORE_NOT_FOUND at the end, STORE_CORRUPT, STORE_IO. */
enum store_result archive_partition(struct archive *archive, struct guid space, struct bytes after,
                                    struct arena *arena, struct bytes *ret_key);

/* Its arguments are valid during the call. Returns false to stop. */
typedef bool archive_record_found(void *context, enum record_family family,
                                  const struct record *record);
/* Calls found() for the records of a partition: first LISTED, then INNER.
 *
 * Returns STORE_OK, also if found() stopped; STORE_CORRUPT, STORE_IO. */
enum store_result archive_records(struct archive *archive, struct partition partition,
                                  archive_record_found *found, void *context);

/* An index record of this partition; or a counter: partition_key.ptr NULL, value 8 le; or a
 * deferred task: key.ptr NULL, due, kind, and value: its payload (ptr NULL: none). */
struct archive_row {
    struct bytes partition_key, key, value;
    instant due;
    uint32_t kind;
};
typedef bool archive_row_found(void *context, const struct archive_row *row);
enum store_result archive_index(struct archive *archive, struct guid space,
                                archive_row_found *found, void *context);
enum store_result archive_counters(struct archive *archive, struct guid space,
                                   archive_row_found *found, void *context);
enum store_result archive_tasks(struct archive *archive, struct guid space,
                                archive_row_found *found, void *context);

/* Reads all bytes of a piece. Returns STORE_OK, STORE_CORRUPT, STORE_IO (logged). */
enum store_result archive_piece(struct archive *archive, const struct piece *piece, char *to);

#endif
