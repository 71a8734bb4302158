/* Internal to queue/: the low-water mark of a queue's order. A queue is consumed from its front,
 * where RocksDB keeps a tombstone for each deleted record, and a get that started at the first key
 * would have to skip them all. It therefore starts at the low-water mark; no order record is before
 * it.
 *
 * The mark is stored in the record INNER 'w' (service/small_record.h): mark, busy until, written
 * (in message_now() time). A mark that is lower than possible only makes gets slower, so not every
 * get has to write it:
 *  - of the gets that return messages, about one in FRONT_EVERY writes it, chosen by the instant of
 *    the decision;
 *  - a get that finds nothing writes it if the mark is at least FRONT_IDLE_S old, but only while
 *    there may be new tombstones after it, so gets on an idle queue write nothing. */
#ifndef LAGRA_QUEUE_FRONT_H
#define LAGRA_QUEUE_FRONT_H

#include "queue/message.h"

#define FRONT_EVERY  64
#define FRONT_IDLE_S 5
/* A deleted message leaves a tombstone at the position where it would have become visible again;
 * for most messages, this is at most this many seconds ahead. */
#define FRONT_BUSY_S 60

struct front {
    instant mark;       /* 0 if not set yet */
    instant busy_until; /* until then, tombstones may be added after the mark */
    instant written;    /* when a get that found nothing wrote the mark; otherwise 0 */
};

/* Returns STORE_OK (zeroed if not set yet), STORE_CORRUPT, STORE_WAIT, STORE_IO. */
enum store_result front_read(struct read_view *before, struct arena *arena,
                             struct front *ret_front);
/* Called by a get that returns messages and whose changes delete everything before `mark`. */
void front_advance(struct decision *d, const struct front *front, instant mark);
/* Called by a get that found no visible message; nothing is then before its message_now(). */
void front_found_empty(struct decision *d, const struct front *front);

#endif
