/* Parameters and results of the operations on queues. Functions: queue_operations.c,
 * rest/queue_operations.c; operations common to all services are in
 * properties/service_properties.h and service/user_delegation_key.h. */
#ifndef LAGRA_QUEUE_QUEUE_OPERATIONS_H
#define LAGRA_QUEUE_QUEUE_OPERATIONS_H

#include "queue/queue.h"
#include "service/listing.h"

struct list_queues_parameters {
    struct parameters base;
    struct listing listing;
    struct listing_place from;
    struct listing_sink *sink;
};
struct list_queues_result {
    struct result base;
    struct listing_place next; /* start of the next page; name.ptr NULL if none */
};
OPERATION_DECLARE(list_queues);

struct create_queue_parameters {
    struct parameters base;
    struct guid space; /* space of the new queue, with a new id, so it is empty */
    struct bytes metadata;
};
struct create_queue_result {
    struct result base;
    bool existed; /* a queue with the same metadata existed */
};
OPERATION_DECLARE(create_queue);

OPERATION_NO_PARAMETERS(delete_queue);
OPERATION_NO_RESULT(delete_queue);
OPERATION_DECLARE(delete_queue);

OPERATION_NO_PARAMETERS(get_queue_metadata);
struct get_queue_metadata_result {
    struct result base;
    struct bytes metadata;
    uint64_t messages; /* including invisible ones */
};
OPERATION_DECLARE(get_queue_metadata);

/* Member of struct container_type (properties/metadata_acl.h). */
void queue_write_state(struct decision *d);

#endif
