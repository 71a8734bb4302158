/* The list of a backup's files, backup.list, as lines of text.
 *
 *   lagra backup 1
 *   made 2026-11-26T00:45:12.1234567Z
 *   sequence 812
 *   file CRC-32C(hex) SIZE INODE CHANGED NAME      one per file, sorted by name
 *   end COUNT CRC-32C(hex)                          of all bytes before this line
 *
 * INODE and CHANGED (ns since 1970) are those of the original file, by which the next backup
 * detects that it is unchanged. Both are 0 if a later change of the file might go undetected. */
#ifndef LAGRA_BACKUP_LIST_H
#define LAGRA_BACKUP_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dates.h"

struct backup_file {
    char *name;
    uint64_t size;
    uint32_t crc;
    uint64_t inode, changed_ns;
};

struct backup_list {
    instant made;
    uint64_t sequence; /* of the newest change in the backup */
    struct backup_file *files;
    size_t count, capacity;
};

/* Adds a file; copies its name. */
void backup_list_add(struct backup_list *list, const struct backup_file *file);
/* Sorts the list; required before writing or searching it. */
void backup_list_sort(struct backup_list *list);
/* Returns NULL if there is no file with that name. */
const struct backup_file *backup_list_find(const struct backup_list *list, const char *name);
void backup_list_release(struct backup_list *list);

/* Writes the list durably to an empty file. Returns false with errno on failure. */
bool backup_list_write(const struct backup_list *list, int fd);
/* Reads a list. Returns false with errno set on failure; errno is 0 if the list is corrupt or of
 * another version. */
bool backup_list_read(int fd, struct backup_list *ret_list);

/* Returns true if a backup may contain a file of that name. No other name is ever used as a
 * path. */
bool backup_list_knows(const char *name);

#endif
