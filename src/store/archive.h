/* Reading a backup, for those who restore a part of it: raw records of a space, whatever room they belong to. Nothing in
 * the folder is changed, and several may read it. What a backup is: backup/backup.h. One thread; waits for the disk.
 *
 * Every record and every piece is held against its sum (store invariant 5). */
#ifndef LAGRA_STORE_ARCHIVE_H
#define LAGRA_STORE_ARCHIVE_H

#include "store/store.h"

struct archive;

/* folder: of one backup. *ret_problem: as store_open_embedded().
 * returns STORE_OK, STORE_NOT_FOUND: not an archive, STORE_CORRUPT, STORE_IO */
enum store_result archive_open(const char *folder, struct archive **ret_archive,
                               const char **ret_problem);
void archive_close(struct archive *archive);

/* The key of the first partition of the space behind `after` (ptr NULL: of all), in the arena.
 * returns STORE_OK, STORE_NOT_FOUND: there is none, STORE_CORRUPT, STORE_IO */
enum store_result archive_partition(struct archive *archive, struct guid space, struct bytes after,
                                    struct arena *arena, struct bytes *ret_key);

/* What is found is valid during the call. False: it is enough. */
typedef bool archive_record_found(void *context, enum record_family family,
                                  const struct record *record);
/* The records of a partition: LISTED ones, then INNER ones.
 * returns STORE_OK, also where it was enough; STORE_CORRUPT, STORE_IO */
enum store_result archive_records(struct archive *archive, struct partition partition,
                                  archive_record_found *found, void *context);

/* Of an index: a record of this partition; a counter: partition.ptr NULL, value 8 le; a deferred task: key.ptr NULL, due
 * and kind, value: its payload (ptr NULL: none). */
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

/* All bytes of a piece. returns STORE_OK, STORE_CORRUPT, STORE_IO (logged) */
enum store_result archive_piece(struct archive *archive, const struct piece *piece, char *to);

#endif
