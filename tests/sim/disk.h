/* A file system in the world's memory. For every sector it knows what the server wrote and what is
 * durable, and the same for every name; a power cut keeps what is durable and any part of the rest.
 *
 * The rules are POSIX's alone, stricter than any one file system: fsync() of a file makes its bytes
 * and size durable, not its name; fsync() of a directory makes its names durable. */
#ifndef LAGRA_SIM_DISK_H
#define LAGRA_SIM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cells.h"

#define PAGE_SIZE    4096u
#define SECTOR_SIZE  512u
#define NAME_MAX_SIM 64

struct inode;

struct entry {
    struct entry *next;
    struct inode *inode;
    char name[NAME_MAX_SIM];
};

/* A page of a file. NULL stands for zeros. */
struct page {
    unsigned char *now;
    unsigned char *durable; /* where a bit is set below: what the sector has on the disk */
    uint8_t dirty;          /* by sector: written and not synced */
    uint8_t stuck;          /* by sector: never to be written, though a sync said so */
    bool is_listed;
    uint64_t number;
    struct page *next_dirty;
};

struct inode {
    struct inode *next; /* of all */
    uint64_t id;
    bool is_directory;
    unsigned kind; /* 1: extents and what is in it; 2: records; 0: others */
    enum file_kind file;
    unsigned refs; /* names now, names on the disk, changes of names that are on their way */
    unsigned opens;
    unsigned locked; /* session that holds the lock (fleet.h), or 1; 0 if it is not locked */
    uint64_t size, durable_size;
    struct page ***pages; /* of runs of 512 */
    size_t runs;
    struct page *dirty;
    uint64_t pages_used;
    struct entry *entries, *durable_entries;
    struct inode *parent;
    unsigned cell;    /* number of the cell in whose folder it is, or 0 */
    bool holds_cells; /* contains the folders of cells */
};

/* What a sector had before it was synced, and what it has since: for a disk that lost the write, or
 * wrote it elsewhere. */
struct rewrite {
    uint64_t inode; /* id; 0: none */
    uint64_t offset;
    unsigned char before[SECTOR_SIZE], after[SECTOR_SIZE];
};
#define REWRITES 64u

struct disk {
    struct rewrite rewrites[REWRITES]; /* some of the last */
    unsigned rewritten;
    struct inode *inodes, *root;
    uint64_t next_id;
    struct rename_on_its_way *changes, **changes_end;
    uint64_t pages_used;
    uint64_t pages_max; /* ENOSPC beyond */
    uint64_t syncs, writes, reads;
};

/* How a sync that fails leaves what it should have written (Rebello et al., ATC 2020). */
enum sync_failure { SYNC_DROPS, SYNC_KEEPS, SYNC_MARKS_CLEAN, SYNC_FAILURES };

void disk_begin(void);

struct inode *disk_find(struct inode *from, const char *path, struct inode **ret_folder,
                        const char **ret_last);
/* NULL: the name is there already. */
struct inode *disk_create(struct inode *folder, const char *name, bool is_directory);
/* What a file of that name in the folder is. */
enum file_kind disk_file_kind(const struct inode *folder, const char *name);
struct entry *disk_entry(struct inode *folder, const char *name);
void disk_remove(struct inode *folder, const char *name);
void disk_rename(struct inode *from, const char *old_name, struct inode *to, const char *name);
void disk_link(struct inode *folder, const char *name, struct inode *inode);
void disk_open(struct inode *inode);
void disk_close(struct inode *inode);

/* NULL: zeros. */
unsigned char *disk_page(const struct inode *inode, uint64_t number);
size_t disk_read(const struct inode *inode, uint64_t at, void *to, size_t size);
/* False: no space; nothing was written of the page that found none. */
size_t disk_write(struct inode *inode, uint64_t at, const void *from, size_t size);
void disk_zero(struct inode *inode, uint64_t from, uint64_t to);
void disk_truncate(struct inode *inode, uint64_t size);
/* First offset at or after `at` with bytes; UINT64_MAX: none. */
uint64_t disk_next_data(const struct inode *inode, uint64_t at);

void disk_sync(struct inode *inode);
void disk_fail_sync(struct inode *inode, enum sync_failure how);

/* ---- of a file system that several machines share ---- */

/* Drops the locks of a session, which are in one cell. Returns that, or 0 if it had none. */
unsigned disk_unlock(unsigned session);
/* Loses part of a cell's unsynced data, like a power cut, while the disk is in use. */
void disk_lose_unsynced(unsigned cell);
void disk_sync_cell(unsigned cell);
void disk_sync_all(void);

/* The process is gone, the machine lives. */
void disk_kill(void);
/* The power is gone. */
void disk_power_cut(void);
#endif
