/* The records of the Queue service, and declarations shared by its files. The files in this
 * directory make the decisions and do not depend on HTTP or XML; those in rest/ parse requests and
 * render responses.
 *
 * Spaces and partitions:
 *   account space    account_space("queue", account)
 *     partition ""          INNER  "p": service properties (properties/service_properties.h)
 *     partition <queue>     LISTED "q": struct queue
 *   message space    (queue.space); Clear Messages gives the queue a new one
 *     partition ""          INNER: the messages (message.h)
 * All messages of a queue are in one partition, so Get Messages sees a single order, and its commit
 * hides the messages from all other clients at once. */
#ifndef LAGRA_QUEUE_QUEUE_H
#define LAGRA_QUEUE_QUEUE_H

#include "auth/policies.h"
#include "service/decision.h"

struct service;

/* ---- resources ---- */

/* LEVEL_QUEUES: the service itself. */
enum queue_level { LEVEL_QUEUES, LEVEL_QUEUE, LEVEL_MESSAGES, LEVEL_MESSAGE };

struct queue_resource {
    struct resource base;
    struct bytes queue;   /* ptr NULL at service level */
    struct bytes message; /* id as sent; ptr NULL above message level */
    /* Level of Clear Messages, which replaces the space that contains all messages of the
     * queue. */
    bool all_messages;
};
static inline const struct queue_resource *queue_resource(const struct resource *resource)
{
    return (const struct queue_resource *)(const void *)resource;
}
void queue_signed_names(const struct resource *resource, struct bytes *ret_queue,
                        struct bytes *ret_message);
/* Checks the names. Returns OK, E_InvalidResourceName, E_OutOfRangeInput. */
enum error queue_check_names(const struct resource *resource);

/* ---- queues: queue_operations.c ---- */

struct queue {
    struct guid space; /* space of its messages */
    instant created;
    struct bytes metadata;
    struct bytes policies; /* encoded, auth/policies.h */
};
/* Reads a queue; strings are in the arena. Returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT,
 * STORE_IO. */
enum store_result queue_read(struct read_view *snapshot, struct arena *arena,
                             struct queue *ret_queue);
void queue_write(struct decision *d, const struct queue *queue);
/* Decodes a record returned by an iterator; points into value. */
bool queue_decode(struct bytes value, struct queue *ret_queue);

/* ---- results of locate() and subjects: d->state ---- */

struct queue_state {
    struct subject_state base;
    struct queue queue;
};
static inline struct queue_state *queue_state(struct decision *d)
{
    return (struct queue_state *)(void *)d->state;
}
static inline const struct queue_resource *queue_requested(const struct decision *d)
{
    return queue_resource(d->input->resource);
}

struct guid queue_account_space(struct bytes account);
/* Locates the queue's partition, or that of its messages. Returns OK, E_QueueNotFound. */
enum error queue_locate(struct decision *d, struct partition *ret_partition);
enum error queue_permit_facts(struct decision *d, struct permit_facts *ret_facts);
/* Subject function of the operations on a queue. Returns OK, E_QueueNotFound. */
enum error queue_subject(struct decision *d);

extern const struct service queue_service;

extern const struct restore_functions queue_restore; /* queue_operations.c */
extern const struct usage_functions queue_usage;     /* queue_operations.c */

#endif
