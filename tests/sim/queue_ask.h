/* What a client asks of the Queue service, and what is read from the answer. */
#ifndef LAGRA_SIM_QUEUE_ASK_H
#define LAGRA_SIM_QUEUE_ASK_H

#include <stdbool.h>
#include <stdint.h>

enum queue_op {
    QUEUE_LIST,
    QUEUE_CREATE,
    QUEUE_DELETE,
    QUEUE_GET_METADATA,
    QUEUE_SET_METADATA,
    QUEUE_GET_ACL,
    QUEUE_SET_ACL,
    QUEUE_PUT,
    QUEUE_GET,
    QUEUE_PEEK,
    QUEUE_CLEAR,
    QUEUE_UPDATE,
    QUEUE_DELETE_MESSAGE,
    QUEUE_OPS
};

#define QUEUES           3u /* names: those of containers */
#define MESSAGES_SHOWN   32u
#define RECEIPT_SIZE     48
#define MESSAGE_ID_SIZE  16
#define MESSAGE_TEXT_MAX 65536u
#define WEEK_S           604800
#define NOT_SENT         (-2) /* in the place of a number of seconds */
#define NEVER_EXPIRES    (-1)

/* A part that is wrong in itself. */
struct queue_malformed {
    const char *parameters; /* added to the query */
    const char *body;       /* in the place of the text; NULL: the ask's own */
    unsigned ops;           /* bits of enum queue_op */
    int status;
    const char *code;
};

struct queue_ask {
    enum queue_op op;
    /* Get, Peek */
    unsigned count; /* 0: not sent */
    /* Put, Get, Update */
    int visibility_s, ttl_s; /* may be NOT_SENT; ttl_s also NEVER_EXPIRES */
    bool has_text;
    uint64_t text; /* seed of the pattern */
    uint32_t text_length;
    /* Update, Delete: which message, and the proof of having got it. */
    unsigned char id[MESSAGE_ID_SIZE];
    bool id_is_odd; /* the text that is sent is no id */
    char receipt[RECEIPT_SIZE];
    bool receipt_is_odd;
    uint64_t version;                        /* that the receipt was given with */
    const struct queue_malformed *malformed; /* NULL: nothing is */
    unsigned policies[2];                    /* letters of each; 0: there is none */
};

struct queue_reply {
    char receipt[RECEIPT_SIZE];
    int64_t visible_s; /* Unix seconds; 0: not told */
    bool has_count;
    uint64_t count;
};

#endif
