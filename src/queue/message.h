/* Inside queue/: the messages of a queue, as records of one partition.
 *
 *   INNER 'o' place be64, id 16  order: u8 1; dequeued, changes, expires (varints); u8 forwarded
 *   INNER 'm' due be40, id 16    body: u8 1; expires, place (varints); bytes text
 *   INNER 'p' id 16              forward: where a forwarded message is: its place (service/small_record.h)
 *   INNER 'w'                    low-water mark of the order (front.h)
 *   INNER 'c', 's'               the collection of what has expired (expire_messages.h)
 *   counter message_counter      messages that are there
 *
 * A message's place in the order is when it is visible, or when it expires, if that is first: then
 * nobody sees it again. Messages of one place are in the order of insertion: an id begins with the
 * instant of its insertion, and no two changes of a partition are of one instant.
 *
 * Bodies lie in the order in which the messages expire: by the first full second at which they have
 * (due), which the id says too, so that a body is found by the id alone. The place in a body is where
 * the message was when its body was written. A get moves order records, some fifty bytes each, and
 * writes nothing else: where a message has gone since is found out if it expires, and recorded
 * (expire_messages.h). decision: 218
 *
 * Visibility and expiry are times that passed (store_time_passed()), and are shown where they lie by
 * the clock as it is. decision: 185, 294
 *
 * What all of this rests on: the instant of a decision is above every instant that its partition
 * has seen (snapshot_instant()). So nothing is ever put into the order before the `now` of an
 * earlier decision, and its low-water mark is never too high (front.h); nor is anything put among
 * what expires before the place that the collection has come to (expire_messages.h). */
#ifndef LAGRA_QUEUE_MESSAGE_H
#define LAGRA_QUEUE_MESSAGE_H

#include "queue/queue.h"
#include "queue/receipt.h"

/* "Fri, 31 Dec 9999 23:59:59 GMT", as recorded of messages that never expire. */
#define MESSAGE_NEVER UINT64_C(3155378975990000000)

struct message {
    struct guid id;
    instant visible; /* as message_now(); as it was read, its place */
    instant expires; /* as message_now(), below MESSAGE_NEVER; MESSAGE_NEVER */
    uint32_t dequeued;
    uint32_t changes;  /* gets and updates so far */
    bool forwarded;    /* a forward record says where it is */
    struct bytes text; /* UTF-8 that XML can hold; where it was read */
    /* For clients, by message_show(). */
    instant visible_shown;
    instant expires_shown;
};

extern const struct bytes message_counter;

/* ---- times ---- */

static inline instant message_now(const struct decision *d)
{
    return store_time_passed(d->store, d->now);
}
/* Sets its times as clients see them; not above MESSAGE_NEVER. */
void message_show(const struct decision *d, struct message *message);
/* The first full second at which what expires then has expired; INSTANT_MAX: it never does. */
static inline instant message_due(instant expires)
{
    return expires == MESSAGE_NEVER
               ? INSTANT_MAX
               : (expires + TICKS_PER_SECOND - 1) / TICKS_PER_SECOND * TICKS_PER_SECOND;
}

/* ---- ids ---- */

/* The id of a message that is inserted and expires then: an id of its own in the server, since no two
 * changes are of one instant, and with 23 random bits beyond it. random: a fresh GUID.
 * rfc: 9562 5.8 */
struct guid message_id(instant inserted, instant expires, struct guid random);
instant message_inserted(const struct guid *id);

/* Where it is in the order. */
instant message_place(const struct message *message);
static inline struct receipt message_receipt(const struct message *message)
{
    return (struct receipt){ .place = message_place(message), .changes = message->changes };
}

/* ---- records ---- */

/* The order records from `from` on, the low-water mark; read by message_read_order(). */
struct scan *message_scan_order(struct snapshot *before, instant from);
/* The same, from any place. */
struct scan *message_search_order(struct snapshot *before, instant from);
/* A record of that scan, without the text. False: damaged; logged. */
bool message_read_order(const struct record *record, struct message *ret_message);
/* returns STORE_OK, STORE_CORRUPT (also when it is not there), STORE_WAIT, STORE_IO */
enum store_result message_read_text(struct snapshot *before, struct arena *arena,
                                    struct message *message);
/* Which message a request names, and the pop receipt that proves that the caller got it. */
struct message_claim {
    bool has_id; /* false: what was sent as its id is malformed */
    struct guid id;
    struct bytes receipt_sent;
    bool has_receipt; /* false: what was sent is malformed */
    struct receipt receipt;
};
/* The message of a claim, without its text.
 * returns  OK
 *          E_InvalidQueryParameterValue  its receipt is malformed
 *          E_MessageNotFound             also if it has expired, or has changed since the receipt
 *          as decision_fail_store()
 * semantics 7; decision: 121 */
enum error message_find(struct decision *d, const struct message_claim *claim,
                        struct message *ret_message);

void message_write_new(struct changes *changes, struct arena *arena, const struct message *message);
void message_write_text(struct changes *changes, struct arena *arena,
                        const struct message *message);
/* From where it is to where it will be visible. */
void message_move(struct changes *changes, struct arena *arena, const struct message *before,
                  const struct message *after);
void message_remove(struct changes *changes, const struct message *message);

/* ---- what expires ---- */

/* The bodies of those that expire, from `from` on. */
struct scan *message_scan_bodies(struct snapshot *before, instant from);
/* A record of that scan: enough of a message for message_remove(), if it is where the record says.
 * *ret_due: it has expired by then; INSTANT_MAX: it never does.
 * False: damaged; logged. */
bool message_read_body(const struct record *record, struct message *ret_message, instant *ret_due);
/* Where the message of a body is now, and whether a forward record says so.
 * returns STORE_OK, STORE_NOT_FOUND (it has moved since, and nothing says where to), STORE_CORRUPT,
 *         STORE_WAIT, STORE_IO */
enum store_result message_locate(struct snapshot *before, struct arena *arena,
                                 struct message *message);
/* Records where it is. */
void message_forward(struct changes *changes, struct arena *arena, const struct message *message);

#endif
