/* Parameters and results of the operations on messages. Functions: message_operations.c and
 * rest/message_operations.c. */
#ifndef LAGRA_QUEUE_MESSAGE_OPERATIONS_H
#define LAGRA_QUEUE_MESSAGE_OPERATIONS_H

#include "base/arena.h"
#include "base/clock.h"
#include "queue/message.h"

#define MESSAGE_MAX_BYTES    65536u /* of text. rest: Put-Message; decision: 124 */
#define MESSAGES_AT_ONCE     32u    /* in Get Messages and Peek Messages */
#define VISIBILITY_MAX_S     604800u
#define VISIBILITY_DEFAULT_S 30u
#define TTL_DEFAULT_S        604800u

struct put_message_parameters {
    struct parameters base;
    struct guid random;    /* random bits for the id */
    uint64_t visibility_s; /* initial invisibility; less than the TTL */
    uint64_t ttl_s;        /* 0 means never expires */
    struct bytes text;     /* set by parse */
};
struct put_message_result {
    struct result base;
    struct message message;
};
OPERATION_DECLARE(put_message);
OPERATION_DECLARE_PARSE(put_message);

/* Result of Get Messages and Peek Messages. */
struct message_list {
    struct message *items; /* array of the requested count */
    uint32_t count;
};

struct get_messages_parameters {
    struct parameters base;
    uint32_t count;        /* 1..MESSAGES_AT_ONCE */
    uint64_t visibility_s; /* 1..VISIBILITY_MAX_S */
};
struct get_messages_result {
    struct result base;
    struct message_list list;
};
OPERATION_DECLARE(get_messages);

struct peek_messages_parameters {
    struct parameters base;
    uint32_t count; /* 1..MESSAGES_AT_ONCE */
};
struct peek_messages_result {
    struct result base;
    struct message_list list;
};
OPERATION_DECLARE(peek_messages);

struct update_message_parameters {
    struct parameters base;
    struct message_claim claim;
    uint64_t visibility_s; /* 0..VISIBILITY_MAX_S */
    struct bytes text;     /* set by parse; ptr NULL means unchanged */
};
struct update_message_result {
    struct result base;
    struct message message; /* without its text */
};
OPERATION_DECLARE(update_message);
OPERATION_DECLARE_PARSE(update_message);

struct delete_message_parameters {
    struct parameters base;
    struct message_claim claim;
};
OPERATION_NO_RESULT(delete_message);
OPERATION_DECLARE(delete_message);

struct clear_messages_parameters {
    struct parameters base;
    struct guid space; /* space for later messages, with a new id */
};
OPERATION_NO_RESULT(clear_messages);
OPERATION_DECLARE(clear_messages);

#endif
