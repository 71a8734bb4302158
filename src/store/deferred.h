/* The list of deferred tasks, implemented on top of the engines: the keys of tasks, and the
 * low-water mark that keeps the front of the list fast.
 *
 *   'T' 8 be due, 16 id    1     version (1)
 *                          v     kind
 *                          v     length of the payload and 1, then the payload
 *                          rest  17.. of a key: space, escaped partition key (record_key.h)
 *   'W'                    8 be  the low-water mark: no task is due before it
 *
 * All deletions happen at the front of the list, so scans start at the mark rather than at the
 * beginning. The mark advances to the first remaining task, but never past the floor; tasks are
 * never added below the floor (a task due earlier is due at the floor). Each look at the front
 * raises the floor to the current time, while no commit is adding tasks: those commits hold
 * `adding` shared. */
#ifndef LAGRA_STORE_DEFERRED_H
#define LAGRA_STORE_DEFERRED_H

#include <pthread.h>

#include "base/lock.h"
#include "store/record_key.h"

/* Part of an engine's store. */
struct deferred {
    pthread_rwlock_t adding; /* taken before the locks of spaces and stripes */
    instant floor;           /* under `adding` */
    struct lock lock;
    instant mark;          /* under lock */
    instant stored_mark;   /* value of the row 'W'; under lock */
    unsigned returns;      /* number of calls of deferred_return(); under lock */
    instant earliest;      /* earliest due time added since the last look; under lock */
    struct waiter *waiter; /* waits for a task due before `waited_for`; NULL: none; under lock */
    instant waited_for;
};

struct task_change;

void deferred_init(struct deferred *deferred);
/* Sets the mark found at startup. Startup thread. */
void deferred_begin_at(struct deferred *deferred, instant mark);
void deferred_release(struct deferred *deferred);

/* Called when the list was replaced by an older one, which may have tasks due long ago: the next
 * look starts at its beginning. */
void deferred_return(struct deferred *deferred);

/* Enclose the write of a commit that adds tasks. */
void deferred_enter(struct deferred *deferred);
void deferred_leave(struct deferred *deferred);
/* Makes key and value of a task that a commit to a partition adds. Between enter and leave. Returns
 * when it will be due. */
instant deferred_task_rows(const struct deferred *deferred, const struct task_change *change,
                           struct bytes partition_prefix, struct key *key, struct text *value);
/* Called after the write, with the due time of an added task: wakes the waiter if necessary. */
void deferred_added(struct deferred *deferred, instant due);
/* Makes the key of a task that a commit removes. */
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
/* Returns false if it is not the row of a task, or damaged. */
bool deferred_read_row(struct bytes key, struct bytes value, struct task_row *ret_row);
/* Returns true if the mark has advanced far enough to write its row, and the row. */
bool deferred_mark_row(struct deferred *deferred, struct key *key, char ret_value[8]);

#endif
