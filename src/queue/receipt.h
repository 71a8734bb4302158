/* Pop receipts, returned by a get, an update and a put, and required by an update or delete. A
 * receipt is a version stamp of a message: its position in the order (message.h), and its number of
 * changes. So it changes with each get and each update, and stays valid until the next of them,
 * even when the message becomes visible again. It does not identify the message: the id is always
 * needed with it, as in Azure. rest: Get-Messages, Update-Message; decision: 121 */
#ifndef LAGRA_QUEUE_RECEIPT_H
#define LAGRA_QUEUE_RECEIPT_H

#include "base/arena.h"
#include "base/clock.h"

struct receipt {
    instant place;
    uint32_t changes;
};

/* Returns the receipt as opaque text. */
struct bytes receipt_text(struct arena *arena, struct receipt receipt);
/* Returns false if the text was not created by receipt_text(). */
bool receipt_parse(struct arena *arena, struct bytes text, struct receipt *ret_receipt);

#endif
