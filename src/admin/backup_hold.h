/* The state that is held for a backup while another process copies it (store/backup.h): the three operations
 * that `lagra backup` asks for, and what becomes of a state whose process is gone.
 *
 *   backup-begin   the state is held; whoever asks has shut out all others (program/backup.c), so that a state
 *                  that is still held is one whose process is gone: it is ended first
 *   backup-hold    goes on; it has copied so many extents
 *   backup-end     ends it, and says whether it was held until now
 *   backup-state   for who looks on: how far it is
 *
 * A state of which nothing was heard for BACKUP_HOLD_S is ended too: else what is deleted would never give its
 * room back. */
#ifndef LAGRA_ADMIN_BACKUP_HOLD_H
#define LAGRA_ADMIN_BACKUP_HOLD_H

#include "base/lock.h"
#include "store/backup.h"

#define BACKUP_HOLD_S 60

/* HOLD_BUSY: a thread begins or ends it, and waits for the disk. */
enum backup_hold_state { HOLD_NONE, HOLD_BUSY, HOLD_HELD };

struct backup_hold {
    struct store *store;
    const char *location; /* of its data */
    struct lock lock;
    enum backup_hold_state state; /* under lock, as the next two */
    struct guid id;               /* of the state, for the process that holds it */
    uint64_t heard_ms;            /* when it was heard of last; CLOCK_MONOTONIC */
    /* Under lock, for who looks on: when it began, extents of the state and those that were copied; and when the last one
     * ended, and whether it was held until then. */
    instant began, ended;
    uint32_t last_extent, copied_extent;
    bool ended_well;
};

/* location: of the store's data; when it was backed up last is read and kept there */
void backup_hold_init(struct backup_hold *hold, struct store *store, const char *location);
/* Ends a state that nobody asked for lately. Every second or so. Main thread. */
void backup_hold_look(struct backup_hold *hold);
/* Ends what is held. No operation is under way. Main thread. */
void backup_hold_release(struct backup_hold *hold);

#endif
