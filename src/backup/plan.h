/* Internal to backup/: the files of a backup, and how each is transferred. */
#ifndef LAGRA_BACKUP_PLAN_H
#define LAGRA_BACKUP_PLAN_H

#include "backup/backup_private.h"

enum item_way {
    ITEM_COPY,
    ITEM_LINK,    /* unchanged since the previous backup */
    ITEM_COMPARE, /* its data may be a subset of the previous backup's copy, which is then linked */
};

struct item {
    char name[BACKUP_PATH_SIZE]; /* in the backup */
    const char *base;            /* last component of `name` */
    int folder;                  /* descriptor of its directory, owned by the plan */
    enum item_way way;
    uint64_t size, end;         /* size of the copy; bytes from `end` on are not copied */
    uint64_t inode, changed_ns; /* for the list: list.h */
    uint64_t bytes;             /* disk space used */
    uint32_t extent;            /* 0 means not an extent */
};

struct plan {
    struct item *items; /* extents first, ascending by id */
    size_t count, capacity;
    int records, extents; /* descriptors of the source's directories */
};

/* Lists the files of the state. before: the list of the previous backup; empty if none exists.
 * Computes the totals for the progress reports. */
bool plan_make(struct backup_work *work, const struct backup_source *source,
               const struct backup_state *state, const struct backup_list *before,
               struct plan *ret_plan);
void plan_release(struct plan *plan);

#endif
