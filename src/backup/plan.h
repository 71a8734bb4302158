/* Which files a backup is made of, and how each comes there. Inside of backup/ only. */
#ifndef LAGRA_BACKUP_PLAN_H
#define LAGRA_BACKUP_PLAN_H

#include "backup/backup_private.h"

enum item_way {
    ITEM_COPY,
    ITEM_LINK,    /* it has not changed since the backup before */
    ITEM_COMPARE, /* what it has now may all be in the copy of the backup before: linked if so */
};

struct item {
    char name[BACKUP_PATH_SIZE]; /* in the backup */
    const char *base;            /* in its folder here: the end of `name` */
    int folder;                  /* where it is; the plan's */
    enum item_way way;
    uint64_t size, end;         /* of the copy; bytes from `end` on are left out */
    uint64_t inode, changed_ns; /* for the list: list.h */
    uint64_t bytes;             /* that it takes on the disk */
    uint32_t extent;            /* 0: not an extent */
};

struct plan {
    struct item *items; /* extents first, by rising id */
    size_t count, capacity;
    int records, extents; /* folders of the source */
};

/* Lists what the state consists of. before: the list of the backup before; empty when there is none. Adds up
 * the totals of the work's progress. */
bool plan_make(struct backup_work *work, const struct backup_source *source,
               const struct backup_state *state, const struct backup_list *before,
               struct plan *ret_plan);
void plan_release(struct plan *plan);

#endif
