/* Internal to file/. Reads the records of directory entries for listings. Each record is in its
 * node's partition and is read after the names, so it can be newer than the list of names.
 * decision: 332 */
#ifndef LAGRA_FILE_ENTRY_FILE_H
#define LAGRA_FILE_ENTRY_FILE_H

#include "file/file.h"

/* Maximum number of entries that a worker reads; longer lists are read by a thread that may
 * block. */
#define ENTRIES_ON_WORKER 64u
/* Upper bound of the memory for one record. */
#define ENTRY_ARENA_MAX   ((size_t)1 << 20)

/* Reads the record of an entry. If another file has the name by now, updates *entry to that file.
 * Adds no part to the decision. The strings of *ret_file are in the arena.
 * Returns STORE_OK; STORE_NOT_FOUND: the name no longer exists; as read_view_get(). */
enum store_result entry_file_read(struct decision *d, uint64_t directory, struct arena *arena,
                                  struct tree_entry *entry, struct file *ret_file);

#endif
