/* The snapshot held for a backup while another process copies it (store/backup.h): the operations
 * used by `lagra backup`, and the cleanup when its process is gone.
 *
 *   backup-begin   holds a snapshot; the caller has excluded all others (program/backup.c), so a
 *                  snapshot still held belongs to a dead process: it is released first
 *   backup-hold    continues; reports the number of copied extents
 *   backup-end     releases it, and reports whether it was held until now
 *   backup-state   progress, for observers
 *
 * A snapshot without contact for BACKUP_HOLD_S is released too; otherwise the space of deleted data
 * would never be freed. */
#ifndef LAGRA_ADMIN_BACKUP_HOLD_H
#define LAGRA_ADMIN_BACKUP_HOLD_H

#include <stdint.h>

#include "base/lock.h"
#include "store/backup.h"

#define BACKUP_HOLD_S 60

/* HOLD_BUSY: a thread is creating or releasing it, and blocks for the disk. */
enum backup_hold_state { HOLD_NONE, HOLD_BUSY, HOLD_HELD };

struct backup_hold {
    struct store *store;
    const char *location; /* data directory */
    struct lock lock;
    enum backup_hold_state state; /* under lock, like the next two */
    struct guid id;               /* of the snapshot, for the process that holds it */
    uint64_t heard_ms;            /* time of the last contact; CLOCK_MONOTONIC */
    /* Under lock, for observers: start time, extents of the snapshot and those copied; end of the
     * last one, and whether it was held until then. */
    instant began, ended;
    uint32_t last_extent, copied_extent;
    bool ended_well;
};

/* location: the store's data directory, from which the time of the last backup is read */
void backup_hold_init(struct backup_hold *hold, struct store *store, const char *location);
/* Releases a snapshot without recent contact. Called about once a second. Main thread only. */
void backup_hold_expire(struct backup_hold *hold);
/* Releases the snapshot. No operation may be in progress. Main thread only. */
void backup_hold_release(struct backup_hold *hold);

/* Writes the time of a data directory's last backup to the directory's file "backed-up". A failure is logged; it
 * only affects a metric. */
void backup_record_write(const char *location, int64_t seconds);

#endif
