/* Inside queue/rest/ only: what several operations read from a request or put into an answer. */
#ifndef LAGRA_QUEUE_REST_REQUEST_H
#define LAGRA_QUEUE_REST_REQUEST_H

#include "queue/message_operations.h"
#include "service/answer.h"

enum error queue_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

/* A query parameter that is a whole number within these bounds; absent: *ret_number stays as it is.
 * returns  OK, E_InvalidQueryParameterValue, E_OutOfRangeQueryParameterValue */
enum error read_number(struct call *call, const char *name, int64_t least, int64_t most,
                       int64_t *ret_number);
/* E_OutOfRangeQueryParameterValue with the bounds in the body. */
enum error fail_range(struct call *call, const char *name, struct bytes value, int64_t least,
                      int64_t most);
/* visibilitytimeout in seconds, at least `least`. As read_number(). */
enum error read_visibility(struct call *call, int64_t least, uint64_t *ret_seconds);
/* numofmessages; 1 where it is not said. As read_number(). */
enum error read_message_count(struct call *call, uint32_t *ret_count);
/* The message that the path names, and popreceipt. What is wrong with them is for decide to say,
 * where the queue exists.
 * returns  OK, E_MissingRequiredQueryParameter */
enum error read_claim(struct call *call, struct message_claim *ret_claim);
/* The text of <QueueMessage> in the body, as it is.
 * returns  OK, E_InvalidXmlDocument, E_MissingRequiredXmlNode, E_RequestBodyTooLarge */
enum error read_text(struct call *call, struct bytes *ret_text);

/* Parts of a message that an answer shows. */
enum message_parts {
    SHOW_RECEIPT = 1, /* and when it is visible */
    SHOW_CONTENT = 2, /* how often it was got, and its text */
};
/* <QueueMessagesList>, elements in their order as recorded. */
void messages_xml(struct text *out, const struct message *messages, uint32_t count, unsigned parts);

#endif
