/* The list of a backup's files, backup.list: lines of text.
 *
 *   lagra backup 1
 *   made 2026-11-26T00:45:12.1234567Z
 *   sequence 812
 *   file CRC-32C(hex) SIZE INODE CHANGED NAME      one each, by rising names
 *   end COUNT CRC-32C(hex)                          of all bytes before this line
 *
 * INODE and CHANGED (ns since 1970) are those of the file that was copied, by which the next backup sees that
 * it is the same still; 0 and 0: it may have changed without a trace. */
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
    uint64_t sequence; /* of the newest change in it */
    struct backup_file *files;
    size_t count, capacity;
};

/* Adds a file; its name is copied. */
void backup_list_add(struct backup_list *list, const struct backup_file *file);
/* Sorts it; before it is written, and before anything is found. */
void backup_list_sort(struct backup_list *list);
/* NULL: there is none of that name. */
const struct backup_file *backup_list_find(const struct backup_list *list, const char *name);
void backup_list_release(struct backup_list *list);

/* Writes it to an empty file, durably. False: errno. */
bool backup_list_write(const struct backup_list *list, int fd);
/* Reads it. False: errno, 0 when it is damaged or of another version. */
bool backup_list_read(int fd, struct backup_list *ret_list);

/* Is it the name of a file that a backup may have? Nothing else is ever made a path. */
bool backup_list_knows(const char *name);

#endif
