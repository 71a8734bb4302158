/* Inside queue/: the low-water mark of a queue's order. A queue is consumed from its front, where
 * RocksDB keeps a mark for each record deleted; a get that began at the first key would step over
 * all of them. So it begins at the low-water mark: no order record lies before it.
 *
 * It is INNER 'w', a small record (service/small_record.h): mark, busy until, written (as message_now()). It may be
 * lower than it could be, and costs steps then; so not every get has to write it:
 *  - of the gets that take something one in FRONT_EVERY does, picked by its instant;
 *  - one that finds nothing does after FRONT_IDLE_S, and only as long as deletions may have left
 *    marks behind the place where it ended: a get on an idle queue writes nothing. */
#ifndef LAGRA_QUEUE_FRONT_H
#define LAGRA_QUEUE_FRONT_H

#include "queue/message.h"

#define FRONT_EVERY  64
#define FRONT_IDLE_S 5
/* Marks lie where messages would have become visible again: most of them so soon. */
#define FRONT_BUSY_S 60

struct front {
    instant mark;       /* 0: none yet */
    instant busy_until; /* marks may come to lie behind the mark until then */
    instant written;    /* by a get that found nothing; 0 */
};

/* returns STORE_OK (zeroed: none yet), STORE_CORRUPT, STORE_WAIT, STORE_IO */
enum store_result front_read(struct snapshot *before, struct arena *arena, struct front *ret_front);
/* A get that takes messages: all before `mark` are gone with its changes. */
void front_advance(struct decision *d, const struct front *front, instant mark);
/* A get that found nothing visible: there is nothing before its message_now(). */
void front_found_empty(struct decision *d, const struct front *front);

#endif
