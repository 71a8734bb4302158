/* Reads the raw records of a space of any service: from a backup, to restore part of it, or from a
 * running store, to copy the space to another store. Does not change the backup's folder, which can
 * have several readers; backup/backup.h describes its format. For one thread; waits for the disk.
 *
 * Every record and every piece is verified against its checksum (store invariant 5). */
#ifndef LAGRA_STORE_ARCHIVE_H
#define LAGRA_STORE_ARCHIVE_H

#include "store/store.h"

struct archive;

/* folder: folder of one backup. masters: keys of the operator, for a backup that is encrypted at
 * rest; used only during the call; or NULL. *ret_problem: like store_open_embedded()
 *
 * Returns STORE_OK, STORE_NOT_FOUND if it is not a backup, STORE_CORRUPT, STORE_IO. */
enum store_result archive_open(const char *folder, const struct master_keys *masters,
                               struct archive **ret_archive, const char **ret_problem);
/* Reads a running store. Each partition is read as a consistent snapshot (archive_select()),
 * everything else in its state at the time of the call; archive_take_changes() returns later
 * changes. Returns NULL if the engine has no files. */
struct archive *archive_of(struct store *store);
void archive_close(struct archive *archive);

/* Returns the key of the first partition of the space after `after` (ptr NULL means the first of
 * all), in the arena.
 *
 * Returns STORE_OK, STORE_NOT_FOUND at the end, STORE_CORRUPT, STORE_IO. */
enum store_result archive_partition(struct archive *archive, struct guid space, struct bytes after,
                                    struct arena *arena, struct bytes *ret_key);

/* Opens a snapshot of the partition for archive_records() and archive_record(). Its pieces can be
 * read until another partition is selected. */
void archive_select(struct archive *archive, struct partition partition);
/* The arguments are valid only during the call. Returns false to stop. */
typedef bool archive_record_found(void *context, enum record_family family,
                                  const struct record *record);
/* Calls found() for the records of the selected partition: first LISTED, then INNER.
 *
 * Returns STORE_OK, even if found() stopped; STORE_CORRUPT, STORE_IO. */
enum store_result archive_records(struct archive *archive, archive_record_found *found,
                                  void *context);
/* Calls found() for one record of the selected partition; only for a running store. Returns
 * STORE_NOT_FOUND if it does not exist. */
enum store_result archive_record(struct archive *archive, enum record_family family,
                                 struct bytes key, archive_record_found *found, void *context);

/* One of: an index record of this partition; a counter (partition_key.ptr NULL, value 8 le); a
 * deferred task (key.ptr NULL, with due, kind, and its payload as value, ptr NULL if it has
 * none). */
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

/* ---- changes in a running store ---- */

/* Starts to record changes of a space, until archive_close(). Returns false if any space of the
 * store is already watched. */
bool archive_watch(struct archive *archive, struct guid space);
/* Returns true if the recorded changes use more than half of their maximum memory. */
bool archive_has_many_changes(struct archive *archive);

/* A record, index record or task of the watched space that was written or deleted. */
struct archive_change {
    enum { CHANGED_RECORD, CHANGED_INDEX, CHANGED_TASK } kind;
    enum record_family family;
    struct bytes partition_key, key; /* of a task: neither */
    struct bytes row;                /* the full key */
};
/* Returns the changes since the last call, or since archive_watch(), each once, in the arena;
 * records of one family of a partition are adjacent. Commits in progress may be returned only by
 * the next call.
 *
 * Returns STORE_OK; STORE_FULL if there were too many changes to record; STORE_CORRUPT. */
enum store_result archive_take_changes(struct archive *archive, struct arena *arena,
                                       struct archive_change **ret_changes, size_t *ret_count);
/* Calls found() for the changed index record or task. Returns STORE_NOT_FOUND if it does not
 * exist. */
enum store_result archive_changed_row(struct archive *archive, const struct archive_change *change,
                                      archive_row_found *found, void *context);

/* Reads all bytes of a piece; decrypts them if it is encrypted with a store key. A piece with the
 * key of a customer is read as it is stored. Returns STORE_OK, STORE_CORRUPT, STORE_IO (logged). */
enum store_result archive_piece(struct archive *archive, const struct piece *piece, char *to);

#endif
