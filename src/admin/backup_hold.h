/* Holds a snapshot for a backup while `lagra backup`, another process, copies it (store/backup.h).
 *
 *   backup-begin   creates and holds a snapshot. The caller excludes other backups (cli/backup.c),
 *                  so a snapshot that is still held belongs to a dead process and is released first
 *   backup-hold    extends the hold; reports the number of copied extents
 *   backup-end     releases the snapshot, and reports whether it was held until then
 *   backup-state   progress, for observers
 *
 * A snapshot is also released after BACKUP_HOLD_S without contact; otherwise the space of deleted
 * data would never be freed. */
#ifndef LAGRA_ADMIN_BACKUP_HOLD_H
#define LAGRA_ADMIN_BACKUP_HOLD_H

#include <stdint.h>

#include "base/lock.h"
#include "store/backup.h"

#define BACKUP_HOLD_S 60

/* HOLD_BUSY: a thread is creating or releasing the snapshot, and may wait for the disk. */
enum backup_hold_state { HOLD_NONE, HOLD_BUSY, HOLD_HELD };

struct backup_hold {
    struct store *store;
    const char *location; /* data directory */
    struct lock lock;
    enum backup_hold_state state; /* under lock, like the next two */
    struct guid id;               /* id of the snapshot, for the process that copies it */
    uint64_t heard_ms;            /* time of the last contact; CLOCK_MONOTONIC */
    /* Under lock, reported by backup-state: start and end of the last backup, last extent of the
     * snapshot and last copied one, and whether the snapshot was held until the end. */
    instant began, ended;
    uint32_t last_extent, copied_extent;
    bool ended_well;
};

/* Initializes the hold. location: data directory, from which the time of the last backup is read */
void backup_hold_init(struct backup_hold *hold, struct store *store, const char *location);
/* Releases the snapshot if there was no contact for BACKUP_HOLD_S. Called about once a second. Main
 * thread only. */
void backup_hold_expire(struct backup_hold *hold);
/* Releases the snapshot at shutdown. No operation may be in progress. Main thread only. */
void backup_hold_release(struct backup_hold *hold);

/* Writes the time of the last backup to the file "backed-up" in the data directory. A failure is
 * logged and affects only a metric. */
void backup_record_write(const char *location, int64_t seconds);

#endif
