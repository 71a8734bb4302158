/* Internal to queue/rest/: parsing and rendering shared by several operations. */
#ifndef LAGRA_QUEUE_REST_REQUEST_H
#define LAGRA_QUEUE_REST_REQUEST_H

#include "queue/message_operations.h"
#include "service/answer.h"

enum error queue_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

/* Reads an integer query parameter within these bounds; leaves *ret_number unchanged if absent.
 * Returns OK, E_InvalidQueryParameterValue, E_OutOfRangeQueryParameterValue. */
enum error read_number(struct call *call, const char *name, int64_t least, int64_t most,
                       int64_t *ret_number);
/* Fails with E_OutOfRangeQueryParameterValue and the bounds in the body. */
enum error fail_range(struct call *call, const char *name, struct bytes value, int64_t least,
                      int64_t most);
/* Reads visibilitytimeout in seconds, at least `least`. Returns the same errors as
 * read_number(). */
enum error read_visibility(struct call *call, int64_t least, uint64_t *ret_seconds);
/* Reads numofmessages; default 1. Returns the same errors as read_number(). */
enum error read_message_count(struct call *call, uint32_t *ret_count);
/* Reads the message id in the path, and popreceipt. Malformed values are reported by decide, if the
 * queue exists. Returns OK, E_MissingRequiredQueryParameter. */
enum error read_claim(struct call *call, struct message_claim *ret_claim);
/* Reads the text of <QueueMessage> in the body, unchanged. Returns OK, E_InvalidXmlDocument,
 * E_MissingRequiredXmlNode, E_RequestBodyTooLarge. */
enum error read_text(struct call *call, struct bytes *ret_text);

/* Parts of a message that a response shows. */
enum message_parts {
    SHOW_RECEIPT = 1, /* pop receipt and time of next visibility */
    SHOW_CONTENT = 2, /* dequeue count and text */
};
/* Writes <QueueMessagesList>, elements in the recorded order. */
void messages_xml(struct text *out, const struct message *messages, uint32_t count, unsigned parts);

extern const struct container_type queue_container; /* queue_operations.c */

#endif
