/* Internal to queue/: the low-water mark of a queue's order. A queue is consumed from its front,
 * where RocksDB keeps a tombstone for each deleted record; a get that started at the first key
 * would step over all of them. So it starts at the low-water mark: no order record is before it.
 *
 * It is INNER 'w', a small record (service/small_record.h): mark, busy until, written (as
 * message_now()). It may be lower than possible, which only costs steps, so not every get has to
 * write it:
 *  - of the gets that return messages, one in FRONT_EVERY writes it, selected by its instant;
 *  - a get that finds nothing writes it after FRONT_IDLE_S, and only as long as deletions may have
 *  left tombstones after the position where it ended: a get on an idle queue writes nothing. */
#ifndef LAGRA_QUEUE_FRONT_H
#define LAGRA_QUEUE_FRONT_H

#include "queue/message.h"

#define FRONT_EVERY  64
#define FRONT_IDLE_S 5
/* A deleted message leaves a tombstone at the time at which it would have become visible again;
 * for most messages that is within this many seconds. */
#define FRONT_BUSY_S 60

struct front {
    instant mark;       /* 0 if not set yet */
    instant busy_until; /* tombstones may be added after the mark until then */
    instant written;    /* by a get that found nothing; otherwise 0 */
};

/* Returns STORE_OK (zeroed if not set yet), STORE_CORRUPT, STORE_WAIT, STORE_IO. */
enum store_result front_read(struct read_view *before, struct arena *arena,
                             struct front *ret_front);
/* Called by a get that returns messages: its changes delete everything before `mark`. */
void front_advance(struct decision *d, const struct front *front, instant mark);
/* Called by a get that found nothing visible: there is nothing before its message_now(). */
void front_found_empty(struct decision *d, const struct front *front);

#endif
