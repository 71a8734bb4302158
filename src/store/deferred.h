/* The list of deferred tasks, above the engines: how a task lies in the key space, and what
 * keeps its front clear.
 *
 *   'T' 8 be due, 16 id    1     version (1)
 *                          v     kind
 *                          v     length of the payload and 1, then the payload
 *                          rest  17.. of a key: space, escaped partition key (record_key.h)
 *   'W'                    8 be  the low-water mark: no task is due before it
 *
 * The front of the list is where all deletions are, so it is never scanned from its beginning but
 * from the mark. The mark moves up to the first task that is left, and never past the floor; new
 * tasks are never put below the floor (what is due earlier is due at it). The floor moves up to now
 * with each look at the front, while no commit is adding: commits that add hold `adding` shared. */
#ifndef LAGRA_STORE_DEFERRED_H
#define LAGRA_STORE_DEFERRED_H

#include <pthread.h>

#include "base/lock.h"
#include "store/record_key.h"

/* Part of an engine's store. */
struct deferred {
    pthread_rwlock_t adding; /* before the locks of spaces and stripes */
    instant floor;           /* under `adding` */
    struct lock lock;
    instant mark;          /* under lock */
    instant stored_mark;   /* of the row 'W'; under lock */
    unsigned returns;      /* deferred_return() was called so often; under lock */
    instant earliest;      /* due, of what was added since the last look; under lock */
    struct waiter *waiter; /* for something due before `waited_for`; NULL: none; under lock */
    instant waited_for;
};

struct task_change;

void deferred_init(struct deferred *deferred);
/* The mark that a start finds. Start-up thread. */
void deferred_begin_at(struct deferred *deferred, instant mark);
void deferred_release(struct deferred *deferred);

/* The list has become another one, with tasks that may have been due long ago: it is looked at from its beginning. */
void deferred_return(struct deferred *deferred);

/* Around the write of a commit that adds tasks. */
void deferred_enter(struct deferred *deferred);
void deferred_leave(struct deferred *deferred);
/* The key and the value of a task that a commit to a partition adds. Between enter and leave.
 * Returns when it will be due. */
instant deferred_task_rows(const struct deferred *deferred, const struct task_change *change,
                           struct bytes partition_prefix, struct key *key, struct text *value);
/* After the write: something due then was added. */
void deferred_added(struct deferred *deferred, instant due);
/* The key of a task that a commit removes. */
void deferred_done_key(const struct task_change *change, struct key *key);
/* True when the mark has moved so far that it is worth a row; the row's value. */
bool deferred_mark_row(struct deferred *deferred, struct key *key, char ret_value[8]);

#endif
