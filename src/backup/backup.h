/* Backups: complete copies of a data directory, each a consistent snapshot, taken while a server
 * uses it.
 *
 *   DIR/20261126T004512.123Z/     one backup, named after its start (UTC); the last one is newest
 *       records/ extents/ synced format keys    a data directory ready to start
 *       backup.list                        its files and their checksums (list.h)
 *   DIR/20261126T004512.123Z.tmp/ unfinished, possibly by a kill; removed by the next backup
 *
 * A file that has not changed since the previous backup is a hard link to its copy there. So each
 * backup is complete and any of them may be deleted. A server refuses to start on a directory with
 * a backup.list; backup_restore() creates a data directory from a backup.
 *
 * A backup gets its name only when all of it is on disk, so a kill never leaves an incomplete one.
 * decision: 370 */
#ifndef LAGRA_BACKUP_BACKUP_H
#define LAGRA_BACKUP_BACKUP_H

#include "store/backup.h"

/* Length of a backup's name, with NUL. */
#define BACKUP_NAME_SIZE    21
#define BACKUP_PROBLEM_SIZE 512

struct backup_progress {
    uint64_t files, files_total;
    uint64_t bytes, bytes_total; /* to be read */
    uint64_t linked_bytes;       /* of files shared with the previous backup */
};

/* One operation of one thread, which waits for disks and sleeps. */
struct backup_work {
    uint64_t rate; /* maximum bytes per second; 0 means unlimited */
    /* Called for every MiB read, and for every file. Returns false to cancel, after setting
     * `problem`. May be NULL. */
    bool (*step)(struct backup_work *work);
    void *context;
    bool shares_nothing; /* backup_take(): copies all files instead of linking */
    struct backup_progress progress;
    char problem[BACKUP_PROBLEM_SIZE]; /* after a failure: a sentence without full stop */
    uint64_t began_ns;                 /* internal to work.c */
};

/* The server or store that provides the state to copy. */
struct backup_source {
    const char *location; /* data folder */
    void *context;
    /* Like store_backup_begin(), .._copied(), .._end(). Return false after setting work->problem.
     * After a successful begin, end is called once. */
    bool (*begin)(struct backup_work *work, void *context, struct backup_state *ret_state);
    bool (*copied)(struct backup_work *work, void *context, uint32_t extent);
    bool (*end)(struct backup_work *work, void *context);
};

/* Creates a backup in the directory `to`, which is created if missing.
 * ret_name     name of the backup
 * returns      false with work->problem; then nothing of it is left */
bool backup_take(struct backup_work *work, const struct backup_source *source, const char *to,
                 char ret_name[BACKUP_NAME_SIZE]);

/* Reads every file of a backup and verifies its checksum. folder: a backup, or a directory of
 * backups, of which the newest is used.
 * say      called for each file that is corrupt, missing or unexpected
 * returns  false if there is a problem; work->problem has the first one */
bool backup_verify(struct backup_work *work, const char *folder,
                   void (*say)(struct backup_work *work, const char *sentence));

/* Like backup_verify(), but only for the records, whose checksums are verified before they are
 * read; pieces have their own checksums. Returns a descriptor of the backup's directory, or -1 with
 * work->problem. */
int backup_verify_records(struct backup_work *work, const char *folder);

/* Restores a backup (folder: see backup_verify()) to a data directory, verifying each file's
 * checksum while copying.
 * to       created, or an empty directory
 * returns  false with work->problem; then nothing is left there */
bool backup_restore(struct backup_work *work, const char *folder, const char *to);

#endif
