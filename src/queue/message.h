/* Internal to queue/: the messages of a queue, as records of one partition.
 *
 *   INNER 'o' place be64, id 16  order: u8 1; dequeued, changes, expires (varints); u8 forwarded
 *   INNER 'm' due be40, id 16    body: u8 1; expires, place (varints); bytes text
 *   INNER 'p' id 16              forward: position of a forwarded message (service/small_record.h)
 *   INNER 'w'                    low-water mark of the order (front.h)
 *   INNER 'c', 's'               deletion of expired messages (expire_messages.h)
 *   counter message_counter      number of messages
 *
 * A message's position (place) in the order is the time when it becomes visible, or when it
 * expires, if that is earlier, because then it is never seen again. Messages with the same position
 * are in the order of insertion: an id starts with the instant of its insertion, and no two changes
 * of a partition have the same instant.
 *
 * Bodies are in the order in which the messages expire. Their keys start with the first full second
 * at or after expiry (due), which the id also contains, so that a body can be found by id. The
 * position stored in a body is the one the message had when the body was written. A get only moves
 * order records, of about fifty bytes each. The current position of a message that has moved is
 * only determined when it expires, and then recorded (expire_messages.h). decision: 218
 *
 * Visibility and expiry are stored as elapsed times (store_time_passed()), and converted to the
 * current clock for clients. decision: 185, 294
 *
 * All of this depends on the instant of a decision being greater than every earlier instant of its
 * partition (read_view_instant()). Thus nothing is ever added to the order before the `now` of an
 * earlier decision, so the low-water mark is never too high (front.h); nor is a body ever added
 * with an expiry that the deletion of expired messages has already passed (expire_messages.h). */
#ifndef LAGRA_QUEUE_MESSAGE_H
#define LAGRA_QUEUE_MESSAGE_H

#include "queue/queue.h"

/* Pop receipt, which gets, updates and puts return, and updates and deletes require. A receipt is a
 * version stamp of a message: its position in the order, and its number of changes. It therefore
 * changes with each get and each update, and remains valid until the next of these, even if the
 * message becomes visible again. It does not identify the message; as in Azure, the id is also
 * needed. rest: Get-Messages, Update-Message; decision: 121 */
struct receipt {
    instant place;
    uint32_t changes;
};

/* Returns the receipt as opaque text. */
struct bytes receipt_text(struct arena *arena, struct receipt receipt);
/* Returns false if the text was not created by receipt_text(). */
bool receipt_parse(struct arena *arena, struct bytes text, struct receipt *ret_receipt);

/* "Fri, 31 Dec 9999 23:59:59 GMT", as recorded for messages that never expire. */
#define MESSAGE_NEVER UINT64_C(3155378975990000000)

struct message {
    struct guid id;
    /* in message_now() time; after a read, the message's position, which may be its expiry */
    instant visible;
    instant expires; /* in message_now() time, or MESSAGE_NEVER, which is greater */
    uint32_t dequeued;
    uint32_t changes;  /* gets and updates so far */
    bool forwarded;    /* a forward record contains its position */
    struct bytes text; /* UTF-8 that XML can represent; set if it was read */
    /* Set by message_show(), for clients. */
    instant visible_shown;
    instant expires_shown;
};

extern const struct bytes message_counter;

/* ---- times ---- */

static inline instant message_now(const struct decision *d)
{
    return store_time_passed(d->store, d->now);
}
/* Sets the times that clients see; at most MESSAGE_NEVER. */
void message_show(const struct decision *d, struct message *message);
/* Returns the first full second at or after the expiry; INSTANT_MAX for MESSAGE_NEVER. */
static inline instant message_due(instant expires)
{
    return expires == MESSAGE_NEVER
               ? INSTANT_MAX
               : (expires + TICKS_PER_SECOND - 1) / TICKS_PER_SECOND * TICKS_PER_SECOND;
}

/* ---- ids ---- */

/* Creates an id for a message with this insertion and expiry. It is unique in the server because no
 * two changes have the same instant; in addition it contains 23 random bits. random: a new random
 * GUID. rfc: 9562 5.8 */
struct guid message_id(instant inserted, instant expires, struct guid random);
instant message_inserted(const struct guid *id);

/* Returns the position in the order. */
instant message_position(const struct message *message);
static inline struct receipt message_receipt(const struct message *message)
{
    return (struct receipt){ .place = message_position(message), .changes = message->changes };
}

/* ---- records ---- */

/* Scans the order records starting at the low-water mark `from`; decode with
 * message_read_order(). */
struct scan *message_scan_order(struct read_view *before, instant from);
/* Like message_scan_order(), from any position. */
struct scan *message_search_order(struct read_view *before, instant from);
/* Decodes a record of that scan, without the text. Returns false, and logs it, if it is corrupt. */
bool message_read_order(const struct record *record, struct message *ret_message);
/* Reads the text. Returns STORE_OK, STORE_CORRUPT (even if it is missing), STORE_WAIT,
 * STORE_IO. */
enum store_result message_read_text(struct read_view *before, struct arena *arena,
                                    struct message *message);
/* The message that a request names, and the pop receipt as proof that the caller has received
 * it. */
struct message_claim {
    bool has_id; /* false if the id sent is malformed */
    struct guid id;
    struct bytes receipt_sent;
    bool has_receipt; /* false if the receipt sent is malformed */
    struct receipt receipt;
};
/* Finds the message of a claim, without its text.
 * Returns  OK
 *          E_InvalidQueryParameterValue  the receipt is malformed
 *          E_MessageNotFound             missing, expired, or changed since the receipt
 *          errors of decision_fail_store()
 * semantics 7; decision: 121 */
enum error message_find(struct decision *d, const struct message_claim *claim,
                        struct message *ret_message);

void message_write_new(struct changes *changes, struct arena *arena, const struct message *message);
void message_write_text(struct changes *changes, struct arena *arena,
                        const struct message *message);
/* Moves the order record to the new position. */
void message_move(struct changes *changes, struct arena *arena, const struct message *before,
                  const struct message *after);
void message_remove(struct changes *changes, const struct message *message);

/* ---- expiry ---- */

/* Scans the bodies by expiry, starting at `from`. */
struct scan *message_scan_bodies(struct read_view *before, instant from);
/* Decodes a body record; the resulting message suffices for message_remove() if the message is
 * still at the position stored in the body. *ret_due: message_due() of its expiry. Returns false,
 * and logs it, if it is corrupt. */
bool message_read_body(const struct record *record, struct message *ret_message, instant *ret_due);
/* Finds the current position of a body's message, in the body or in a forward record. Returns
 * STORE_OK, STORE_NOT_FOUND (it has moved to an unknown position), STORE_CORRUPT, STORE_WAIT,
 * STORE_IO. */
enum store_result message_locate(struct read_view *before, struct arena *arena,
                                 struct message *message);
/* Writes a forward record. */
void message_forward(struct changes *changes, struct arena *arena, const struct message *message);

#endif
