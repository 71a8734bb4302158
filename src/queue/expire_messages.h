/* Deletes expired messages in the background, with a deferred task that is due when the first
 * message of a queue expires. It only visits expired messages. A get that encounters one deletes it
 * itself. Internal to queue/.
 *
 * Bodies are stored in the order of expiry, but contain only the position that the message had when
 * its body was last written (put or update). For an expired message that has moved since then, the
 * task searches the order, up to now: that part contains all expired messages (message.h), and
 * visible ones that no client has got. The search deletes expired messages and records the position
 * of others that were moved, so that no position is searched twice; entries added later are always
 * beyond the part already searched. If no expired messages are left, nothing is recorded or
 * searched.
 *
 * INNER 'c' of the messages' partition, a small record (service/small_record.h), contains the time
 * at which the queue's task is due, and the expiry at which it starts: due, from (in message_now()
 * time). A task with another due time was superseded by an earlier expiry and does nothing. INNER
 * 's', also a small record, contains `searched`. Every message that had moved to a position below
 * `searched` has a forward record. */
#ifndef LAGRA_QUEUE_EXPIRE_MESSAGES_H
#define LAGRA_QUEUE_EXPIRE_MESSAGES_H

#include "queue/message.h"
#include "service/deferred_tasks.h"

/* Stored, so numbers must never be reused. Those of the Queue service start at 0x200. */
enum { TASK_EXPIRE_MESSAGES = 0x200 };

/* Called when a message with this expiry is added: ensures that a task is due no later than that.
 * Returns STORE_OK, STORE_CORRUPT, STORE_WAIT, STORE_IO. */
enum store_result expire_messages_at(struct decision *d, instant expires);
/* Handler of the task. */
task_fn expire_messages;

#endif
