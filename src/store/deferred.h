/* The list of deferred tasks, implemented on top of the engines: the keys of tasks, and a
 * low-water mark that keeps scans of the list's front fast.
 *
 *   'T' 8 be due, 16 id    1     version (1)
 *                          v     kind
 *                          v     length of the payload and 1, then the payload
 *                          rest  17.. of a key: space, escaped partition key (record_key.h)
 *   'W'                    8 be  the low-water mark: no task is due before it
 *
 * All deletions happen at the front of the list, so scans start at the mark rather than at the
 * beginning. The mark advances to the first remaining task, but never past the floor; tasks are
 * never added below the floor (a task due earlier is due at the floor). Each scan of the front
 * raises the floor to the current time while no commit is adding tasks; such commits hold `adding`
 * shared. */
#ifndef LAGRA_STORE_DEFERRED_H
#define LAGRA_STORE_DEFERRED_H

#include <pthread.h>

#include "base/lock.h"
#include "store/record_key.h"

/* Part of an engine's store. */
struct deferred {
    pthread_rwlock_t adding; /* acquired before the locks of spaces and stripes */
    instant floor;           /* under `adding` */
    struct lock lock;
    instant mark;          /* under lock */
    instant stored_mark;   /* value of the row 'W'; under lock */
    unsigned returns;      /* number of calls of deferred_return(); under lock */
    instant earliest;      /* earliest due time added since the last scan; under lock */
    struct waiter *waiter; /* waits for a task due before `waited_for`, or NULL; under lock */
    instant waited_for;
};

struct task_change;

void deferred_init(struct deferred *deferred);
/* Sets the mark found at startup. Called on the startup thread. */
void deferred_begin_at(struct deferred *deferred, instant mark);
void deferred_release(struct deferred *deferred);

/* Called when the list was replaced by an older one, which may have tasks that were due long ago.
 * The next scan then starts at the beginning of the list. */
void deferred_return(struct deferred *deferred);

/* Enclose the write of a commit that adds tasks. */
void deferred_enter(struct deferred *deferred);
void deferred_leave(struct deferred *deferred);
/* Builds key and value of a task that a commit to a partition adds; called between enter and
 * leave. Returns the time at which it will be due. */
instant deferred_task_rows(const struct deferred *deferred, const struct task_change *change,
                           struct bytes partition_prefix, struct key *key, struct text *value);
/* Called after the write, with the due time of an added task: wakes the waiter if necessary. */
void deferred_added(struct deferred *deferred, instant due);
/* Builds the key of a task that a commit removes. */
void deferred_done_key(const struct task_change *change, struct key *key);
/* Describes the row of a task; points into the row. */
struct task_row {
    instant due;
    struct guid id;
    uint32_t kind;
    struct bytes payload;
    struct guid space;
    struct bytes escaped; /* partition key */
};
/* Returns false if it is not the row of a task, or is corrupt. */
bool deferred_read_row(struct bytes key, struct bytes value, struct task_row *ret_row);
/* Returns true if the mark has advanced far enough to be stored, and its row. */
bool deferred_mark_row(struct deferred *deferred, struct key *key, char ret_value[8]);

#endif
