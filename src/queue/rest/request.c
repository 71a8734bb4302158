/* Query parameters, and messages as XML: see request.h. */
#include "queue/rest/request.h"

#include <inttypes.h>

#include "service/xml_body.h"

/* ---- numbers ---- */

enum error fail_range(struct call *call, const char *name, struct bytes value, int64_t least,
                      int64_t most)
{
    problem_set_field(call->problem, "QueryParameterName", bytes_from_string(name));
    problem_add_field(call->problem, "QueryParameterValue", value);
    problem_add_field(call->problem, "MinimumAllowed",
                      arena_printf(call->arena, "%" PRId64, least));
    problem_add_field(call->problem, "MaximumAllowed", arena_printf(call->arena, "%" PRId64, most));
    return E_OutOfRangeQueryParameterValue;
}

enum error read_number(struct call *call, const char *name, int64_t least, int64_t most,
                       int64_t *ret_number)
{
    struct bytes value = call_query(call, name);
    bool negative = value.len > 0 && value.ptr[0] == '-';
    uint64_t magnitude;
    int64_t number;

    if (!value.ptr)
        return OK;
    if (!bytes_parse_u64(negative ? bytes_from(value, 1) : value, INT64_MAX, &magnitude))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, value, "Not a number.");
    number = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    if (number < least || number > most)
        return fail_range(call, name, value, least, most);
    *ret_number = number;
    return OK;
}

enum error read_visibility(struct call *call, int64_t least, uint64_t *ret_seconds)
{
    int64_t seconds = (int64_t)*ret_seconds;
    enum error e = read_number(call, "visibilitytimeout", least, VISIBILITY_MAX_S, &seconds);

    *ret_seconds = (uint64_t)seconds;
    return e;
}

enum error read_message_count(struct call *call, uint32_t *ret_count)
{
    int64_t count = 1;
    enum error e = read_number(call, "numofmessages", 1, MESSAGES_AT_ONCE, &count);

    *ret_count = (uint32_t)count;
    return e;
}

/* ---- claims ---- */

enum error read_claim(struct call *call, struct message_claim *ret_claim)
{
    struct bytes receipt = call_query(call, "popreceipt");

    if (receipt.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "popreceipt",
                               (struct bytes){ NULL, 0 }, NULL);
    ret_claim->has_id = guid_parse(queue_resource(call->input.resource)->message, &ret_claim->id);
    ret_claim->receipt_sent = receipt;
    ret_claim->has_receipt = receipt_parse(call->arena, receipt, &ret_claim->receipt);
    return OK;
}

/* ---- message text ---- */

/* Leading and trailing white space belongs to the client's text. */
enum error read_text(struct call *call, struct bytes *ret_text)
{
    static const char *const parts[] = { "MessageText", NULL };
    const struct xml_node *root, *text;
    enum error e = xml_body(call, "QueueMessage", &root);

    if (!e)
        e = xml_expect_children(call, root, parts);
    if (e)
        return e;
    text = xml_child(root, "MessageText");
    if (!text)
        return xml_fail_missing(call, "MessageText");
    if (text->first_child)
        return xml_fail(call, text->first_child, "A message must be text.");
    if (text->text.len > MESSAGE_MAX_BYTES) {
        problem_set_field(call->problem, "MaxLimit",
                          arena_printf(call->arena, "%u", MESSAGE_MAX_BYTES));
        return E_RequestBodyTooLarge;
    }
    *ret_text = text->text.ptr ? text->text : bytes_from_string("");
    return OK;
}

/* ---- responses ---- */

/* In an element's text, a quotation mark needs no escape, and recorded ones have none. */
static void add_text(struct text *out, struct bytes text)
{
    struct bytes part;

    if (text.len == 0) {
        text_add_string(out, "<MessageText />");
        return;
    }
    xml_open(out, "MessageText");
    while (text.ptr) {
        bytes_cut(text, '"', &part, &text);
        xml_escape(out, part);
        if (text.ptr)
            text_add_char(out, '"');
    }
    xml_close(out, "MessageText");
}

static void add_message(struct text *out, const struct message *message, unsigned parts)
{
    char id[GUID_TEXT_SIZE];

    guid_format(&message->id, id);
    xml_open(out, "QueueMessage");
    xml_element_string(out, "MessageId", id);
    xml_element_http_date(out, "InsertionTime", message_inserted(&message->id));
    xml_element_http_date(out, "ExpirationTime", message->expires_shown);
    if (parts & SHOW_RECEIPT) {
        xml_element(out, "PopReceipt", receipt_text(out->arena, message_receipt(message)));
        xml_element_http_date(out, "TimeNextVisible", message->visible_shown);
    }
    if (parts & SHOW_CONTENT) {
        xml_element_u64(out, "DequeueCount", message->dequeued);
        add_text(out, message->text);
    }
    xml_close(out, "QueueMessage");
}

void messages_xml(struct text *out, const struct message *messages, uint32_t count, unsigned parts)
{
    xml_begin(out);
    if (count == 0) {
        text_add_string(out, "<QueueMessagesList />");
        return;
    }
    xml_open(out, "QueueMessagesList");
    for (uint32_t i = 0; i < count; i++)
        add_message(out, &messages[i], parts);
    xml_close(out, "QueueMessagesList");
}
