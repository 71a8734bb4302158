/* Inside queue/: what deletes messages that have expired, in the background: a deferred
 * task, due when the first of a queue's messages expires. It goes over what has
 * expired, never over the rest. A get that meets one on its way drops it itself.
 *
 * Bodies lie in the order of expiry, but only the message's place when it was put, or got its text, is
 * written there. One that has expired and has been moved since is looked for in the order: all that has
 * expired lies before now (message.h), as does what was visible and nobody took. The search drops what
 * has expired and records where the others that were moved are, so that no place is searched twice: what
 * comes into the order comes behind it. In a queue that nobody leaves messages in nothing is recorded or
 * searched.
 *
 * INNER 'c' of the messages' partition, a small record (service/small_record.h), says when the queue's task is due,
 * and from where on it looks (expiry): due, from (as message_now()). A task of another due instant
 * is one that an earlier expiry has overtaken: it does nothing.
 * INNER 's', one too: searched. Of what lies before that place in the order and was moved there is a
 * forward record. */
#ifndef LAGRA_QUEUE_EXPIRE_MESSAGES_H
#define LAGRA_QUEUE_EXPIRE_MESSAGES_H

#include "queue/message.h"
#include "service/deferred_tasks.h"

/* Stored: never given to anything else. Those of the Queue service begin at 0x200. */
enum { TASK_EXPIRE_MESSAGES = 0x200 };

/* A message that expires then is added: there is a task that is due no later.
 * returns STORE_OK, STORE_CORRUPT, STORE_WAIT, STORE_IO */
enum store_result expire_messages_at(struct decision *d, instant expires);
/* Its handler. */
task_fn expire_messages;

#endif
