/* Inside queue/: the messages of a queue, as records of one partition.
 *
 *   INNER 'o' visible be64, id 16   order: u8 1; dequeued, changes, expires (varints)
 *   INNER 'b' id 16                 body: u8 1; expires (varint); bytes text
 *   INNER 'e' expires be64, id 16   what expires: visible be64; not of one that never does
 *   INNER 'w'                       low-water mark of the order (front.h)
 *   INNER 'c'                       the next collection of what has expired (expire_messages.h)
 *   counter message_counter         messages that are there
 *
 * The order is that of visibility, then of insertion: an id begins with the instant of its
 * insertion, and no two changes of a partition are of one instant. A get moves order records, some
 * fifty bytes each, and leaves the body alone.
 *
 * Visibility and expiry are of the clock without the steps that it follows (message_now()), so that
 * they come by the time that passed, and are shown where they lie by the clock as it is
 * (message_shown()). decision: 185
 *
 * What all of this rests on: the instant of a decision is above every instant that its partition
 * has seen (snapshot_instant()). So nothing is ever put into the order before the `now` of an
 * earlier decision, and its low-water mark is never too high (front.h); nor is anything put among
 * what expires before the place that the collection has come to (expire_messages.h). */
#ifndef LAGRA_QUEUE_MESSAGE_H
#define LAGRA_QUEUE_MESSAGE_H

#include "queue/queue.h"
#include "queue/receipt.h"

#define MESSAGE_KEY_SIZE 25 /* 'o' or 'e', instant, id */

/* "Fri, 31 Dec 9999 23:59:59 GMT", as recorded of messages that never expire. */
#define MESSAGE_NEVER    UINT64_C(3155378975990000000)

struct message {
    struct guid id;
    instant visible; /* as message_now() */
    instant expires; /* as message_now(), below MESSAGE_NEVER; MESSAGE_NEVER */
    uint32_t dequeued;
    uint32_t changes;  /* gets and updates so far */
    struct bytes text; /* UTF-8 that XML can hold; where it was read */
};

extern const struct bytes message_counter;

/* ---- times ---- */

static inline instant message_now(const struct decision *d)
{
    return clock_without_steps(d->now);
}
/* For clients. */
instant message_shown(instant time);

/* ---- ids ---- */

/* The id of a message that is inserted at this instant; random: a fresh GUID. rfc: 9562 5.8 */
struct guid message_id(instant inserted, struct guid random);
instant message_inserted(const struct guid *id);

static inline struct receipt message_receipt(const struct message *message)
{
    return (struct receipt){ .visible = message->visible, .changes = message->changes };
}

/* ---- records ---- */

/* The order records from `from` on; read by message_read_order(). */
struct scan *message_scan_order(struct snapshot *before, instant from);
/* A record of that scan, without the text. False: damaged; logged. */
bool message_read_order(const struct record *record, struct message *ret_message);
/* returns STORE_OK, STORE_CORRUPT (also when it is not there), STORE_WAIT, STORE_IO */
enum store_result message_read_text(struct snapshot *before, struct arena *arena,
                                    struct message *message);
/* Reads the texts of messages that were inserted after this one, so many bytes, for whoever asks
 * next to find them in memory. Waits for the disk. */
void message_read_ahead(struct snapshot *before, const struct message *message, size_t bytes);
/* Which message is meant, and the proof of having got it. */
struct message_claim {
    bool has_id; /* false: what was sent as its id is none */
    struct guid id;
    bool has_receipt; /* false: what was sent as its receipt is none */
    struct receipt receipt;
};
/* The message of a claim, without its text.
 * returns  OK
 *          E_InvalidQueryParameterValue  its receipt is malformed
 *          E_MessageNotFound             also when it has expired
 *          E_PopReceiptMismatch          it is there, in another state
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

struct scan *message_scan_expiring(struct snapshot *before, instant from);
/* A record of that scan: enough of a message for message_remove(). False: damaged; logged. */
bool message_read_expiring(const struct record *record, struct message *ret_message);

#endif
