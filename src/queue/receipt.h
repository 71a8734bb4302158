/* Pop receipts: what a get, an update and a put give out, and an update or delete has to show. A
 * receipt is the version stamp of a message's state: its place in the order (message.h), and the
 * number of changes that it has seen. So it is another one after each get and each update, and
 * stays right until the next of them, also when the message is visible again. It says nothing of
 * which message: the id is always needed with it, as in Azure. rest: Get-Messages,
 * Update-Message; decision: 121 */
#ifndef LAGRA_QUEUE_RECEIPT_H
#define LAGRA_QUEUE_RECEIPT_H

#include "base/arena.h"
#include "base/clock.h"

struct receipt {
    instant place;
    uint32_t changes;
};

/* Opaque text. */
struct bytes receipt_text(struct arena *arena, struct receipt receipt);
/* False for what receipt_text() did not make. */
bool receipt_parse(struct arena *arena, struct bytes text, struct receipt *ret_receipt);

#endif
