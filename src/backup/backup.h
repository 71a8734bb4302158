/* Backups: whole copies of a data folder, each of one moment, taken while a server uses it.
 *
 *   DIR/20261126T004512.123Z/     one backup, named by when it began (UTC); the newest has the last name
 *       records/ extents/ synced format    a data folder as a start takes it
 *       backup.list                        its files and their sums (list.h)
 *   DIR/20261126T004512.123Z.tmp/ one that is being made, or that a kill ended: the next one removes it
 *
 * A file that has not changed since the backup before is a hard link to it there. So each backup is whole,
 * any of them may be deleted, and none may be served from: a start refuses a folder with a backup.list.
 * backup_restore() makes a data folder of one.
 *
 * Of kills: a backup has its name only when all of it is on the disk. decision: 370 */
#ifndef LAGRA_BACKUP_BACKUP_H
#define LAGRA_BACKUP_BACKUP_H

#include "store/backup.h"

/* The name of a backup, and its NUL. */
#define BACKUP_NAME_SIZE    21
#define BACKUP_PROBLEM_SIZE 512

struct backup_progress {
    uint64_t files, files_total;
    uint64_t bytes, bytes_total; /* that are read */
    uint64_t linked_bytes;       /* of files that are shared with the backup before */
};

/* One piece of work: of one thread, which waits for disks and sleeps. */
struct backup_work {
    uint64_t rate; /* at most so many bytes a second; 0: no limit */
    /* Called for every MiB that is read, and for every file. False ends the work; it says why in
     * `problem`. NULL: nobody asks */
    bool (*step)(struct backup_work *work);
    void *context;
    bool shares_nothing; /* of backup_take(): copies everything anew */
    struct backup_progress progress;
    char problem[BACKUP_PROBLEM_SIZE]; /* once it has failed: a sentence without an end */
    uint64_t began_ns;                 /* of work.c */
};

/* The holder of the state that is copied. */
struct backup_source {
    const char *location; /* data folder */
    void *context;
    /* As store_backup_begin(), .._copied(), .._end(). False: says why in work->problem. After a begin that
     * succeeded, end is called once. */
    bool (*begin)(struct backup_work *work, void *context, struct backup_state *ret_state);
    bool (*copied)(struct backup_work *work, void *context, uint32_t extent);
    bool (*end)(struct backup_work *work, void *context);
};

/* Makes a backup in the folder `to`, which is made when it is missing.
 * ret_name     of the backup there
 * returns      false: why is in work->problem; nothing of it is left there */
bool backup_take(struct backup_work *work, const struct backup_source *source, const char *to,
                 char ret_name[BACKUP_NAME_SIZE]);

/* Reads every file of a backup and holds it against its sum. folder: of a backup, or of backups: then of the
 * newest one there.
 * say      called for each file that is damaged, missing or too many
 * returns  false: something is wrong; work->problem has the first of what */
bool backup_verify(struct backup_work *work, const char *folder,
                   void (*say)(struct backup_work *work, const char *sentence));

/* The same of its records alone, which are held against their sums before they are read; pieces have sums of their own.
 * returns  the folder of the backup, open; -1: something is wrong, work->problem has the first of what */
int backup_verify_records(struct backup_work *work, const char *folder);

/* Makes a data folder of a backup (folder: as above): copies it, holding each file against its sum.
 * to       made, or an empty folder
 * returns  false: why is in work->problem; nothing is left there */
bool backup_restore(struct backup_work *work, const char *folder, const char *to);

#endif
